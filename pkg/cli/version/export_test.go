// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package version

// Of is for tests.
var Of = of
