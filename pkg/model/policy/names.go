// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"

	"berth.dev/berth/pkg/placement/names"
)

// forApplications leaves room beside the name of a policy in what is made of it.
var forApplications = names.Form{Max: 200, Keep: 189, Trim: "-.", Hash: names.SHA256}

// NameForApplication returns the name of the PropagationPolicy that an Application writes for the
// pods of one of its objects. It is the same for ever, as policies are found again by it.
func NameForApplication(application, kind, name string) string {
	return forApplications.Shorten(application + "-" + strings.ToLower(kind) + "-" + name)
}
