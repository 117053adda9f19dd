// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

// What is wrong with an amount.
var (
	ErrNegative = errNegative
	ErrTooLarge = errTooLarge
)

// At returns the pools that would select a node with the labels, the most specific first.
func (p *Places) At(labels map[string]string) []int32 {
	return p.at(labels)
}

// Owed returns which pools a pod that runs on a node anyway is charged to.
func (r *Resource) Owed(pools []int32, free Free, units int64) []int32 {
	return r.owed(pools, free, units)
}
