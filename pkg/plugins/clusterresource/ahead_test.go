// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/plugintest"
)

// waiting is a process that waits for the lease of another one, and an API server with pods, each
// of which gets the version 9 when it is changed.
type waiting struct {
	*plugintest.Scheduler

	lock   resourcelock.Interface
	mu     sync.Mutex
	listed []corev1.Pod
	// changed are the pods that were changed.
	changed []string
}

func (w *waiting) changes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(slices.Values(w.changed))
}

func (w *waiting) change(action clienttesting.Action) (bool, runtime.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := action.(clienttesting.PatchAction).GetName() //nolint:forcetypeassert // the reactor is for patches
	w.changed = append(w.changed, name)
	for i := range w.listed {
		if w.listed[i].Name == name {
			w.listed[i].ResourceVersion = "9"
			return true, w.listed[i].DeepCopy(), nil
		}
	}
	return true, asking("unknown"), nil
}

func (w *waiting) list(clienttesting.Action) (bool, runtime.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "8"}}
	for i := range w.listed {
		list.Items = append(list.Items, *w.listed[i].DeepCopy())
	}
	return true, list, nil
}

func lockOf(s *plugintest.Scheduler, name string, of *fence.Fence) resourcelock.Interface {
	return fence.NewLock(&resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: "berth-system", Name: "berth-scheduler"}, Client: s.Kube.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: name},
	}, of, time.Second)
}

// waitsFor lets a process wait for the lease of another one, which has it for a minute and does not
// renew it.
func waitsFor(t *testing.T, objects []runtime.Object, pods ...*corev1.Pod) *waiting {
	t.Helper()
	w := &waiting{Scheduler: plugintest.New(t, append(racks(), objects...), plugintest.Held(), plugintest.Standby())}
	for _, pod := range pods {
		pod = pod.DeepCopy()
		pod.ResourceVersion = "7"
		w.listed = append(w.listed, *pod)
	}
	w.Kube.PrependReactor("list", "pods", w.list)
	w.Kube.PrependReactor("patch", "pods", w.change)
	version := 0
	w.Kube.PrependReactor("*", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if write, ok := action.(interface{ GetObject() runtime.Object }); ok {
			version++
			write.GetObject().(*coordinationv1.Lease).ResourceVersion = strconv.Itoa(version) //nolint:forcetypeassert // as it says
		}
		return false, nil, nil
	})
	holds := resourcelock.LeaderElectionRecord{HolderIdentity: "before", LeaseDurationSeconds: 60}
	if err := lockOf(w.Scheduler, "before", fence.New()).Create(t.Context(), holds); err != nil {
		t.Fatal(err)
	}
	w.Watch()
	w.lock = lockOf(w.Scheduler, "next", w.Fence)
	return w
}

// looks reads the lease, as the election does time and again.
func (w *waiting) looks(t *testing.T) {
	t.Helper()
	if _, _, err := w.lock.Get(t.Context()); err != nil {
		t.Error(err)
	}
}

// leads takes the lease.
func (w *waiting) leads(t *testing.T) {
	t.Helper()
	w.looks(t)
	err := w.lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "next", LeaseDurationSeconds: 60, LeaderTransitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.Fence.KeepOpen()
	w.Ready()
}

// What the leader can have sent is made impossible while its lease lasts, and once it has ended
// what was free is given out at once.
func TestLateBindingsAreRuledOutBeforeTheLeaseHasEnded(t *testing.T) {
	holder := stamped("holder", "a1", "disk", "all")
	theirs := []*corev1.Pod{asking("one", "matlab", "1"), asking("two", "matlab", "1", "disk", "1"), asking("full", "disk", "1"), asking("plain"), holder}
	w := waitsFor(t, append(matlab("1"), holder), theirs...)
	w.WaitFor("the pods to be changed that may get a unit", func() bool {
		w.looks(t)
		return len(w.changes()) >= 2
	})
	w.leads(t)
	w.MustPlace(asking("next", "matlab", "1"))
	if diff := cmp.Diff([]string{"one", "two"}, w.changes()); diff != "" {
		t.Errorf("pods that were changed, (-want +got):\n%s", diff)
	}
}

// A leader that renews its lease after all may have bound what was changed.
func TestWhatWasRuledOutCountsOnlyForTheLeaseThatHadLapsed(t *testing.T) {
	w := waitsFor(t, matlab("1"), asking("one", "matlab", "1"))
	w.WaitFor("the pod to be changed", func() bool {
		w.looks(t)
		return len(w.changes()) == 1
	})
	before := lockOf(w.Scheduler, "before", fence.New())
	if _, _, err := before.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := before.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "before", LeaseDurationSeconds: 60}); err != nil {
		t.Fatal(err)
	}
	w.leads(t)
	w.WaitFor("the pod to be changed again", func() bool { return len(w.changes()) >= 2 })
}
