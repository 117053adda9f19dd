// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package narrow

// Kept returns how many sets are kept.
func (n *Sets) Kept() int {
	return len(n.kept)
}
