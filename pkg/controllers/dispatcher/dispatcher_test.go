// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
)

func TestNothingIsWrittenWithOneScheduler(t *testing.T) {
	h := newHarness(t, append(site("c1", "a", 1), shard("a", true), pod("p"))...)
	h.pass()
	if got := h.home("p"); got != "" {
		t.Errorf("the pod has the home %q", got)
	}
}

func TestPodsOfAPolicyGoWhereItHasFreeSeats(t *testing.T) {
	objects := append(two(), web(10)...)
	for i := range 10 {
		objects = append(objects, pod(fmt.Sprint("web-", i), ofWeb))
	}
	h := newHarness(t, objects...)
	h.pass()
	if diff := cmp.Diff(map[string]int{"a": 4, "b": 6}, h.count()); diff != "" {
		t.Errorf("pods by home (-want +got):\n%s", diff)
	}
}

func TestBoundPodsTakeUpSeats(t *testing.T) {
	for name, node := range map[string]string{"of a node": "c3-0", "of a node that has gone": "c3-9"} {
		t.Run(name, func(t *testing.T) {
			objects := append(two(), web(10)...)
			for i := range 6 {
				objects = append(objects, pod(fmt.Sprint("bound-", i), ofWeb, on(node), at("b"), stampedFor("c3")))
			}
			// Four seats are left, all with a. Two of the pods wait with b.
			objects = append(objects, pod("w0", ofWeb, at("b")), pod("w1", ofWeb, at("b")), pod("w2", ofWeb, at("a")), pod("w3", ofWeb))
			h := newHarness(t, objects...)
			h.pass()
			if diff := cmp.Diff(map[string]int{"a": 4, "b": 6}, h.count()); diff != "" {
				t.Errorf("pods by home (-want +got):\n%s", diff)
			}
		})
	}
}

// sitePools returns a ClusterResource with pools for the nodes of sites.
func sitePools(pairs ...string) *berthv1alpha1.ClusterResource {
	r := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence"}}
	for i := 0; i < len(pairs); i += 2 {
		r.Status.Allocatable = append(r.Status.Allocatable, berthv1alpha1.ClusterResourceQuantity{
			Name: pairs[i], Quantity: resource.MustParse(pairs[i+1]), NodeSelector: map[string]string{"site": pairs[i]},
		})
	}
	return r
}

// holder returns a pod that holds a licence of the site of its node.
func holder(name, node string) *corev1.Pod {
	return pod(name, licensed, on(node), func(p *corev1.Pod) {
		charge := []pool.Charge{{Resource: "licence", Pool: node[:2], Quantity: resource.MustParse("1")}}
		maps.Copy(p.Annotations, stamp.ChargeAnnotations(p, node, charge))
	})
}

// busy returns a pod that takes all of a node.
func busy(node string) *corev1.Pod { return pod("on-"+node, on(node), asking("4")) }

func asking(cpu string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}})
	}
}

// outOf keeps a pod out of sites.
func outOf(sites ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "site", Operator: corev1.NodeSelectorOpNotIn, Values: sites}},
			}}},
		}}
	}
}

func TestOtherPods(t *testing.T) {
	tests := map[string]struct {
		objects []client.Object
		pod     *corev1.Pod
		want    string
	}{
		"a node selector decides": {
			two(), pod("p", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"site": "c3"} }), "b",
		},
		"the least busy for its size": {
			two(pod("x", at("a")), pod("y", at("b"))), pod("p"), "a",
		},
		"whoever has a home keeps it": {two(pod("x", at("b")), pod("y", at("b"))), pod("p", at("b")), "b"},
		"a dead scheduler loses it":   {two(shard("dead", false)), pod("p", at("dead")), "a"},
		"a wish for a place": {
			two(func() client.Object {
				s := shard("far", true)
				s.Status.GeoLocations = []berthv1alpha1.GeoLocation{{City: "Berlin", Country: "DE"}}
				return s
			}(), site("c4", "far", 1)[0], site("c4", "far", 1)[1], pod("x", at("far")), pod("y", at("far"))),
			pod("p", func(p *corev1.Pod) {
				p.Annotations = map[string]string{berthv1alpha1.GeoLocationAnnotation: "country=DE"}
			}), "far",
		},
		"who asks for a ClusterResource goes where it has a pool": {
			two(&berthv1alpha1.ClusterResource{
				ObjectMeta: metav1.ObjectMeta{Name: "licence"},
				Status: berthv1alpha1.ClusterResourceStatus{Allocatable: []berthv1alpha1.ClusterResourceQuantity{
					{Name: "c3", Quantity: resource.MustParse("1"), NodeSelector: map[string]string{"site": "c3"}},
				}},
			}),
			pod("p", licensed), "b",
		},
		"who asks for a ClusterResource goes where something is left of it": {
			two(sitePools("c1", "2", "c3", "2"), holder("x", "c1-0"), holder("y", "c1-1"), holder("z", "c3-0")), pod("p", licensed), "b",
		},
		"who asks for a ClusterResource goes where something else is left, too": {
			two(sitePools("c1", "2", "c3", "2"), busy("c3-0"), busy("c3-1")), pod("p", licensed, asking("1")), "a",
		},
		"who was tried in vain goes where a node takes it": {
			append(two(busy("c3-0"), busy("c3-1"), shard("idle", true)), site("c4", "idle", 1)...),
			pod("p", at("gone"), unschedulable, asking("1"), outOf("c1", "c2")), "idle",
		},
		"who asks for a ClusterResource that does not exist goes anywhere": {two(), pod("p", licensed), "a"},
		"pods of other schedulers are left alone": {
			two(), pod("p", func(p *corev1.Pod) { p.Spec.SchedulerName = "default-scheduler" }), "",
		},
		"a cluster on its way counts for whom it goes to": {
			append([]client.Object{shard("a", true), shard("b", true)}, func() []client.Object {
				objects := site("c1", "a", 1)
				objects[0].(*berthv1alpha1.Cluster).Status.HomeTransfer = &berthv1alpha1.HomeTransfer{To: "b"}
				return objects
			}()...), pod("p"), "b",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, append(tc.objects, tc.pod)...)
			h.pass()
			if got := h.home("p"); got != tc.want {
				t.Errorf("home = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAGangHasOneHome(t *testing.T) {
	gang := func(p *corev1.Pod) { p.Labels["scheduling.x-k8s.io/pod-group"] = "g" }
	h := newHarness(t, two(pod("g0", gang), pod("g1", gang), pod("g2", gang))...)
	h.pass()
	if got := len(h.count()); got != 1 {
		t.Errorf("the gang is spread over %v", h.count())
	}
}

func TestAPodThatWasTriedInVainGoesToAnotherScheduler(t *testing.T) {
	h := newHarness(t, two(pod("p", at("a"), unschedulable))...)
	h.pass()
	h.clock.Step(5 * time.Second)
	h.pass()
	if got := h.home("p"); got != "a" {
		t.Fatalf("the pod goes to %q before its home had time", got)
	}
	h.clock.Step(6 * time.Second)
	h.pass()
	if got := h.home("p"); got != "b" {
		t.Fatalf("the pod stays with %q", got)
	}
	if err := h.api.Create(t.Context(), pod("x", on("c1-0"))); err != nil {
		t.Fatal(err)
	}
	h.clock.Step(15 * time.Second)
	h.pass()
	if got := h.home("p"); got != "b" {
		t.Fatalf("the pod goes on to %q before its second home had twice the time", got)
	}
	h.clock.Step(6 * time.Second)
	h.pass()
	if got := h.home("p"); got != "a" {
		t.Errorf("the pod stays with %q, although something has changed", got)
	}
}

// A pod that fits nowhere is written to each home once, and not again before something has changed
// by which it may find a node.
func TestNothingIsWrittenForAPodThatFitsNowhere(t *testing.T) {
	stays := pod("x", on("c1-0"))
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		more []client.Object
	}{
		"without a policy": {pod: pod("p", at("a"), unschedulable)},
		"with a policy":    {pod: pod("p", ofWeb, at("a"), unschedulable), more: web(1)},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, two(append(tc.more, stays.DeepCopy(), tc.pod)...)...)
			hour := func() (moves int) {
				for range 30 {
					before := h.home("p")
					h.pass()
					if h.home("p") != before {
						moves++
					}
					h.clock.Step(2 * time.Minute)
				}
				return moves
			}
			if first := hour(); first > 2 {
				t.Errorf("it has moved %d times in the first hour", first)
			}
			if again := hour(); again != 0 {
				t.Errorf("it has moved %d times in an hour in which nothing happened", again)
			}
			if err := h.api.Delete(t.Context(), stays.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			if after := hour(); tc.more == nil && (after < 1 || after > 2) {
				t.Errorf("it has moved %d times after something has changed", after)
			}
		})
	}
}
