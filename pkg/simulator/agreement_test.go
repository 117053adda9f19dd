// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// world is a cluster in which the order of placing does not matter for the copies of one pod.
type world struct {
	objects []runtime.Object
	sample  *corev1.Pod
}

func drawWorld(t *rapid.T) world {
	var w world
	w.objects = append(w.objects, plugintest.Site("beijing"))
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		w.objects = append(w.objects, drawNode(t, "beijing", i))
	}
	w.objects = append(w.objects, drawPools(t)...)
	w.sample = drawPod(t, "sample", "")
	for i := range rapid.IntRange(0, 4).Draw(t, "pods before") {
		name := "before-" + strconv.Itoa(i)
		w.objects = append(w.objects, drawPod(t, name, "beijing-0"))
	}
	return w
}

func drawNode(t *rapid.T, site string, number int) *corev1.Node {
	label := fmt.Sprintf("node %s %d ", site, number)
	cpu := rapid.IntRange(0, 8).Draw(t, label+"cpu")
	node := plugintest.MakeNode(site, number).Capacity(map[corev1.ResourceName]string{
		corev1.ResourceCPU: strconv.Itoa(cpu), corev1.ResourceMemory: "8Gi", corev1.ResourcePods: strconv.Itoa(rapid.IntRange(1, 6).Draw(t, label+"pods")),
	})
	if rapid.IntRange(0, 3).Draw(t, label+"disk") > 0 {
		node.Label("disk", "ssd")
	}
	switch rapid.IntRange(0, 5).Draw(t, label+"trouble") {
	case 0:
		node.Taints([]corev1.Taint{{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}})
	case 1:
		node.Unschedulable(true)
	}
	return node.Obj()
}

func drawPools(t *rapid.T) []runtime.Object {
	var objects []runtime.Object
	for _, name := range []string{"licence", "bandwidth"} {
		r := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Generation: 1}}
		if rapid.Bool().Draw(t, name+" is nested") {
			r.Spec.Mode = berthv1alpha1.AllOf
		}
		for _, pool := range []struct {
			name     string
			selector map[string]string
		}{{"all", nil}, {"site", map[string]string{plugintest.SiteLabel: "beijing"}}} {
			amount := strconv.Itoa(rapid.IntRange(0, 6).Draw(t, name+" "+pool.name))
			entry := berthv1alpha1.ClusterResourceQuantity{Name: pool.name, Quantity: resource.MustParse(amount)}
			if pool.selector != nil {
				entry.NodeSelector = pool.selector
			}
			r.Spec.Capacity = append(r.Spec.Capacity, entry)
			r.Status.Allocatable = append(r.Status.Allocatable, entry)
		}
		objects = append(objects, r)
	}
	return objects
}

func drawPod(t *rapid.T, name, node string) *corev1.Pod {
	pod := plugintest.MakePod(name).Node(node).Annotation(berthv1alpha1.PolicyAnnotation, berthv1alpha1.PolicyNone)
	requests := map[corev1.ResourceName]string{
		corev1.ResourceCPU: strconv.Itoa(rapid.IntRange(1, 30).Draw(t, name+" cpu")*100) + "m",
	}
	if rapid.IntRange(0, 2).Draw(t, name+" licence") == 0 {
		requests["cluster-resource.berth.dev/licence"] = strconv.Itoa(rapid.IntRange(1, 2).Draw(t, name+" licences"))
	}
	pod.Req(requests)
	if rapid.IntRange(0, 2).Draw(t, name+" bandwidth") == 0 {
		pod.Annotation("pod.alpha.kubernetes.io/cluster-resource-bandwidth", strconv.Itoa(rapid.IntRange(1, 2).Draw(t, name+" bandwidths")))
	}
	switch rapid.IntRange(0, 7).Draw(t, name+" wish") {
	case 0:
		pod.HostPort(8080)
	case 1:
		pod.NodeSelector(map[string]string{"disk": "ssd"})
	case 2:
		pod.Label("app", "x").PodAntiAffinityIn("app", "kubernetes.io/hostname", []string{"x"}, st.PodAntiAffinityWithRequiredReq)
	case 3:
		pod.Toleration("dedicated")
	case 4:
		pod.Overhead(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")})
	}
	return pod.Obj()
}

// TestRoomIsWhatTheSchedulerBinds holds Room to the scheduler: it binds as many copies in the
// cluster as Room says, and refuses the next for the same reasons.
func TestRoomIsWhatTheSchedulerBinds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		room, err := snapshot(t, w.objects...).Room(t.Context(), "beijing", w.sample, 30)
		if err != nil {
			t.Fatal(err)
		}
		scheduler := plugintest.New(t, w.objects)
		defer scheduler.Stop()
		bound := 0
		for {
			copied := w.sample.DeepCopy()
			copied.Name, copied.UID = fmt.Sprintf("copy-%d", bound), types.UID(fmt.Sprintf("copy-%d", bound))
			pod, attempt := scheduler.Place(copied)
			if pod == nil {
				if bound != room.Copies || attempt.Why() != room.LimitedBy {
					t.Errorf("the scheduler binds %d copies and says %q,\nRoom says %d and %q", bound, attempt.Why(), room.Copies, room.LimitedBy)
				}
				return
			}
			bound++
			if bound > room.Copies {
				t.Errorf("the scheduler binds %d copies, Room says %d: %s", bound, room.Copies, room.LimitedBy)
				return
			}
		}
	})
}

func TestTrySchedule(t *testing.T) {
	node := plugintest.MakeNode("beijing", 0).Capacity(map[corev1.ResourceName]string{corev1.ResourceCPU: "2", corev1.ResourcePods: "10"}).Obj()
	s := snapshot(t, plugintest.Site("beijing"), node)
	small := plugintest.MakePod("small").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj()
	large := plugintest.MakePod("large").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "2"}).Obj()
	nodeOf := func(pod *corev1.Pod) (string, string) {
		outcome, err := s.TrySchedule(t.Context(), pod)
		if err != nil {
			t.Fatal(err)
		}
		return outcome.Node, outcome.Reasons
	}
	for _, pod := range []*corev1.Pod{small, large} {
		if node, reasons := nodeOf(pod); node != "beijing-0" || reasons != "" {
			t.Errorf("%s goes to %q: %s", pod.Name, node, reasons)
		}
	}
	placeInFork := func(pod *corev1.Pod) {
		s.Fork()
		outcome, err := s.TrySchedule(t.Context(), pod)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Place(t.Context(), pod, outcome); err != nil {
			t.Fatal(err)
		}
	}
	placeInFork(small)
	want := "0/1 nodes are available: 1 Insufficient cpu."
	if node, reasons := nodeOf(large); node != "" || reasons != want {
		t.Errorf("beside the small one, the large one goes to %q: %q, want %q", node, reasons, want)
	}
	s.Revert()
	if node, _ := nodeOf(large); node != "beijing-0" {
		t.Error("after Revert the large one finds no node")
	}
	placeInFork(small)
	s.Commit()
	if node, reasons := nodeOf(large); node != "" || reasons != want {
		t.Errorf("after Commit the large one goes to %q: %q, want %q", node, reasons, want)
	}
}

func TestRoomLeavesNoTrace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		s := snapshot(t, w.objects...)
		first, err := s.Room(t.Context(), "beijing", w.sample, 30)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Room(t.Context(), "beijing", w.sample, 30)
		if diff := cmp.Diff(first, again); err != nil || diff != "" {
			t.Errorf("asked again: %v (-first +again):\n%s", err, diff)
		}
	})
}
