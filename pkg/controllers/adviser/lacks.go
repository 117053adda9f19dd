// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package adviser

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Lack is room that a Cluster has for replicas which run elsewhere, but for the units of
// ClusterResources that its Scheduler would have to be granted first. Nobody else says that these
// are wanted, since the pods have a node.
type Lack struct {
	// Scheduler has the Cluster, and Nodes are the nodes of that.
	Scheduler string
	Nodes     []string
	// Pod stands for the replicas, which are so many.
	Pod    *corev1.Pod
	Copies int
}

// Lack replaces what somebody has said is lacking.
func (a *Adviser) Lack(by string, lacks []Lack) {
	a.mu.Lock()
	same := slices.EqualFunc(a.lacks[by], lacks, func(known, now Lack) bool {
		return known.Scheduler == now.Scheduler && known.Copies == now.Copies && known.Pod.UID == now.Pod.UID && slices.Equal(known.Nodes, now.Nodes)
	})
	if a.lacks == nil {
		a.lacks = map[string][]Lack{}
	}
	if a.lacks[by] = lacks; len(lacks) == 0 {
		delete(a.lacks, by)
	}
	listener := a.onLack
	a.mu.Unlock()
	if !same && listener != nil {
		listener()
	}
}

// Lacks returns everything that is lacking, in the same order each time.
func (a *Adviser) Lacks() []Lack {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []Lack
	for _, by := range slices.Sorted(maps.Keys(a.lacks)) {
		all = append(all, a.lacks[by]...)
	}
	return all
}

// OnLack lets one function be called after what is lacking has changed. It must return at once.
func (a *Adviser) OnLack(listener func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.onLack = listener
}
