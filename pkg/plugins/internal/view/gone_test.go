// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugins/internal/view"
)

func put(t *testing.T, info fwk.NodeInfo, pod *corev1.Pod) {
	t.Helper()
	added, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	info.AddPodInfo(added)
}

func take(t *testing.T, info fwk.NodeInfo, pod *corev1.Pod) {
	t.Helper()
	if err := info.RemovePod(klog.Background(), pod); err != nil {
		t.Fatal(err)
	}
}

// firstNode returns what the snapshot has of node-0.
func firstNode(infos []fwk.NodeInfo) fwk.NodeInfo {
	return infos[slices.IndexFunc(infos, func(info fwk.NodeInfo) bool { return info.Node().Name == "node-0" })]
}

func TestWhatHasGoneIsForgotten(t *testing.T) {
	infos, members := infosOf(t), &siteLabel{}
	first, last := ownedPod("first", "set", "node-0"), ownedPod("last", "other", "node-0")
	put(t, firstNode(infos), first)
	put(t, firstNode(infos), last)
	v := view.New(view.NewReservations(), noPods{}, noHoldings{})
	v.Refresh(infos, members)
	if !v.Counted(first, revisionOf("set")) || !v.Counted(last, revisionOf("other")) {
		t.Fatal("the pods are not counted")
	}
	take(t, firstNode(infos), last)
	for _, want := range []int{1, 0} {
		v.Refresh(infos, members)
		if got := v.Recounted(); got != want {
			t.Errorf("%d nodes were counted again, want %d", got, want)
		}
	}
	if !v.Counted(first, revisionOf("set")) || v.Counted(last, revisionOf("other")) {
		t.Error("another pod has gone")
	}
	if counts := v.Counts(revisionOf("other")); counts != nil {
		t.Errorf("of a revision without pods %v is known", counts)
	}
}

func TestNoNodeIsInAClusterBeforeClustersAreKnown(t *testing.T) {
	infos := infosOf(t, ownedPod("p", "set", "node-0"))
	v := view.New(view.NewReservations(), noPods{}, noHoldings{})
	v.Refresh(infos, nil)
	if got := v.ClusterOfNode("node-0"); got != view.NoCluster {
		t.Errorf("the node is in cluster %d", got)
	}
	if got := v.Counts(revisionOf("set")).Stray(); got != 1 {
		t.Errorf("%d pods are in no cluster, want 1", got)
	}
}

// waiting is a lister of one pod that is not bound.
type waiting struct{ pod *corev1.Pod }

func (w *waiting) BoundPods() []*corev1.Pod {
	if w.pod == nil || w.pod.Spec.NodeName == "" {
		return nil
	}
	return []*corev1.Pod{w.pod}
}

func (w *waiting) Pod(string, string) *corev1.Pod { return w.pod }

// A Binding that is on its way when the node goes away may still arrive, so the seat is not free.
func TestTheSeatOfABindingOnItsWayToANodeThatHasGone(t *testing.T) {
	at := func(node string) *corev1.Pod { return ownedPod("p", "set", node) }
	given := stamp.Stamp{Policy: "web", Cluster: "site-1", Seat: 3}
	tests := map[string]struct {
		// then is what becomes of it.
		then func(r *view.Reservations, known *waiting)
		want bool
	}{
		"it is on its way":        {func(*view.Reservations, *waiting) {}, true},
		"its status has changed":  {func(_ *view.Reservations, known *waiting) { known.pod = at("") }, true},
		"it has arrived":          {func(_ *view.Reservations, known *waiting) { known.pod = at("node-9") }, true},
		"it was refused":          {func(r *view.Reservations, known *waiting) { r.Drop(known.pod.UID) }, false},
		"it was placed elsewhere": {func(r *view.Reservations, _ *waiting) { r.Put(at("node-0"), given) }, false},
		"it was bound elsewhere":  {func(_ *view.Reservations, known *waiting) { known.pod = at("node-0") }, false},
		"the pod was deleted":     {func(_ *view.Reservations, known *waiting) { known.pod = nil }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, known, infos := view.NewReservations(), &waiting{at("")}, infosOf(t)
			v := view.New(r, known, noHoldings{})
			v.Refresh(infos, &siteLabel{})
			r.Put(at("node-9"), given)
			left := []fwk.NodeInfo{firstNode(infos)}
			v.Refresh(left, &siteLabel{})
			held := func() bool { return v.Counts(revisionOf("set")).Held(v.ClusterID("site-1")).Has(3) }
			if !held() {
				t.Error("the seat is free at once")
			}
			tc.then(r, known)
			for range 2 {
				if v.Refresh(left, &siteLabel{}); held() != tc.want {
					t.Errorf("the seat is held: %t, want %t", held(), tc.want)
				}
			}
		})
	}
}

// failing are holdings that cannot tell of one pod, once.
type failing struct {
	noHoldings

	at *corev1.Pod
}

func (f *failing) Concerns(pod *corev1.Pod) bool {
	if pod == f.at {
		f.at = nil
		panic("a bug")
	}
	return false
}

func TestALookAtSomeClustersThatFailedIsBegunAnew(t *testing.T) {
	infos, members, clk := infosOf(t, ownedPod("p", "set", "node-0")), &siteLabel{}, newClock()
	holdings := &failing{}
	v := view.New(view.NewReservations(), noPods{}, holdings)
	v.RefreshClusters(infos, members, nil, clk)
	asked := []int32{v.ClusterID("site-0")}
	take(t, firstNode(infos), ownedPod("p", "set", "node-0"))
	holdings.at = ownedPod("p", "set", "node-0")
	put(t, firstNode(infos), holdings.at)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing failed")
			}
		}()
		v.RefreshClusters(infos, members, asked, clk)
	}()
	v.RefreshClusters(infos, members, asked, clk)
	if got := v.Counts(revisionOf("set")).Held(asked[0]).Len(); got != 1 {
		t.Errorf("site-0 holds %d pods, want 1", got)
	}
}
