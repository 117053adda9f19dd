// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// oneEach wants a replica in each cluster with the label tier: store.
func oneEach(mode berthv1alpha1.ScalingMode) func(*berthv1alpha1.PropagationPolicySpec) {
	return func(spec *berthv1alpha1.PropagationPolicySpec) {
		spec.Placement = berthv1alpha1.Placement{ClusterGroups: []berthv1alpha1.ClusterGroup{{
			Name: "stores", ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "store"}},
			ReplicasPerCluster: new(int32(1)),
		}}}
		spec.Scaling = &berthv1alpha1.Scaling{Mode: mode}
	}
}

// stores are clusters with a node and the label tier: store.
func stores(names ...string) []client.Object {
	var objects []client.Object
	for _, name := range names {
		store := newCluster(name, name+"-0")
		store.Labels = map[string]string{"tier": "store"}
		objects = append(objects, newNode(name+"-0"), store)
	}
	return objects
}

// replicas makes passes until what they write counts, and returns what the Deployment wants then.
func (h *harness) replicas() int32 {
	h.t.Helper()
	for range 3 {
		h.wait(time.Second)
		h.sync()
		h.pass()
	}
	d := &appsv1.Deployment{}
	if err := h.server.Get(h.t.Context(), client.ObjectKey{Namespace: namespace, Name: "web"}, d); err != nil {
		h.t.Fatal(err)
	}
	return *d.Spec.Replicas
}

func TestReplicasFollowTheClusters(t *testing.T) {
	h := newHarness(t, world(stores("a", "b", "c"), these(
		newPolicy("p", oneEach(berthv1alpha1.ScaleFollowClusters)), newDeployment(1), newReplicaSet("rs1", "1", 1)))...)
	expect := func(want int32) {
		t.Helper()
		if got := h.replicas(); got != want {
			t.Errorf("%d replicas, want %d; Scaled = %q", got, want, h.condition(berthv1alpha1.PolicyScaled))
		}
	}
	expect(3)
	for _, o := range stores("d") {
		h.create(o)
	}
	expect(4)
	h.online("d", metav1.ConditionFalse)
	h.wait(24 * time.Hour)
	expect(4)
	c := &berthv1alpha1.Cluster{}
	if err := h.server.Get(t.Context(), client.ObjectKey{Name: "c"}, c); err != nil {
		t.Fatal(err)
	}
	c.Spec.Unschedulable = true
	if err := h.server.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	expect(4)
	d := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "d"}}
	if err := h.server.Delete(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	expect(3)
	if got, want := h.condition(berthv1alpha1.PolicyScaled), "True FollowsClusters: the clusters want 3 replicas"; got != want {
		t.Errorf("Scaled = %q, want %q", got, want)
	}
}

func TestAWorkloadThatChangesMeanwhileIsNotCalledScaled(t *testing.T) {
	h := newHarness(t, world(stores("a", "b", "c"), these(
		newPolicy("p", oneEach(berthv1alpha1.ScaleFollowClusters)), newDeployment(1), newReplicaSet("rs1", "1", 1)))...)
	h.fail = func(verb string, o runtime.Object) error {
		if verb != "update scale" {
			return nil
		}
		return apierrors.NewConflict(appsv1.Resource("deployments"), "web", errors.New("changed"))
	}
	if got := h.replicas(); got != 1 {
		t.Errorf("%d replicas, want 1", got)
	}
	want := "False NotScalable: Deployment web has 1 replica and its clusters want 3: it has changed meanwhile"
	if got := h.condition(berthv1alpha1.PolicyScaled); got != want {
		t.Errorf("Scaled = %q, want %q", got, want)
	}
	h.fail = nil
	if got := h.replicas(); got != 3 {
		t.Errorf("%d replicas, want 3", got)
	}
}

func TestNobodyScalesWhatAnAutoscalerDoes(t *testing.T) {
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta("auto"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
	}}
	// Three is what the clusters want.
	for has, want := range map[int32]string{
		1: "False Autoscaled: Deployment web has 1 replica and its clusters want 3: HorizontalPodAutoscaler auto sets it",
		3: "False Autoscaled: Deployment web has 3 replicas and its clusters want 3: HorizontalPodAutoscaler auto sets it",
	} {
		h := newHarness(t, world(stores("a", "b", "c"), these(
			newPolicy("p", oneEach(berthv1alpha1.ScaleFollowClusters)), newDeployment(has), newReplicaSet("rs1", "1", has), autoscaler))...)
		if got := h.replicas(); got != has {
			t.Errorf("%d replicas, want %d", got, has)
		}
		if got := h.condition(berthv1alpha1.PolicyScaled); got != want {
			t.Errorf("Scaled = %q, want %q", got, want)
		}
	}
}

func TestAutoscalersAreReadAtEachPassOnlyWhereSomethingIsToBeSet(t *testing.T) {
	const right, wrong = 3, 1
	for has, want := range map[int32]int{right: 2, wrong: 4} {
		h := newHarness(t, world(stores("a", "b", "c"), these(newPolicy("p", oneEach(berthv1alpha1.ScaleFollowClusters)), newDeployment(has),
			newReplicaSet("rs1", "1", has)))...)
		reads := 0
		h.fail = func(verb string, object runtime.Object) error {
			switch object.(type) {
			case *autoscalingv2.HorizontalPodAutoscalerList:
				reads++
			case *appsv1.Deployment:
				return errors.New("not now")
			}
			return nil
		}
		for range 3 {
			h.pass()
			h.wait(10 * time.Second)
		}
		h.wait(10 * time.Second)
		h.pass()
		if reads != want {
			t.Errorf("with %d replicas read %d times in four passes, want %d", has, reads, want)
		}
	}
}

func TestWhatClustersWantIsTold(t *testing.T) {
	for _, tc := range []struct {
		clusters []string
		want     string
	}{
		{[]string{"a", "b", "c"}, "3 clusters want 1 each, the Deployment has 2: kubectl scale -n " + namespace + " deployment/web --replicas=3"},
		{[]string{"a"}, "1 cluster wants 1, the Deployment has 2: kubectl scale -n " + namespace + " deployment/web --replicas=1"},
	} {
		h := newHarness(t, world(stores(tc.clusters...), these(
			newPolicy("p", oneEach(berthv1alpha1.ScaleNone)), newDeployment(2), newReplicaSet("rs1", "1", 2)))...)
		if got := h.replicas(); got != 2 {
			t.Errorf("%d replicas, want 2", got)
		}
		if got := h.condition(berthv1alpha1.PolicyPlaced); !strings.Contains(got, tc.want) {
			t.Errorf("Placed = %q, want it to tell %q", got, tc.want)
		}
		if got := h.condition(berthv1alpha1.PolicyScaled); got != "" {
			t.Errorf("Scaled = %q, want none", got)
		}
	}
}
