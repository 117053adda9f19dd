// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/rebalance"
)

// Rank gives the bound replicas, which are those that were counted, the places that they should
// have, and returns them. It returns nil, and leaves all as it is, if their number is not known or
// the workload is about to shrink by those that they have. What the pods have now stays in Pods.
func (s *Shares) Rank(bound []*corev1.Pod, replicas int32) []rebalance.Place {
	if s.Plan == nil || len(bound) > int(replicas) {
		return nil
	}
	places := rebalance.Places(s.Plan, s.Pods)
	for i, place := range places {
		pod := &s.Pods[i]
		if pod.Fixed {
			continue
		}
		given, stamped := stamp.Of(bound[i])
		if _, set := bound[i].Annotations[corev1.PodDeletionCost]; stamped && given.OwnsDeletionCost(bound[i]) ||
			pod.Keep == rebalance.TakenOver && !set {
			pod.Cost = stamp.ParseDeletionCost(given.At(place).DeletionCost())
		}
	}
	return places
}

// Round returns what package rebalance is asked about a workload and its shares. Clusters are those
// of the policy by their index in the seat order, nil for those that do not exist. Ages, Room and
// Fits, and what depends on time, are left to the caller.
func (s *Shares) Round(
	o *workload.Observed, policy *berthv1alpha1.PropagationPolicy, clusters []*topology.Cluster,
) *rebalance.Round {
	spec := &policy.Spec.Rebalance
	round := &rebalance.Round{
		Plan: s.Plan, Pods: slices.Clone(s.Pods), Clusters: make([]rebalance.Vacancy, len(clusters)),
		RolloutFinished: o.RolloutFinished(), Pending: o.Pending(true),
		MaxUnavailable: rebalance.MaxUnavailableOf(spec.MaxUnavailable, int(o.Replicas)),
	}
	switch {
	case o.Kind == workload.KindJob:
		round.Never = rebalance.JobPods
	case !o.ReplicasKnown:
		round.Never = rebalance.UnknownWorkload
	case spec.Mode == berthv1alpha1.RebalanceNever:
		round.Never = rebalance.Forbidden
	case !dividedFor(policy, o.Replicas):
		round.Never = rebalance.Undivided
	}
	for i, cluster := range clusters {
		round.Clusters[i].Ready = cluster.Runs()
	}
	return round
}

// Vacancies are what the Clusters that are short of replicas of a workload would take now.
type Vacancies struct {
	// Clusters are numbers of pods, by the index of the Cluster. They are nil if nobody was asked,
	// because all pods have fixed seats or none of those in the way is Berth's.
	Clusters []int
	// Seats are the pods with a fixed seat that the Cluster which owns the seat would take.
	Seats map[types.UID]bool
}

// FindVacancies asks for the room that the decision of a round depends on. The pods are those that
// were counted. Room returns how many pods like the given one a Cluster takes once that one is
// gone, at most the limit.
//
// A pod with a fixed seat comes back with its own volumes, so each stands for itself. The others of
// a revision are alike, so one of each Cluster that has too many stands for all that may go from
// there; what it gives back may serve one replacement and not the next, so the least number counts.
func (s *Shares) FindVacancies(
	bound []*corev1.Pod, room func(cluster int, pod *corev1.Pod, limit int) (int, error),
) (Vacancies, error) {
	found := Vacancies{Seats: map[types.UID]bool{}}
	samples := map[int]*corev1.Pod{}
	for i, pod := range bound {
		seen := &s.Pods[i]
		if !seen.Fixed {
			if _, ours := stamp.Of(pod); ours && samples[seen.Cluster] == nil && s.surplus(seen.Cluster) {
				samples[seen.Cluster] = pod
			}
			continue
		}
		if owner, ok := s.Plan.Owner(int64(seen.Seat)); ok && owner != seen.Cluster {
			count, err := room(owner, pod, 1)
			if err != nil {
				return found, err
			}
			found.Seats[pod.UID] = count > 0
		}
	}
	if len(samples) == 0 {
		return found, nil
	}
	found.Clusters = make([]int, len(s.Desired))
	for i := range s.Desired {
		least, err := leastRoom(i, samples, int(s.Desired[i]-s.Current[i]), room)
		if err != nil {
			return found, err
		}
		found.Clusters[i] = least
	}
	return found, nil
}

// leastRoom returns how many pods a Cluster takes, at most the limit, whichever of the samples
// stands for them.
func leastRoom(
	cluster int, samples map[int]*corev1.Pod, limit int, room func(cluster int, pod *corev1.Pod, limit int) (int, error),
) (int, error) {
	for _, from := range slices.Sorted(maps.Keys(samples)) {
		if limit <= 0 {
			return 0, nil
		}
		count, err := room(cluster, samples[from], limit)
		if err != nil {
			return 0, err
		}
		limit = min(limit, count)
	}
	return max(0, limit), nil
}

// surplus reports whether a Cluster, which may be none of the policy, has more replicas than it
// should.
func (s *Shares) surplus(cluster int) bool {
	return cluster == rebalance.Elsewhere || s.Current[cluster] > s.Desired[cluster]
}

// Apply tells a round of the vacancies.
func (v Vacancies) Apply(round *rebalance.Round, bound []*corev1.Pod) {
	for i, room := range v.Clusters {
		round.Clusters[i].Room = room
	}
	for i, pod := range bound {
		round.Pods[i].Fits = v.Seats[pod.UID]
	}
}

// Replacement returns a pod like the one that comes when this one is evicted: nothing that Berth
// wrote on it, and no policy, since the policy is what the room is looked for.
func Replacement(pod *corev1.Pod) *corev1.Pod {
	replacement := pod.DeepCopy()
	replacement.Spec.NodeName, replacement.OwnerReferences = "", nil
	replacement.Labels, replacement.Annotations = workload.SampleLabels(pod.Labels), workload.SampleAnnotations(pod.Annotations)
	return replacement
}
