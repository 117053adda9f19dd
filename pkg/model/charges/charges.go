// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package charges answers who holds what of which pool of ClusterResources. Scheduler, controllers
// and command line ask here, so that they agree.
//
// A pod holds something from the moment it has a node until it has finished or is gone. There are
// two kinds of holders:
//
//	stamped  Berth bound the pod and wrote on it what it was charged. That counts, whatever has
//	         become of its node and of the pools since.
//	stray    Somebody else bound the pod. It is charged by what it asks for and by the labels of its
//	         node, as if Berth had just bound it there. Strays come after all stamped pods, the
//	         oldest first, so which pool they are charged to does not depend on who counts.
//
// A pod whose stamp was copied from another pod, or cannot be read, is a stray.
package charges

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/pool"
)

// Concerns reports whether a pod asks for a ClusterResource, well or badly, or carries charges,
// well or badly. Pods that it does not report hold nothing and wait for nothing. It does not
// allocate.
func Concerns(pod *corev1.Pod) bool {
	_, charged := pod.Annotations[berthv1alpha1.ChargedAnnotation]
	return charged || demand.Asks(pod)
}

// Stamped returns what Berth charged a pod when it bound it. It is false for strays, for pods
// without a node and for pods that have finished and hold nothing any more.
func Stamped(pod *corev1.Pod) ([]pool.Charge, bool) {
	if workload.Finished(pod) {
		return nil, false
	}
	return stamp.ChargesOf(pod)
}

// Holding is what a pod holds.
type Holding struct {
	Pod     *corev1.Pod
	Charges []pool.Charge
}

// Tally is what pods hold altogether.
type Tally struct {
	// Account has the sums by pool.
	Account *pool.Account
	// Holdings are those of the single pods: stamped ones as they were given, then strays, the
	// oldest first. Strays may hold nothing.
	Holdings []Holding
}

// Count adds up what pods hold. Pods that hold nothing may be among them. It calls pools at most
// once, and only if there are strays; its error is returned as it is.
func Count(pods []corev1.Pod, pools func() (*Pools, error)) (*Tally, error) {
	t := &Tally{Account: pool.NewAccount()}
	var strays []*corev1.Pod
	for i := range pods {
		pod := &pods[i]
		if pod.Spec.NodeName == "" || workload.Finished(pod) {
			continue
		}
		charges, stamped := stamp.ChargesOf(pod)
		if !stamped {
			strays = append(strays, pod)
			continue
		}
		t.Account.Add(charges)
		t.Holdings = append(t.Holdings, Holding{pod, charges})
	}
	if len(strays) == 0 {
		return t, nil
	}
	known, err := pools()
	if err != nil {
		return nil, err
	}
	t.Holdings = append(t.Holdings, known.ChargeStrays(t.Account, strays)...)
	return t, nil
}

// ChargeStrays books pods that somebody else bound, beside what the account has of the others, and
// returns what they hold, the oldest first. It sorts the pods. What a pod asks for badly, or of a
// ClusterResource whose pools are not known, is not charged.
func (p *Pools) ChargeStrays(account *pool.Account, pods []*corev1.Pod) []Holding {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	strays := make([]pool.Stray, len(pods))
	for i, pod := range pods {
		requests, _ := demand.Of(pod)
		strays[i] = pool.Stray{Requests: requests, Labels: p.labels[pod.Spec.NodeName]}
	}
	holdings := make([]Holding, len(pods))
	for i, charges := range account.ChargeStrays(strays, p.Places) {
		holdings[i] = Holding{pods[i], charges}
	}
	return holdings
}

// Owed returns what a pod would be charged if it ran on a node; nothing if what it asks for cannot
// be read. At returns the places of a ClusterResource and what is left of its pools, or nil places
// if it does not matter.
func Owed(pod *corev1.Pod, node string, at func(resource string) (*pool.Places, pool.Free)) []pool.Charge {
	requests, err := demand.Of(pod)
	if err != nil {
		return nil
	}
	var owed []pool.Charge
	for _, request := range requests {
		if places, free := at(request.Resource); places != nil {
			owed = append(owed, places.Owed(node, request, free)...)
		}
	}
	return owed
}
