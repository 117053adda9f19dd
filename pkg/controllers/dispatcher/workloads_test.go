// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// policyFor selects one workload, and gives c1 and c3 one part each: their seats are c1 c3 c1 c3.
func policyFor(apiVersion, kind, name string) *berthv1alpha1.PropagationPolicy {
	p := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "policy"}}
	p.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: apiVersion, Kind: kind, Name: name}}
	p.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{"c1", "c3"}, Weight: 1}}
	return p
}

func ownedBy(apiVersion, kind, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "owner", Controller: new(true)}}
	}
}

// statefulSet is one whose pods are numbered from 4.
func statefulSet() *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "db", UID: "owner"}}
	set.Spec.Replicas, set.Spec.Ordinals = new(int32(4)), &appsv1.StatefulSetOrdinals{Start: 4}
	set.Spec.Template.Spec.SchedulerName = "berth-scheduler"
	return set
}

func TestPodsOfWorkloadsOfAllSorts(t *testing.T) {
	ofSet, ofCloneSet := ownedBy("apps/v1", "StatefulSet", "db"), ownedBy("apps.kruise.io/v1alpha1", "CloneSet", "cache")
	setPolicy, cachePolicy := policyFor("apps/v1", "StatefulSet", "db"), policyFor("apps.kruise.io/v1alpha1", "CloneSet", "cache")
	lax := cachePolicy.DeepCopy()
	lax.Spec.Placement.WhenUnsatisfiable = berthv1alpha1.ScheduleAnyway
	full := cachePolicy.DeepCopy()
	full.Spec.Placement.StaticWeightList[0].ClusterNames = []string{"c3"}
	full.Spec.Placement.StaticWeightList[0].Max = new(int32(1))
	laxAndFull := full.DeepCopy()
	laxAndFull.Spec.Placement.WhenUnsatisfiable = berthv1alpha1.ScheduleAnyway
	invalid := setPolicy.DeepCopy()
	invalid.Spec.Placement.StaticWeightList[0].Weight = 0
	tests := map[string]struct {
		objects []client.Object
		want    map[string]int // pods by home
	}{
		"numbers are seats": {
			[]client.Object{statefulSet(), setPolicy, pod("db-4", ofSet), pod("db-6", ofSet)}, map[string]int{"a": 2},
		},
		"numbers are seats, of the other cluster": {
			[]client.Object{statefulSet(), setPolicy, pod("db-5", ofSet), pod("db-7", ofSet)}, map[string]int{"b": 2},
		},
		"a policy that cannot be carried out has no seats": {
			[]client.Object{statefulSet(), invalid, pod("db-5", ofSet)}, map[string]int{"a": 1},
		},
		"a workload of another scheduler": {
			[]client.Object{statefulSet(), setPolicy, pod("db-5", ofSet, func(p *corev1.Pod) { p.Spec.SchedulerName = "other" })},
			map[string]int{"": 1},
		},
		"by turn": {
			[]client.Object{cachePolicy, pod("x", ofCloneSet, on("c1-0"), at("a")), pod("y", ofCloneSet)}, map[string]int{"a": 1, "b": 1},
		},
		"by turn, and the cluster is full": {
			[]client.Object{full, pod("x", ofCloneSet, on("c3-0"), at("b")), pod("y", ofCloneSet)}, map[string]int{"b": 2},
		},
		"by turn, and the cluster is full, with ScheduleAnyway": {
			[]client.Object{laxAndFull, pod("x", ofCloneSet, on("c3-0"), at("b")), pod("y", ofCloneSet)}, map[string]int{"a": 1, "b": 1},
		},
		"by turn, with ScheduleAnyway": {
			[]client.Object{lax, pod("x", ofCloneSet, on("c1-0"), at("a")), pod("y", ofCloneSet)}, map[string]int{"a": 1, "b": 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, two(tc.objects...)...)
			h.pass()
			if diff := cmp.Diff(tc.want, h.count()); diff != "" {
				t.Errorf("pods by home (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNodesInNoClusterBelongToOneScheduler(t *testing.T) {
	spare := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "spare", Labels: map[string]string{"spare": "true"}}}
	objects := two(spare, pod("p", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"spare": "true"} }))
	for _, o := range objects {
		if s, ok := o.(*berthv1alpha1.Scheduler); ok && s.Name == "b" {
			s.Status.Commons = &berthv1alpha1.Commons{}
		}
	}
	h := newHarness(t, objects...)
	h.pass()
	if got := h.home("p"); got != "b" {
		t.Errorf("home %q, want b", got)
	}
}

func TestGeoLocations(t *testing.T) {
	there := berthv1alpha1.GeoLocation{City: "Berlin", Province: "BE", Area: "East", Country: "DE"}
	long := make([]byte, 601)
	for name, tc := range map[string]struct{ text, want string }{
		"a city":                        {"city=Berlin", "b"},
		"all of it, with spaces":        {"city = Berlin, province=BE,area= East ,country=DE", "b"},
		"another province":              {"province=BB", "a"},
		"another area":                  {"area=West,country=DE", "a"},
		"what is not understood":        {"planet=Mars", "a"},
		"more than anybody would write": {"city=Berlin," + string(long), "a"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := two(pod("p", annotated(berthv1alpha1.GeoLocationAnnotation, tc.text)))
			for _, o := range objects {
				if s, ok := o.(*berthv1alpha1.Scheduler); ok && s.Name == "b" {
					s.Status.GeoLocations = []berthv1alpha1.GeoLocation{there}
				}
			}
			h := newHarness(t, objects...)
			h.pass()
			if got := h.home("p"); got != tc.want {
				t.Errorf("home %q, want %s", got, tc.want)
			}
		})
	}
}
