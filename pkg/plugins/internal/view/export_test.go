// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view

// Stray returns the number of pods on nodes that lie in no cluster.
func (c *Counts) Stray() int {
	if c == nil {
		return 0
	}
	return c.stray
}

// Total returns the number of all pods, those on nodes in no cluster included.
func (c *Counts) Total() int {
	if c == nil {
		return 0
	}
	return c.total
}

// Remembered returns the number of pods whose seats are remembered.
func Remembered(e *Elsewhere) int { return len(e.byPod) }
