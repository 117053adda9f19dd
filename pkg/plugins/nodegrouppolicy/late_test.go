// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

const contended = "the scheduler that led before may still be placing other pods of the workload"

// heir is a scheduler that has taken over from another one.
type heir struct {
	*plugintest.Scheduler

	// reachable is false as long as pods cannot be changed, and changes counts the attempts.
	reachable atomic.Bool
	changes   atomic.Int32
	// bound is what a pod is found to be once it can be changed.
	bound atomic.Pointer[corev1.Pod]
}

// inherits lists the pods as the API server shows them at the take-over, in the version 7.
func inherits(t *testing.T, objects []runtime.Object, listed ...*corev1.Pod) *heir {
	t.Helper()
	return inheritsAmong(t, append(plugintest.Sites(2, "beijing", "hangzhou"), objects...), nil, listed...)
}

// inheritsAmong is inherits with other sites, and options of the scheduler.
func inheritsAmong(t *testing.T, objects []runtime.Object, options []plugintest.Option, listed ...*corev1.Pod) *heir {
	t.Helper()
	h := &heir{Scheduler: plugintest.New(t, objects, append(options, plugintest.Held())...)}
	list := &corev1.PodList{}
	for _, pod := range listed {
		pod = pod.DeepCopy()
		pod.ResourceVersion = "7"
		list.Items = append(list.Items, *pod)
	}
	h.Kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, list, nil
	})
	h.Kube.PrependReactor("get", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		get, ok := action.(clienttesting.GetAction)
		if bound := h.bound.Load(); ok && bound != nil && get.GetName() == bound.Name {
			return true, bound, nil
		}
		for i := range list.Items {
			if ok && list.Items[i].Name == get.GetName() {
				return true, &list.Items[i], nil
			}
		}
		return false, nil, nil
	})
	h.Kube.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		h.changes.Add(1)
		patch, ok := action.(clienttesting.PatchAction)
		bound := h.bound.Load()
		switch {
		case !h.reachable.Load():
			return true, nil, apierrors.NewServiceUnavailable("the API server is down")
		case ok && bound != nil && patch.GetName() == bound.Name:
			return true, bound, nil
		}
		return true, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: patch.GetName(), Namespace: patch.GetNamespace()}}, nil
	})
	h.Release()
	return h
}

// mustWait checks that a pod is not placed, and why.
func (h *heir) mustWait(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	if attempt := h.Try(pod); attempt.Node != "" || !strings.Contains(attempt.Why(), contended) {
		t.Fatalf("the pod found node %q: %s", attempt.Node, attempt.Why())
	}
}

func TestASeatThatALateBindingMayTakeIsNotGivenOut(t *testing.T) {
	d, rs := deployment("nginx", 5)
	pods := []*corev1.Pod{plugintest.MakePodOf(rs, 0).Obj(), plugintest.MakePodOf(rs, 1).Obj()}
	h := inherits(t, []runtime.Object{beijingHangzhou().Obj(), d, rs}, pods...)
	h.mustWait(t, pods[1])
	h.WaitFor("attempts to make the binding impossible", func() bool { return h.changes.Load() > 0 })
	h.mustWait(t, plugintest.MakePodOf(rs, 9).Obj())
	h.reachable.Store(true)
	h.WaitFor("a seat", func() bool { return h.Try(pods[1]).Node != "" })
}

func TestASeatThatALateBindingHasTakenIsHeld(t *testing.T) {
	d, rs := deployment("nginx", 2)
	theirs, next := plugintest.MakePodOf(rs, 0).Obj(), plugintest.MakePodOf(rs, 1).Obj()
	h := inherits(t, []runtime.Object{beijingHangzhou().Obj(), d, rs}, theirs, next)
	h.Add(theirs)
	h.mustWait(t, next)
	late := theirs.DeepCopy()
	late.Spec.NodeName = "hangzhou-0"
	h.bound.Store(late)
	h.reachable.Store(true)
	h.WaitFor("the settlement", func() bool { return h.changes.Load() > 1 })
	h.mustWait(t, next) // the scheduler has not seen yet that the pod is bound
	h.Add(late)
	var attempt *plugintest.Attempt
	h.WaitFor("a seat", func() bool {
		attempt = h.Try(next)
		return attempt.Node != ""
	})
	if plugintest.SiteOf(attempt.Node) != "beijing" {
		t.Errorf("the second pod is on %s", attempt.Node)
	}
}

func TestWhatThePredecessorHasBoundIsWaitedFor(t *testing.T) {
	d, rs := deployment("nginx", 2)
	bound := plugintest.MakePodOf(rs, 0).Obj()
	bound.Spec.NodeName = "hangzhou-0"
	h := inherits(t, []runtime.Object{beijingHangzhou().Obj(), d, rs}, bound)
	next := plugintest.MakePodOf(rs, 1).Obj()
	h.mustWait(t, next)
	h.Add(bound)
	h.MustPlace(next)
}

// The node has gone meanwhile, so that no snapshot will ever show the pod there.
func TestWhatThePredecessorHasBoundToANodeThatHasGoneIsWaitedForNoLonger(t *testing.T) {
	d, rs := deployment("nginx", 2)
	bound := plugintest.MakePodOf(rs, 0).Obj()
	bound.Spec.NodeName = "hangzhou-9"
	h := inherits(t, []runtime.Object{beijingHangzhou().Obj(), d, rs}, bound)
	next := plugintest.MakePodOf(rs, 1).Obj()
	h.mustWait(t, next)
	if err := h.Informers.Core().V1().Pods().Informer().GetIndexer().Add(bound); err != nil {
		t.Fatal(err)
	}
	h.MustPlace(next)
}

// Of the clusters of the policy one is this scheduler's. A late Binding may take its seats, too.
func TestASeatInTheOnlyClusterOfTheSchedulerIsNotGivenOut(t *testing.T) {
	d, rs := deployment("nginx", 5)
	objects := []runtime.Object{beijingHangzhou().Obj(), d, rs}
	for _, name := range []string{"a", "b"} {
		objects = append(objects, &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}})
	}
	for _, object := range plugintest.Sites(2, "beijing", "hangzhou") {
		if c, ok := object.(*berthv1alpha1.Cluster); ok {
			c.Status.HomeScheduler, c.Status.HomeRevision = map[string]string{"beijing": "a", "hangzhou": "b"}[c.Name], 1
		}
		objects = append(objects, object)
	}
	mine := func(number int) *corev1.Pod {
		p := plugintest.MakePodOf(rs, number).Obj()
		p.Labels[berthv1alpha1.HomeSchedulerLabel] = "a"
		return p
	}
	h := inheritsAmong(t, objects, []plugintest.Option{plugintest.Named("a")}, mine(0), mine(1))
	h.WaitFor("it to be told why it waits", func() bool {
		attempt := h.Try(mine(1))
		if attempt.Node != "" {
			t.Fatalf("it goes to %s", attempt.Node)
		}
		return strings.Contains(attempt.Why(), contended)
	})
	h.reachable.Store(true)
	h.WaitFor("a seat", func() bool { return h.Try(mine(1)).Node != "" })
}

func TestNobodyWaitsWhereNoSeatCanBeTaken(t *testing.T) {
	d, rs := deployment("nginx", 2)
	objects := []runtime.Object{beijingHangzhou().Obj(), d, rs}
	holders := []*corev1.Pod{plugintest.MakePodOf(rs, 0).Obj(), plugintest.MakePodOf(rs, 1).Obj()}
	holders[0].Spec.NodeName, holders[1].Spec.NodeName = "hangzhou-0", "beijing-0"
	waiting := []*corev1.Pod{plugintest.MakePodOf(rs, 2).Obj(), plugintest.MakePodOf(rs, 3).Obj()}
	unchanged := func(t *testing.T, h *heir) {
		t.Helper()
		if n := h.changes.Load(); n > 0 {
			t.Errorf("%d attempts to change pods", n)
		}
	}
	t.Run("one pod waited", func(t *testing.T) {
		h := inherits(t, objects, waiting[0])
		h.MustPlace(waiting[0])
		unchanged(t, h)
	})
	t.Run("a workload that was full", func(t *testing.T) {
		h := inherits(t, append(slices.Clone(objects), holders[0], holders[1]), append(slices.Clone(holders), waiting...)...)
		if attempt := h.Try(waiting[0]); attempt.Node != "" {
			t.Fatal("a seat is given out that is held")
		}
		h.Remove(holders[1])
		h.MustPlace(waiting[0])
		unchanged(t, h)
	})
	t.Run("a workload whose pods are numbered", func(t *testing.T) {
		set := plugintest.StatefulSet("db", 3)
		policy := plugintest.MakePolicy("db").Selects("apps/v1", "StatefulSet", "db").Weight(1, "beijing").Weight(1, "hangzhou").Obj()
		pods := []*corev1.Pod{plugintest.MakePodOf(set, 0).Obj(), plugintest.MakePodOf(set, 1).Obj()}
		h := inherits(t, []runtime.Object{policy, set}, pods...)
		h.MustPlace(pods[1])
		unchanged(t, h)
	})
	t.Run("pods without a policy", func(t *testing.T) {
		pods := []*corev1.Pod{
			st.MakePod().Namespace("other").Name("p").UID("p").SchedulerName(plugintest.Profile).Obj(),
			st.MakePod().Namespace("other").Name("q").UID("q").SchedulerName(plugintest.Profile).Obj(),
		}
		h := inherits(t, objects, pods...)
		h.MustPlace(pods[0])
		unchanged(t, h)
	})
}

func TestPodsWithoutAControllerWaitForEachOther(t *testing.T) {
	policy := plugintest.MakePolicy("web").Weight(2, "beijing").Weight(3, "hangzhou").Obj()
	bare := func(name string) *corev1.Pod {
		return st.MakePod().Namespace(plugintest.Namespace).Name(name).UID(name).SchedulerName(plugintest.Profile).
			Annotation("groupingpolicy.kubeedge.io", "web").Obj()
	}
	h := inherits(t, []runtime.Object{policy}, bare("p"), bare("q"))
	h.mustWait(t, bare("p"))
	h.reachable.Store(true)
	h.WaitFor("a seat", func() bool { return h.Try(bare("p")).Node != "" })
}
