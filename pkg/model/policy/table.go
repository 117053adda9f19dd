// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import "sync"

// table is the last answer of Policy.Table.
type table struct {
	mu      sync.Mutex
	indexes []int32
	ids     []int32
}

// Table translates between two numberings of clusters: the index of a cluster in Order, and the ID
// that the caller gives to it. Indexes holds the index of each ID, -1 where the policy does not
// name the cluster; ids holds the ID of each index. For the policy of beijing and hangzhou and a
// caller that has met shanghai before:
//
//	cluster     shanghai  beijing  hangzhou
//	ID                 0        1         2
//	index              -        0         1
//	indexes = [-1 0 1], ids = [1 2]
//
// Known returns how many IDs have been given, and idOf the ID of a cluster, a new one if it has
// none. An ID must never change. The answer is kept while known stays the same. Neither result must
// be changed.
func (p *Policy) Table(known func() int, idOf func(cluster string) int32) (indexes, ids []int32) {
	t := &p.table
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.indexes) == known() && len(t.indexes) > 0 {
		return t.indexes, t.ids
	}
	ids = make([]int32, p.Order.Len())
	for i := range ids {
		ids[i] = idOf(p.Order.Name(i))
	}
	indexes = make([]int32, known())
	for id := range indexes {
		indexes[id] = -1
	}
	for i, id := range ids {
		indexes[id] = int32(i)
	}
	t.indexes, t.ids = indexes, ids
	return indexes, ids
}
