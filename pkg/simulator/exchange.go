// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/demand"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/pool"
)

// RoomFor returns how many pods like the given one, which runs, a Cluster takes once that one is
// gone: what the pod holds is free again then, unless another pod has been waiting for it. Of
// ClusterResources counts what the Scheduler of the name, which has the Cluster, was granted and
// has left; an empty name is for one that shares with nobody.
func (s *Snapshot) RoomFor(ctx context.Context, cluster, scheduler string, pod *corev1.Pod, limit int) (Room, error) {
	s.Fork()
	defer s.Revert()
	return s.exchange(ctx, cluster, scheduler, pod, limit)
}

// Move is RoomFor one copy, but for that the pod stays gone, and the copy where it was placed,
// until the fork that it is called in is reverted. It reports whether there was room; if not,
// everything is as it was.
func (s *Snapshot) Move(ctx context.Context, cluster, scheduler string, pod *corev1.Pod) (bool, error) {
	s.Fork()
	room, err := s.exchange(ctx, cluster, scheduler, pod, 1)
	if err != nil || room.Copies == 0 {
		s.Revert()
		return false, err
	}
	s.Commit()
	return true, nil
}

// exchange places copies of a pod in a Cluster once that pod is gone.
func (s *Snapshot) exchange(ctx context.Context, cluster, scheduler string, pod *corev1.Pod, limit int) (Room, error) {
	s.actAs(scheduler)
	defer s.actAs("")
	if err := s.evict(pod); err != nil {
		return Room{}, err
	}
	if err := s.serveWaiting(ctx, cluster, scheduler, pod); err != nil {
		return Room{}, err
	}
	return s.Fill(ctx, cluster, modelpolicy.Replacement(pod), limit)
}

// actAs lets count what the Scheduler of the name was granted of ClusterResources; an empty name
// lifts that.
func (s *Snapshot) actAs(scheduler string) {
	if s.scheduler != scheduler {
		s.scheduler = scheduler
		s.state.ActAs(scheduler)
	}
}

// Confine tells where pods that wait for a node may get one, as far as their policies say so, by
// namespace. It replaces what was told before. The shortages must not be changed while a question
// is put.
func (s *Snapshot) Confine(shortages map[string]modelpolicy.Shortages) { s.shortages = shortages }

// Hold tells who makes the pods that are held back although nothing in them says so, by
// workload.Maker: nothing is kept for them. It replaces what was told before. The makers must not
// be changed while a question is put.
func (s *Snapshot) Hold(makers map[types.UID]bool) { s.held = makers }

// serveWaiting places the pods that wait for a ClusterResource of which the given one has given
// something back, as the scheduler does before a replacement of that pod comes to the Cluster.
// Where a pod may go to several Clusters it goes to that one, so that rather too many are placed
// there than too few.
func (s *Snapshot) serveWaiting(ctx context.Context, cluster, scheduler string, pod *corev1.Pod) error {
	requests, err := demand.Of(pod)
	if err != nil || len(requests) == 0 {
		return nil //nolint:nilerr // who asks for what cannot be read gives nothing back
	}
	lacking, inVain := map[types.UID]modelpolicy.Shortage{}, map[types.UID]bool{}
	for _, waiting := range s.waitingFor(requests, scheduler) {
		maker := workload.Maker(waiting)
		if inVain[maker] {
			continue
		}
		if lacking[maker] == nil {
			lacking[maker] = maps.Clone(s.shortages[waiting.Namespace][maker])
		}
		served, err := s.serve(ctx, waiting, cluster, lacking[maker])
		if err != nil {
			return err
		}
		inVain[maker] = !served
	}
	return nil
}

// serve places a pod that waits, and reports whether there was room: in one of the Clusters that
// lack it, first of all in the given one, or anywhere if the shortage is nil.
func (s *Snapshot) serve(ctx context.Context, waiting *corev1.Pod, cluster string, lacks modelpolicy.Shortage) (bool, error) {
	tried := modelpolicy.Replacement(waiting)
	if lacks == nil {
		return s.serveAnywhere(ctx, tried)
	}
	names := slices.Sorted(maps.Keys(lacks))
	if at, asked := slices.BinarySearch(names, cluster); asked {
		names = slices.Insert(slices.Delete(names, at, at+1), 0, cluster)
	}
	for _, name := range names {
		if lacks[name] <= 0 {
			continue
		}
		room, err := s.Fill(ctx, name, tried, 1)
		if err != nil {
			return false, err
		}
		if room.Copies > 0 {
			lacks[name]--
			return true, nil
		}
	}
	return false, nil
}

func (s *Snapshot) serveAnywhere(ctx context.Context, pod *corev1.Pod) (bool, error) {
	if err := s.lendClaims(pod); err != nil {
		return false, err
	}
	outcome, err := s.TrySchedule(ctx, pod)
	if err != nil || outcome.Node == "" {
		return false, err
	}
	_, err = s.assume(ctx, pod, outcome)
	return err == nil, err
}

// waitingFor returns the pods of a Scheduler without a node that ask for one of the
// ClusterResources, in the order in which the scheduler tries them.
func (s *Snapshot) waitingFor(requests []pool.Request, scheduler string) []*corev1.Pod {
	all, err := s.informers.Core().V1().Pods().Lister().List(labels.Everything())
	if err != nil {
		return nil // a store at hand does not fail
	}
	var waiting []*corev1.Pod
	for _, pod := range all {
		home := pod.Labels[berthv1alpha1.HomeSchedulerLabel]
		if workload.Tried(pod) && demand.Asks(pod) && !s.held[workload.Maker(pod)] &&
			(home == "" || scheduler == "" || home == scheduler) && asksForAny(pod, requests) {
			waiting = append(waiting, pod)
		}
	}
	slices.SortFunc(waiting, func(a, b *corev1.Pod) int {
		return cmp.Or(workload.CompareQueued(a, b), strings.Compare(a.Name, b.Name))
	})
	return waiting
}

func asksForAny(pod *corev1.Pod, requests []pool.Request) bool {
	own, err := demand.Of(pod)
	return err == nil && slices.ContainsFunc(own, func(o pool.Request) bool {
		return slices.ContainsFunc(requests, func(r pool.Request) bool { return r.Resource == o.Resource })
	})
}
