// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build kubernetes_1_36 || kubernetes_1_37

package minor

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// done is closed.
var done = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// HasSyncedChecker is done.
func (Registration) HasSyncedChecker() cache.DoneChecker { return synced{} }

type synced struct{}

// Name says who is waited for.
func (synced) Name() string { return "simulator" }

// Done is closed.
func (synced) Done() <-chan struct{} { return done }

// groups is a snapshot without groups of pods.
type groups struct{}

// PodGroupStates finds no groups.
func (groups) PodGroupStates() fwk.PodGroupStateLister { return none(fwk.PodGroupStateLister.Get) }

// lister finds nothing.
type lister[T any] struct{}

// none returns a lister without objects for the method Get of a kind of listers. The type of the
// objects is not named, since it may be in a package that go.mod does not know: go mod tidy reads
// this file whatever the build tags.
func none[L, T any](func(L, string, string) (T, error)) lister[T] { return lister[T]{} }

// Get finds nothing.
func (lister[T]) Get(_, name string) (T, error) {
	var nothing T
	return nothing, apierrors.NewNotFound(schema.GroupResource{Group: "scheduling.k8s.io", Resource: "podgroups"}, name)
}

// RemovePendingAllocation has an allocation for a claim of devices count no more that has not been
// written, and reports whether there was one.
func RemovePendingAllocation(claims fwk.ResourceClaimTracker, claim types.UID) bool {
	return claims.MaybeRemoveClaimPendingAllocation(claim, true)
}

func schedule(
	ctx context.Context, s *scheduler.Scheduler, profile framework.Framework, state fwk.CycleState, pod *corev1.Pod,
) (scheduler.ScheduleResult, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return scheduler.ScheduleResult{}, err
	}
	// SchedulePod takes the snapshot as it is here: that is brought up to date before.
	snapshot, ok := profile.SnapshotSharedLister().(*schedulercache.Snapshot)
	if !ok {
		return scheduler.ScheduleResult{}, fmt.Errorf("the snapshot is a %T", profile.SnapshotSharedLister())
	}
	if err := s.Cache.UpdateSnapshot(klog.FromContext(ctx), snapshot); err != nil {
		return scheduler.ScheduleResult{}, fmt.Errorf("taking a snapshot: %w", err)
	}
	return s.SchedulePod(ctx, profile, state, &framework.QueuedPodInfo{PodInfo: info})
}

// FinishBinding does nothing: an assumed pod stays so until the informer knows it as bound.
func FinishBinding(klog.Logger, *scheduler.Scheduler, *corev1.Pod) error { return nil }

func enqueue(logger klog.Logger, s *scheduler.Scheduler, pod *corev1.Pod) {
	s.SchedulingQueue.Add(klog.NewContext(context.Background(), logger), pod)
}

func update(logger klog.Logger, s *scheduler.Scheduler, before, after *corev1.Pod) {
	s.SchedulingQueue.Update(klog.NewContext(context.Background(), logger), before, after)
}
