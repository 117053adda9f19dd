// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// slowly lets pods take their time to end: a deletion is accepted, and they stay.
func (r *running) slowly() {
	r.Kube.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
}

// waitForDeletion waits until the scheduler has asked for the deletion of a pod.
func (r *running) waitForDeletion(pod *corev1.Pod) {
	r.t.Helper()
	r.WaitFor("pod "+pod.Name+" to be deleted", func() bool {
		return slices.ContainsFunc(r.Kube.Actions(), func(action clienttesting.Action) bool {
			del, ok := action.(clienttesting.DeleteAction)
			return ok && action.Matches("delete", "pods") && del.GetName() == pod.Name
		})
	})
}

// end lets a pod end that was deleted.
func (r *running) end(pod *corev1.Pod) {
	r.t.Helper()
	if err := r.Kube.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), pod.Namespace, pod.Name); err != nil {
		r.t.Fatal(err)
	}
}

// TestWhatIsFreedForAPodIsKeptAsLongAsItCanUseIt lets a pod make way for another one, which becomes
// unable to take what that gives back.
func TestWhatIsFreedForAPodIsKeptAsLongAsItCanUseIt(t *testing.T) { //nolint:tparallel // its rows run side by side
	for name, meanwhile := range map[string]func(*running){
		"it asks for something else":      func(r *running) { r.edit(1, "does not exist", "maple", "1") },
		"it is rejected elsewhere":        func(r *running) { r.Obstacle.Rejects.Store(true) },
		"it is kept out of the queue":     func(r *running) { r.Obstacle.Gates.Store(true) },
		"it asks for what cannot be read": func(r *running) { r.edit(1, "quantity", "matlab", "many") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, pools("matlab", berthv1alpha1.AnyOf, "all", "1"))
			r.slowly()
			victim := withPriority(asking("victim", "matlab", "1"), 1)
			r.Create(victim)
			r.ExpectBound(victim)
			preemptor := withPriority(asking("front-0", "matlab", "1"), 10)
			r.Create(preemptor)
			r.waitForDeletion(victim)
			r.ExpectWaiting(preemptor)
			other := asking("other", "matlab", "1")
			r.Create(other)
			r.ExpectWaiting(other)
			meanwhile(r)
			r.end(victim)
			r.ExpectBound(other)
		})
	}
}

// Pods make way for processors, which the plugin does not look after, and what the pod asks for
// besides is still there when they have gone.
func TestWhatAPodAsksForIsKeptWhileOthersMakeWayForSomethingElse(t *testing.T) {
	r := run(t, pools("matlab", berthv1alpha1.AnyOf, "all", "1"))
	r.slowly()
	victim := onRack(withCPU(withPriority(asking("victim"), 1), "3"), "b")
	r.Create(victim)
	r.ExpectBound(victim)
	preemptor := onRack(withCPU(withPriority(asking("preemptor", "matlab", "1"), 10), "3"), "b")
	r.Create(preemptor)
	r.waitForDeletion(victim)
	r.WaitFor("the nomination", func() bool {
		known, err := r.Kube.CoreV1().Pods("default").Get(t.Context(), preemptor.Name, metav1.GetOptions{})
		return err == nil && known.Status.NominatedNodeName != ""
	})
	thief := onRack(asking("thief", "matlab", "1"), "a")
	r.Create(thief)
	r.ExpectWaiting(thief)
	r.end(victim)
	r.ExpectBound(preemptor)
}

// What is free within the grant of a scheduler is left, for a while, to a pod of higher priority
// that waits for another one.
func TestWhatIsFreeIsLeftToAHigherPriorityElsewhere(t *testing.T) {
	objects := sharing("2", "1")
	b := objects[1].(*berthv1alpha1.Scheduler) //nolint:forcetypeassert // it is made so
	b.Status.Spending = &berthv1alpha1.Spending{Pools: []berthv1alpha1.PoolSpending{{
		Resource: "licence", Pool: "all",
		Next: []berthv1alpha1.PoolDemand{{Wanted: mustParse("1"), Least: mustParse("1"), Priority: 10, Since: metav1.Now()}},
	}}}
	s := plugintest.New(t, objects, plugintest.Named("a"))
	low, equal := withPriority(at(asking("low", "licence", "1"), "a"), 9), withPriority(at(asking("equal", "licence", "1"), "a"), 10)
	s.WaitFor("a node for a pod of the same priority", func() bool { return s.Try(equal).Node != "" })
	attempt := s.Try(low)
	if want := "node(s) whose pools of licence have enough left only for other schedulers"; attempt.Node != "" || !strings.Contains(attempt.Why(), want) {
		t.Errorf("a pod of lower priority is given node %q and told %q, want %q", attempt.Node, attempt.Why(), want)
	}
	s.WaitFor("a node for it", func() bool { return s.Try(low).Node != "" })
}
