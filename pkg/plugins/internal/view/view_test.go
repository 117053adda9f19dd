// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/view"
)

// ownedPod is a bound pod of a ReplicaSet.
func ownedPod(name, owner, node string) *corev1.Pod {
	pod := st.MakePod().Namespace("default").Name(name).UID(name).Node(node).Obj()
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: owner, UID: types.UID(owner), Controller: ptr.To(true),
	}}
	return pod
}

// revisionOf is the revision of the pods that ownedPod makes.
func revisionOf(owner string) workload.Revision {
	revision, _ := workload.RevisionOf(ownedPod("any", owner, ""))
	return revision
}

func newClock() *clocktesting.FakePassiveClock { return clocktesting.NewFakePassiveClock(time.Now()) }

// infosOf returns a snapshot of four nodes in two clusters, with the pods.
func infosOf(t *testing.T, pods ...*corev1.Pod) []fwk.NodeInfo {
	t.Helper()
	var nodes []*corev1.Node
	for i := range 4 {
		nodes = append(nodes, st.MakeNode().Name(fmt.Sprint("node-", i)).Label("site", fmt.Sprint("site-", i%2)).Obj())
	}
	infos, err := schedulercache.NewSnapshot(pods, nodes).NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	return infos
}

func TestRefreshWithNothingChangedDoesNothing(t *testing.T) {
	infos, members := infosOf(t, ownedPod("a", "set", "node-0")), &siteLabel{}
	v := view.New(view.NewReservations(), noPods{}, noHoldings{})
	v.Refresh(infos, members)
	if got := v.Recounted(); got != 4 {
		t.Errorf("the first look counted %d nodes, want all 4", got)
	}
	if got := testing.AllocsPerRun(10, func() { v.Refresh(infos, members) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
	if got := v.Recounted(); got != 0 {
		t.Errorf("%d nodes were counted again", got)
	}
}

func TestSomeClustersCostALookAtTheirNodesOnly(t *testing.T) {
	infos, members, clk := infosOf(t), &siteLabel{}, newClock()
	v := view.New(view.NewReservations(), noPods{}, noHoldings{})
	v.RefreshClusters(infos, members, nil, clk)
	asked := []int32{v.ClusterID("site-0")}
	for i, info := range infos {
		pod, err := framework.NewPodInfo(ownedPod(fmt.Sprint("pod-", i), "set", info.Node().Name))
		if err != nil {
			t.Fatal(err)
		}
		info.AddPodInfo(pod)
	}
	v.RefreshClusters(infos, members, asked, clk)
	if got := v.Recounted(); got != 2 {
		t.Errorf("%d nodes were counted again, want the 2 of site-0", got)
	}
	if got := v.Counts(revisionOf("set")).Held(asked[0]).Len(); got != 2 {
		t.Errorf("site-0 holds %d pods, want 2", got)
	}
	if got := testing.AllocsPerRun(10, func() { v.RefreshClusters(infos, members, asked, clk) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
	v.Refresh(infos, members)
	if got := v.Recounted(); got != 2 {
		t.Errorf("%d nodes were counted again at last, want the 2 of site-1", got)
	}
}

func TestAllNodesAreLookedAtBeforeLong(t *testing.T) {
	infos, members, clk := infosOf(t), &siteLabel{}, newClock()
	began := clk.Now()
	v := view.New(view.NewReservations(), noPods{}, noHoldings{})
	asked := []int32{v.ClusterID("site-0")}
	for _, step := range []struct {
		what      string
		after     time.Duration
		nodes     int
		members   view.Membership
		clusters  []int32
		wantWhole bool
	}{
		{"the first look", 0, 4, members, asked, true},
		{"the second look", 0, 4, members, asked, false},
		{"a cluster without nodes", 0, 4, members, []int32{99}, false},
		{"most of the nodes", 0, 4, members, []int32{v.ClusterID("site-0"), v.ClusterID("site-1")}, true},
		{"a node less", 0, 3, members, asked, true},
		{"another membership", 0, 3, &siteLabel{}, []int32{99}, true},
		{"soon", view.WholeInterval - 1, 3, nil, []int32{99}, false},
		{"late", view.WholeInterval, 3, nil, []int32{99}, true},
	} {
		if step.members != nil {
			members, _ = step.members.(*siteLabel)
		}
		clk.SetTime(began.Add(step.after))
		if got := v.RefreshClusters(infos[:step.nodes], members, step.clusters, clk); got != step.wantWhole {
			t.Errorf("%s: looked at all nodes: %v, want %v", step.what, got, step.wantWhole)
		}
	}
}

// slowLabel is a siteLabel that lets time pass for each node that is counted.
type slowLabel struct {
	siteLabel
	clock *clocktesting.FakePassiveClock
	each  time.Duration
}

func (l *slowLabel) ClusterOf(name string, labels map[string]string) (string, bool) {
	l.clock.SetTime(l.clock.Now().Add(l.each))
	return l.siteLabel.ClusterOf(name, labels)
}

func TestTheLongerALookTakesTheLongerItHolds(t *testing.T) {
	for _, test := range []struct {
		each  time.Duration
		looks int
		want  time.Duration
	}{
		{10 * time.Microsecond, 2, view.WholeInterval},
		{time.Millisecond, 1, view.WholeInterval}, // only the first one may have taken long
		{time.Millisecond, 2, 400 * time.Millisecond},
		{time.Second, 1, view.WholeInterval},
		{time.Second, 2, view.LongestInterval},
	} {
		infos, clk := infosOf(t), newClock()
		v := view.New(view.NewReservations(), noPods{}, noHoldings{})
		var members *slowLabel
		for range test.looks {
			members = &slowLabel{clock: clk, each: test.each} // all are counted anew
			v.RefreshClusters(infos, members, nil, clk)
		}
		ended := clk.Now()
		clk.SetTime(ended.Add(test.want - 1))
		if v.RefreshClusters(infos, members, nil, clk) {
			t.Errorf("%v for a node, %d looks: looked at all nodes again before %v had passed", test.each, test.looks, test.want)
		}
		clk.SetTime(ended.Add(test.want))
		if !v.RefreshClusters(infos, members, nil, clk) {
			t.Errorf("%v for a node, %d looks: did not look at all nodes again when %v had passed", test.each, test.looks, test.want)
		}
	}
}

func TestAnotherMembershipCountsAllNodesAnew(t *testing.T) {
	infos := infosOf(t, ownedPod("a", "set", "node-0"))
	v := view.New(view.NewReservations(), noPods{}, noHoldings{})
	v.Refresh(infos, &byLabel{map[string]string{"site-0": "beijing"}})
	v.Refresh(infos, &byLabel{map[string]string{"site-0": "hangzhou"}})
	counts := v.Counts(revisionOf("set"))
	if got := counts.Held(v.ClusterID("beijing")).Len(); got != 0 {
		t.Errorf("beijing holds %d pods, want none any more", got)
	}
	if got := counts.Held(v.ClusterID("hangzhou")).Len(); got != 1 {
		t.Errorf("hangzhou holds %d pods, want 1", got)
	}
}

// countingPods counts how often all pods are listed.
type countingPods struct{ lists int }

func (c *countingPods) BoundPods() []*corev1.Pod {
	c.lists++
	return nil
}

func (*countingPods) Pod(string, string) *corev1.Pod { return nil }

func TestOnlyNodesThatGoCostALookAtAllPods(t *testing.T) {
	infos, members, pods := infosOf(t), &siteLabel{}, &countingPods{}
	v := view.New(view.NewReservations(), pods, noHoldings{})
	for _, step := range []struct {
		what  string
		infos []fwk.NodeInfo
		want  int
	}{
		{"the first look", infos[:2], 1}, {"nothing", infos[:2], 1}, {"nodes come", infos, 1}, {"a node goes", infos[1:], 2},
		{"it comes back", infos, 2},
	} {
		v.Refresh(step.infos, members)
		if pods.lists != step.want {
			t.Errorf("%s: all pods have been listed %d times, want %d", step.what, pods.lists, step.want)
		}
	}
}

// panicky is a Membership that fails at a node.
type panicky struct{ at string }

func (p *panicky) ClusterOf(node string, labels map[string]string) (string, bool) {
	if node == p.at {
		panic("a bug")
	}
	return labels["site"], true
}

func TestAPanicLeavesNoWrongCounts(t *testing.T) {
	first := infosOf(t, ownedPod("a", "set", "node-0"), ownedPod("b", "set", "node-3"))
	second := infosOf(t, ownedPod("a", "set", "node-0"), ownedPod("c", "set", "node-1"))
	v := view.New(view.NewReservations(), noPods{}, noHoldings{})
	v.Refresh(first, &panicky{})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing panicked")
			}
		}()
		v.Refresh(second, &panicky{at: "node-2"})
	}()
	v.Refresh(second, &panicky{})
	if got := v.Counts(revisionOf("set")).Total(); got != 2 {
		t.Errorf("%d pods are counted, want 2", got)
	}
}

func TestClusterIDsStayTheSame(t *testing.T) {
	v := view.New(view.NewReservations(), noPods{}, noHoldings{})
	ids := map[int32]bool{}
	for i := range 100 {
		name := fmt.Sprint("cluster-", i)
		id := v.ClusterID(name)
		if again := v.ClusterID(name); again != id {
			t.Errorf("%s has ID %d, and then %d", name, id, again)
		}
		if ids[id] || int(id) >= v.Clusters() {
			t.Errorf("%s has ID %d, which is another one's or not below %d", name, id, v.Clusters())
		}
		ids[id] = true
	}
}

// onePod is a lister of one pod.
type onePod struct{ pod *corev1.Pod }

func (o onePod) BoundPods() []*corev1.Pod       { return []*corev1.Pod{o.pod} }
func (o onePod) Pod(string, string) *corev1.Pod { return o.pod }

func TestWhichPodsAreCounted(t *testing.T) {
	set := revisionOf("set")
	here, lost := ownedPod("here", "set", "node-0"), ownedPod("lost", "set", "node-9")
	leaving := ownedPod("leaving", "set", "node-0")
	leaving.DeletionTimestamp = &metav1.Time{}
	v := view.New(view.NewReservations(), onePod{lost}, noHoldings{})
	v.Refresh(infosOf(t, here, leaving), &siteLabel{})
	for name, tc := range map[string]struct {
		pod      *corev1.Pod
		revision workload.Revision
		want     bool
	}{
		"it is on its node":                 {here, set, true},
		"it is of another revision":         {here, revisionOf("other"), false},
		"it is being deleted":               {leaving, set, false},
		"it was never there":                {ownedPod("new", "set", "node-0"), set, false},
		"its node has gone":                 {lost, set, true},
		"it went before its node":           {ownedPod("gone", "set", "node-9"), set, false},
		"it had no node":                    {ownedPod("nominated", "set", ""), set, false},
		"of another set, its node has gone": {lost, revisionOf("other"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := v.Counted(tc.pod, tc.revision); got != tc.want {
				t.Errorf("counted: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestUnknownRevisionsHoldNothing(t *testing.T) {
	counts := view.New(view.NewReservations(), noPods{}, noHoldings{}).Counts(revisionOf("unknown"))
	if counts.Held(0).Len() != 0 || counts.Stray() != 0 || counts.Total() != 0 {
		t.Error("a revision without pods holds some")
	}
}

func TestReservations(t *testing.T) {
	r := view.NewReservations()
	given := stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 3}
	r.Put(ownedPod("pod", "set", "node-0"), given)
	if got, found := r.Get(ownedPod("pod", "set", "").UID); !found || got != given {
		t.Errorf("got %v, %t, want %v", got, found, given)
	}
	r.Drop(ownedPod("pod", "set", "").UID)
	r.Drop(ownedPod("pod", "set", "").UID)
	if got, found := r.Get(ownedPod("pod", "set", "").UID); found {
		t.Errorf("got %v for a pod that was dropped", got)
	}
}
