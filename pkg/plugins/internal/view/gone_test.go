// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

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
	infos, members, now := infosOf(t, ownedPod("p", "set", "node-0")), &siteLabel{}, time.Now()
	holdings := &failing{}
	v := view.New(view.NewReservations(), noPods{}, holdings)
	v.RefreshClusters(infos, members, nil, now)
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
		v.RefreshClusters(infos, members, asked, now)
	}()
	v.RefreshClusters(infos, members, asked, now)
	if got := v.Counts(revisionOf("set")).Held(asked[0]).Len(); got != 1 {
		t.Errorf("site-0 holds %d pods, want 1", got)
	}
}
