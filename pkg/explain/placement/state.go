// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package placement works out from the live objects of a cluster how the replicas of workloads are
// shared out. It asks the code that decides in the scheduler and in the controllers, not the status
// they wrote, so it is right also while they are down.
package placement

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
)

// defaultScheduler is the schedulerName of Berth's own profile.
const defaultScheduler = "berth-scheduler"

// SchedulersOf returns the names that a user listed, or that of Berth's own profile if there are
// none.
func SchedulersOf(names []string) []string {
	if len(names) == 0 {
		return []string{defaultScheduler}
	}
	return names
}

// State is what follows from live objects as a whole. It shares them, and nothing of it must be
// changed.
type State struct {
	// Objects are the objects that the state was made of.
	Objects *Objects
	// Topology tells which node belongs to which Cluster.
	Topology *topology.Snapshot
	// Policies tells which policy is in force.
	Policies *policymatch.Index
	// Schedulers are the names of the schedulers that place pods by policies.
	Schedulers []string
}

// NewState returns the state that follows from the objects. No schedulers stand for Berth's own
// profile.
func NewState(objects *Objects, schedulers []string) *State {
	policies := make([]*berthv1alpha1.PropagationPolicy, len(objects.Policies))
	for i := range objects.Policies {
		policies[i] = &objects.Policies[i]
	}
	return &State{
		Objects: objects, Schedulers: SchedulersOf(schedulers),
		Topology: topology.New(objects.Clusters, objects.Nodes),
		Policies: policymatch.NewIndex(policies),
	}
}

// InForce returns the policy in force for a pod of a workload, nil if there is none, and how it
// came to be. A pod that waits is asked what it asks for itself, as the scheduler does. What a
// policy has placed is asked as part of its workload, as the policy controller does: what it
// carries may be Berth's own writing, where the template of the workload says what was asked for.
// The error is policymatch.ErrNotFound if the policy asked for does not exist.
func (s *State) InForce(pod *corev1.Pod, w *workload.Workload) (*berthv1alpha1.PropagationPolicy, policymatch.By, error) {
	request := policy.RequestOf(pod)
	if request.Placed {
		for _, o := range s.observe() {
			if o.ID() == w.ID() {
				request = policy.RequestOfWorkload(o)
			}
		}
	}
	return policy.InForce(s.Policies, w.Selectable(), request)
}

// observe returns all workloads, by namespace, kind and name.
func (s *State) observe() []*workload.Observed {
	observed := workload.Observe(&s.Objects.Objects)
	slices.SortStableFunc(observed, func(a, b *workload.Observed) int {
		switch {
		case a.Namespace < b.Namespace:
			return -1
		case a.Namespace > b.Namespace:
			return 1
		default:
			return 0
		}
	})
	return observed
}

// inForce returns the policy in force for a workload.
func (s *State) inForce(o *workload.Observed) (*berthv1alpha1.PropagationPolicy, policymatch.By, error) {
	return policy.InForce(s.Policies, o.Selectable(), policy.RequestOfWorkload(o))
}
