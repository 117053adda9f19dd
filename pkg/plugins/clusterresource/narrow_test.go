// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/clusterresource"
	"berth.dev/berth/pkg/plugintest"
)

// newRacks returns a scheduler with ten racks, a to j, of so many nodes each, and the objects.
func newRacks(t *testing.T, perRack int, objects ...runtime.Object) *plugintest.Scheduler {
	t.Helper()
	for rack := 'a'; rack <= 'j'; rack++ {
		for n := range perRack {
			objects = append(objects, rackNode(fmt.Sprintf("%c%d", rack, n), string(rack)))
		}
	}
	return plugintest.New(t, objects)
}

// named returns the nodes that PreFilter names, none if it leaves it to Filter.
func named(t *testing.T, s *plugintest.Scheduler, pod *corev1.Pod) []string {
	t.Helper()
	s.Try(asking("bystander")) // brings the snapshot up to date
	nodes, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	result, status := plugin(t, s).PreFilter(s.Context(), framework.NewCycleState(), pod, nodes)
	if !status.IsSuccess() {
		t.Fatalf("PreFilter: %v", status)
	}
	if result.AllNodes() {
		return nil
	}
	return sets.List(result.NodeNames)
}

// plugin returns the plugin as the framework runs it.
func plugin(t testing.TB, s *plugintest.Scheduler) *clusterresource.ClusterResource {
	t.Helper()
	for _, extension := range s.Framework.EnqueueExtensions() {
		if found, ok := extension.(*clusterresource.ClusterResource); ok {
			return found
		}
	}
	t.Fatal("the profile does not have the plugin")
	return nil
}

func TestPreFilterNamesTheNodesOfPoolsWithRoom(t *testing.T) {
	disk := pools("disk", berthv1alpha1.AnyOf, "a", "1", "b", "2", "c", "1")
	wide := pools("wide", berthv1alpha1.AnyOf, "all", "9")
	some := pools("some", berthv1alpha1.AnyOf, "c", "1", "d", "1", "e", "1", "f", "1", "g", "1", "h", "1")
	tests := map[string]struct {
		pod  *corev1.Pod
		want []string
	}{
		"two pools with room": {pod: asking("p", "disk", "1"), want: []string{"b0", "b1", "c0", "c1"}},
		"one has enough":      {pod: asking("p", "disk", "2"), want: []string{"b0", "b1"}},
		"the resource that leaves fewer nodes counts": {
			pod: asking("p", "wide", "1", "disk", "2"), want: []string{"b0", "b1"},
		},
		"every node would be named":                 {pod: asking("p", "wide", "1")},
		"so many nodes that naming them costs more": {pod: asking("p", "some", "1")},
		"a pod that selects nodes by affinity":      {pod: selecting(asking("p", "disk", "1"), "b0")},
		"a node selector leaves the names as they are": {
			pod: onRack(asking("p", "disk", "1"), "b"), want: []string{"b0", "b1", "c0", "c1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newRacks(t, 2, disk, wide, some)
			s.MustPlace(onRack(asking("holder", "disk", "1"), "a"))
			if diff := cmp.Diff(tc.want, named(t, s, tc.pod)); diff != "" {
				t.Errorf("named nodes (-want +got):\n%s", diff)
			}
		})
	}
}

// selecting lets a pod run on one node only, by name as a DaemonSet's do.
func selecting(pod *corev1.Pod, node string) *corev1.Pod {
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: st.MakeNodeSelector().In("metadata.name", []string{node}, st.NodeSelectorTypeMatchFields).Obj(),
	}}
	return pod
}

func TestNamedNodesFollowThePoolsAndTheNodes(t *testing.T) {
	s := newRacks(t, 2, pools("disk", berthv1alpha1.AnyOf, "a", "1", "b", "2"))
	pod := asking("p", "disk", "1")
	step := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, named(t, s, pod)); diff != "" {
			t.Errorf("%s: named nodes (-want +got):\n%s", what, diff)
		}
	}
	step("at first", "a0", "a1", "b0", "b1")
	holder := s.MustPlace(onRack(asking("holder", "disk", "1"), "a"))
	step("a pool is used up", "b0", "b1")
	extra := rackNode("b2", "b")
	s.Add(extra)
	step("a node comes", "b0", "b1", "b2")
	plugintest.Update(s, extra, func(n *corev1.Node) { n.Labels["rack"] = "z" })
	step("it leaves the pool", "b0", "b1")
	s.Remove(holder)
	step("what the holder had is free", "a0", "a1", "b0", "b1")
}

func TestReasonsAreThoseOfFilterAlsoForNodesThatItNeverSaw(t *testing.T) {
	s := newRacks(t, 2, pools("disk", berthv1alpha1.AnyOf, "a", "1", "b", "2"))
	s.MustPlace(onRack(asking("holder", "disk", "1"), "a"))
	attempt := s.Try(withCPU(asking("p", "disk", "1"), "5"))
	const want = "0/20 nodes are available: 16 node(s) in no pool of disk, 2 Insufficient cpu, 2 node(s) whose pools of disk are used up."
	if got := attempt.Why(); got != want {
		t.Errorf("the user is told\n%s\nwant\n%s", got, want)
	}
	all := s.Framework.SnapshotSharedLister().NodeInfos()
	candidates, err := attempt.Fit.Diagnosis.NodeToStatus.NodesForStatusCode(all, fwk.Unschedulable)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, info := range candidates {
		found[info.Node().Name] = true
	}
	if diff := cmp.Diff([]string{"a0", "a1"}, slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("nodes on which preemption may help (-want +got):\n%s", diff)
	}
}

// The nodes with room in their pool are full of others that must not make way, so the holder
// elsewhere has to.
func TestAHolderOnANodeThatWasNotNamedMakesWay(t *testing.T) {
	s := newRacks(t, 1, pools("disk", berthv1alpha1.AnyOf, "a", "1", "b", "2"))
	holder := withPriority(onRack(asking("holder", "disk", "1"), "a"), 1)
	placeAll(t, s, holder, withPriority(onRack(withCPU(asking("full"), "4"), "b"), 100))
	pod := withPriority(withCPU(asking("p", "disk", "1"), "1"), 10)
	attempt := s.Try(pod)
	if attempt.Nominated != "a0" {
		t.Fatalf("nominated %q, want a0: %s", attempt.Nominated, attempt.Why())
	}
	if diff := cmp.Diff([]string{"holder"}, deleted(s, pod)); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
}

// Two plugins that name different nodes would leave none, of which the framework tells only the
// names of the plugins.
func TestThePodOfAPolicyIsToldTheReasonsOfBoth(t *testing.T) {
	disk := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "disk", UID: "disk", Generation: 1}}
	for _, site := range []string{"site0", "site1"} {
		disk.Status.Allocatable = append(disk.Status.Allocatable, berthv1alpha1.ClusterResourceQuantity{
			Name: site, Quantity: mustParse("1"), NodeSelector: map[string]string{plugintest.SiteLabel: site},
		})
	}
	d := plugintest.Deployment("nginx", 1)
	rs := plugintest.ReplicaSet(d, "v1")
	objects := []runtime.Object{disk, d, rs, plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "site1").Obj()}
	s := plugintest.New(t, append(objects, plugintest.Sites(1, "site0", "site1", "site2", "site3", "site4", "site5", "site6", "site7")...))
	holder := asking("holder", "disk", "1")
	holder.Spec.NodeSelector = map[string]string{plugintest.SiteLabel: "site1"}
	s.MustPlace(holder)
	pod := plugintest.MakePodOf(rs, 0).Annotation(annotation+"disk", "1").Obj()
	const want = "0/8 nodes are available: 1 node(s) whose pools of disk are used up, 7 node(s) in no cluster of the policy."
	if got := s.Try(pod).Why(); got != want {
		t.Errorf("the user is told\n%s\nwant\n%s", got, want)
	}
}

func TestANominationToANodeWhosePoolIsUsedUpIsNotFollowed(t *testing.T) {
	s := newRacks(t, 2, pools("disk", berthv1alpha1.AnyOf, "a", "1", "b", "2"))
	s.MustPlace(onRack(asking("holder", "disk", "1"), "a"))
	pod := asking("p", "disk", "1")
	pod.Status.NominatedNodeName = "a1" // the framework tries it, whatever PreFilter named
	if attempt := s.Try(pod); !strings.HasPrefix(attempt.Node, "b") {
		t.Errorf("the pod went to %q, want a node of rack b: %s", attempt.Node, attempt.Why())
	}
}

func TestOfManyNodesASampleIsNamed(t *testing.T) {
	s := newRacks(t, 25, pools("wide", berthv1alpha1.AnyOf, "all", "9"), pools("more", berthv1alpha1.AnyOf, "all", "9"))
	for name, pod := range map[string]*corev1.Pod{
		"one resource": asking("one", "wide", "1"), "two": asking("two", "wide", "1", "more", "1"),
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(named(t, s, pod)); got < 100 || got > 110 {
				t.Errorf("%d nodes are named, want about a hundred", got)
			}
		})
	}
}

// A sample of the nodes that one resource leaves may have none that the other one leaves. Where a
// profile says how many nodes are looked at, all are named.
func TestOfManyNodesAllAreNamed(t *testing.T) {
	const profile = "- schedulerName: berth-scheduler"
	few := pools("few", berthv1alpha1.AnyOf, "a", "9", "b", "9")
	more := pools("more", berthv1alpha1.AnyOf, "a", "9", "b", "9", "c", "9")
	tests := map[string]struct {
		pod     *corev1.Pod
		profile string
	}{
		"two resources that leave some each": {pod: asking("p", "few", "1", "more", "1"), profile: profile},
		"a profile that wants 60 % of the nodes": {
			pod: asking("p", "few", "1"), profile: profile + "\n  percentageOfNodesToScore: 60",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []runtime.Object{few, more}
			for rack := 'a'; rack <= 'j'; rack++ {
				for n := range 60 {
					objects = append(objects, rackNode(fmt.Sprintf("%c%d", rack, n), string(rack)))
				}
			}
			configuration := strings.Replace(plugintest.Configuration, profile, tc.profile, 1)
			s := plugintest.New(t, objects, plugintest.WithConfiguration(configuration))
			if got := len(named(t, s, tc.pod)); got != 120 {
				t.Errorf("%d nodes are named, want 120", got)
			}
		})
	}
}

func TestAPodThatNoNodeOfItsSampleCanTakeIsTriedOnAll(t *testing.T) {
	s := newRacks(t, 25, pools("wide", berthv1alpha1.AnyOf, "all", "9"))
	// Nothing but j24 takes the pod, and no look at the room of the nodes tells that.
	const only = "j24"
	for node := range s.Cache.Dump().Nodes {
		if node != only {
			s.Add(st.MakePod().Namespace("default").Name("keeper-of-"+node).UID("keeper-of-"+node).Node(node).
				PodAntiAffinityExists("app", corev1.LabelHostname, st.PodAntiAffinityWithRequiredReq).Obj())
		}
	}
	for i := range s.Cache.Dump().Nodes {
		if n := s.Cache.Dump().Nodes[i].Node(); n.Labels[corev1.LabelHostname] == "" {
			plugintest.Update(s, n, func(n *corev1.Node) { n.Labels[corev1.LabelHostname] = n.Name })
		}
	}
	pod := asking("p", "wide", "1")
	pod.Labels = map[string]string{"app": ""}
	first := s.Try(pod)
	if first.Node != "" {
		t.Fatalf("the first sample had the node already: %s", first.Node)
	}
	if got := strings.Join(first.PostFilter.Reasons(), ", "); got != "no node of a first selection could take the pod, trying all nodes whose pools have enough" {
		t.Errorf("the user is told %q, want %q", got, "no node of a first selection could take the pod, trying all nodes whose pools have enough")
	}
	second := s.Try(pod)
	if second.Node != only {
		t.Fatalf("the second cycle chose %q, want %s: %s", second.Node, only, second.Why())
	}
	s.Bind(s.Assume(pod, second), second)
	if names := named(t, s, pod); names == nil {
		t.Error("a pod that has found its node is still remembered")
	}
}
