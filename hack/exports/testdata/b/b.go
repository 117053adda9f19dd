// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package b uses package a.
package b

import "berth.dev/berth/hack/exports/testdata/a"

func use() a.Colour {
	a.Called().Method()
	return a.Red
}

var _ = use

func see(o *a.Outer) bool { middle := o.Middle; return middle == o.Middle }

var _ = see
