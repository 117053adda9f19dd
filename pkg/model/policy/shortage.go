// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/workload"
)

// Shortage is how many replicas of a workload Clusters lack, by their names. Its pods that wait for
// a node get one nowhere else.
type Shortage map[string]int

// Shortages are those of pods that wait for a node, by who makes them; see workload.Maker. A pod
// whose maker is not listed may go wherever it fits.
type Shortages map[types.UID]Shortage

// Note lists the makers of the pods of a workload that wait for a node, if such pods have to wait
// for a place in the shares of the policy. The shares are those of the workload, empty if the
// policy cannot be carried out: then its pods get no node at all.
func (s Shortages) Note(p *Policy, o *workload.Observed, shares *Shares) {
	if p.Err == nil && (!p.Strict() || shares.Plan == nil) {
		return
	}
	var lacks Shortage
	for _, pod := range o.Pods {
		if !workload.Pending(pod) {
			continue
		}
		if lacks == nil {
			lacks = p.shortage(shares)
		}
		s[workload.Maker(pod)] = lacks
	}
}

// shortage returns what the Clusters of the policy lack of a workload.
func (p *Policy) shortage(shares *Shares) Shortage {
	lacks := Shortage{}
	for i := range shares.Desired {
		if n := int(shares.Desired[i] - shares.Current[i]); n > 0 {
			lacks[p.Order.Name(i)] = n
		}
	}
	return lacks
}
