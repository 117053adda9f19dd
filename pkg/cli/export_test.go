// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

// NewCommand is for tests.
var NewCommand = newCommand
