// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	corev1 "k8s.io/api/core/v1"
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
// policy cannot be carried out: then its pods get no node at all. Admits reports whether a Cluster
// meets the constraints of a pod and of the policy, see WishOf.
func (s Shortages) Note(p *Policy, o *workload.Observed, shares *Shares, admits func(cluster string, pod *corev1.Pod) bool) {
	if p.Err == nil && (!p.Strict() || shares.Plan == nil) {
		return
	}
	for _, pod := range o.Pods {
		if maker := workload.Maker(pod); workload.Pending(pod) && s[maker] == nil {
			s[maker] = p.shortage(shares, func(cluster string) bool { return admits(cluster, pod) })
		}
	}
}

// Refuse lists the makers of the pods of a workload that wait for a node and get none, such as
// those that ask for a policy which does not exist.
func (s Shortages) Refuse(o *workload.Observed) {
	for _, pod := range o.Pods {
		if workload.Pending(pod) {
			s[workload.Maker(pod)] = Shortage{}
		}
	}
}

// shortage returns what those Clusters of the policy lack of a workload that admit its pods.
func (p *Policy) shortage(shares *Shares, admits func(cluster string) bool) Shortage {
	lacks := Shortage{}
	for i := range shares.Desired {
		if n := int(shares.Desired[i] - shares.Current[i]); n > 0 && admits(p.Order.Name(i)) {
			lacks[p.Order.Name(i)] = n
		}
	}
	return lacks
}
