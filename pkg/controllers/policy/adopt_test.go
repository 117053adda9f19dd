// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/metricstest"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/rebalance"
)

// marked is a pod that Berth bound without a policy.
func marked(p *corev1.Pod) { p.Annotations = stamp.Mark(p, p.Spec.NodeName) }

// scheduledBy makes a pod one of another scheduler.
func scheduledBy(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.SchedulerName = name }
}

// unplaced are pods of the Deployment "web" on one node each of the clusters, in the order given.
func unplaced(clusters []string, changes ...func(*corev1.Pod)) []client.Object {
	replicas := int32(len(clusters))
	objects := []client.Object{newDeployment(replicas), newReplicaSet("rs1", "1", replicas)}
	for i, site := range clusters {
		objects = append(objects, webPod(fmt.Sprintf("web-%d", i), site+"-0", 0, append([]func(*corev1.Pod){unstamped}, changes...)...))
	}
	return objects
}

func TestAdoption(t *testing.T) {
	one := []string{"beijing"}
	stray := annotated(berthv1alpha1.ChargedAnnotation, "licence/all=1")
	runRestamp(t, map[string]restampCase{
		"pods that Berth bound before the policy": {
			objects: world(sites(), unplaced([]string{"beijing", "beijing", "hangzhou"}, marked), these(newPolicy("p", never))),
			want:    map[string]string{"web-0": "p beijing 1 -1000", "web-1": "p beijing -1 " + surplusCost, "web-2": "p hangzhou 0 0"},
		},
		"pods that another scheduler bound before Berth came": {
			objects: world(sites(), unplaced(one), these(newPolicy("p", never))),
			want:    map[string]string{"web-0": "p beijing -1 " + surplusCost},
		},
		"pods of another scheduler are left alone": {
			objects: world(sites(), unplaced(one, marked, scheduledBy("default-scheduler")), these(newPolicy("p", never))),
			want:    map[string]string{"web-0": "not stamped"},
		},
		"a pod with a deletion cost of the user's keeps it": {
			objects: world(sites(), unplaced(one, marked, annotated(corev1.PodDeletionCost, "7")), these(newPolicy("p", never))),
			want:    map[string]string{"web-0": "p beijing -1 7"},
		},
		"a pod that wants no policy is left alone": {
			objects: world(sites(), unplaced(one, marked, annotated(berthv1alpha1.PolicyAnnotation, "none")), these(newPolicy("p", never))),
			want:    map[string]string{"web-0": "not stamped"},
		},
		"a pod with charges that nobody made is left alone": {
			objects: world(sites(), unplaced(one, stray), these(newPolicy("p", never))),
			want:    map[string]string{"web-0": "not stamped"},
		},
		"a pod that Berth charged is adopted": {
			objects: world(sites(), unplaced(one, marked, stray), these(newPolicy("p", never))),
			want:    map[string]string{"web-0": "p beijing -1 " + surplusCost},
		},
		"what a template has copied onto a pod is put right": {
			objects: world(sites(), unplaced(one, annotated(berthv1alpha1.SeatAnnotation, "5"), annotated(berthv1alpha1.PlacedByAnnotation, "x/y")),
				these(newPolicy("p", never))),
			want: map[string]string{"web-0": "p beijing -1 " + surplusCost},
		},
		"a pod whose controller cannot be confirmed is left alone": {
			objects: world(sites(), these(newDeployment(1), newReplicaSet("rs1", "1", 1), newPolicy("p", never),
				webPod("web-0", "beijing-0", 0, marked, func(p *corev1.Pod) { p.OwnerReferences[0].UID = "another" }))),
			want: map[string]string{"web-0": "not stamped"},
		},
	})
}

func TestAdoptionTakesOneWriteForEachPodAndNoPass(t *testing.T) {
	before := metricstest.Value(t, "berth_adopted_pods_total", "")
	h := newHarness(t, world(sites(), unplaced(slices.Repeat([]string{"hangzhou"}, 10), marked), these(newPolicy("p", never)))...)
	h.pass()
	if got := metricstest.Value(t, "berth_adopted_pods_total", "") - before; got != 10 {
		t.Errorf("%v adopted pods are counted, want 10", got)
	}
	patches := slices.DeleteFunc(slices.Clone(h.writes), func(w string) bool { return !strings.HasPrefix(w, "patch *v1.Pod") })
	if len(patches) != 10 {
		t.Errorf("%v is written, want one write for each of 10 pods", patches)
	}
	seated := 0
	for name := range h.pods() {
		if !strings.HasSuffix(h.stampOf(name), surplusCost) {
			seated++
		}
	}
	if seated != 6 {
		t.Errorf("%d pods hold a seat, want the share of hangzhou, 6", seated)
	}
}

// A Deployment that was there before its policy ends up as one that came after.
func TestAnAdoptedWorkloadIsBroughtIntoShape(t *testing.T) {
	h := newHarness(t, world(sites(), unplaced(slices.Repeat([]string{"hangzhou"}, 10), marked), these(newPolicy("p")))...)
	moved := 0
	for range 5 {
		h.settle()
		for _, name := range h.evicted() {
			moved++
			h.replace("new-"+name, "beijing-0", []int32{1, 3, 6, 8}[moved-1])
		}
	}
	if moved != 4 {
		t.Errorf("%d pods are evicted, want the 4 that are misplaced", moved)
	}
	for _, event := range h.events() {
		if strings.HasPrefix(event, "Warning") {
			t.Errorf("%q is told, although nobody has to do anything", event)
		}
	}
	counts := map[string]int{}
	for _, pod := range h.pods() {
		counts[pod.Spec.NodeName]++
	}
	if diff := cmp.Diff(map[string]int{"beijing-0": 4, "hangzhou-0": 6}, counts); diff != "" {
		t.Errorf("pods by node (-want +got):\n%s", diff)
	}
}

// Policy, workload, Clusters and nodes can come in any order, with passes in between: the order of
// the pods by their deletion costs is the same in the end, and nobody is evicted for it. Which of
// the pods of a cluster is where in it may differ, and a pod that got its place while another was
// missing stands after the seat.
func TestOrdersEndTheSame(t *testing.T) {
	all := world(sites(), unplaced([]string{"hangzhou", "beijing", "beijing", "hangzhou", "hangzhou"}), these(newPolicy("p", never)))
	stamps := func(h *harness) []string {
		var found []string
		for name := range h.pods() {
			text := h.stampOf(name)
			at := strings.LastIndex(text, " ")
			cost, err := strconv.Atoi(text[at+1:])
			if err != nil {
				t.Fatalf("%q has no cost: %v", text, err)
			}
			found = append(found, fmt.Sprintf("%s %d", text[:at], cost/rebalance.Spacing*rebalance.Spacing))
		}
		slices.Sort(found)
		return found
	}
	want := []string{"p beijing 1 -1000", "p beijing 3 -3000", "p hangzhou 0 0", "p hangzhou 2 -2000", "p hangzhou 4 -4000"}
	orders, choice := rapid.Permutation(all), rapid.IntRange(0, len(all)-1)
	for seed := range 15 {
		h := newHarness(t)
		pass := choice.Example(seed)
		for i, object := range orders.Example(seed) {
			copied, ok := object.DeepCopyObject().(client.Object)
			if !ok {
				t.Fatalf("%T cannot be copied", object)
			}
			copied.SetResourceVersion("")
			if pod, bound := copied.(*corev1.Pod); bound && (seed+i)%2 == 0 {
				marked(pod)
			}
			h.create(copied)
			if i == pass {
				h.settle()
			}
		}
		h.settle()
		if diff := cmp.Diff(want, stamps(h)); diff != "" {
			t.Errorf("order %d: stamps (-want +got):\n%s", seed, diff)
		}
		if got := h.evicted(); len(got) > 0 {
			t.Errorf("order %d: %v are evicted", seed, got)
		}
	}
}
