// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

// CA, NewCA and WriteKubeconfig are for tests.
type CA = authority

var (
	NewCA           = newAuthority
	WriteKubeconfig = writeKubeconfig
)
