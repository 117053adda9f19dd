// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
)

// beijingHas are the sites, of which beijing has so many CPUs.
func beijingHas(cpus string) []client.Object {
	return these(
		newNode("beijing-0", func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(cpus) }),
		newNode("hangzhou-0"), newCluster("beijing", "beijing-0"), newCluster("hangzhou", "hangzhou-0"),
	)
}

// inNamespace moves objects of these tests to another namespace, with UIDs of their own.
func inNamespace(to string, objects []client.Object) []client.Object {
	for _, object := range objects {
		object.SetNamespace(to)
		object.SetUID(types.UID(to) + "-" + object.GetUID())
		owners := object.GetOwnerReferences()
		for i := range owners {
			owners[i].UID = types.UID(to) + "-" + owners[i].UID
		}
		object.SetOwnerReferences(owners)
		if pod, is := object.(*corev1.Pod); is {
			given, _ := stamp.Of(pod)
			given.Policy = "p"
			pod.Annotations = given.Annotations(pod, pod.Spec.NodeName)
		}
	}
	return objects
}

// Whoever asks while a namespace evicts its pods does not count on the room that it has found for
// their replacements.
func TestRoomIsTakenBeforeTheFirstEviction(t *testing.T) {
	h := newHarness(t, world(
		beijingHas("6"), placed(), wrong(), inNamespace("other", world(placed(), wrong())),
	)...)
	before := h.room("beijing")
	if before != 2 {
		t.Fatalf("there is room for %d pods in beijing, want 2", before)
	}
	var meanwhile []int
	asked := false
	h.evictor.refuse = func(pod *corev1.Pod) error {
		if asked || pod.Namespace != namespace {
			return nil
		}
		asked = true
		meanwhile = append(meanwhile, h.room("beijing"))
		_, err := h.Reconcile(t.Context(), "other")
		return err
	}
	h.pass()
	if got := h.evicted(); len(got) != 2 {
		t.Errorf("%v are evicted, and there is room for 2", got)
	}
	if diff := cmp.Diff([]int{0}, meanwhile); diff != "" {
		t.Errorf("room beside what was promised, before the first eviction, mismatch (-want +got):\n%s", diff)
	}
	forget(h, "other")
}

// forget deletes the policy of a namespace, and lets the controller see that.
func forget(h *harness, namespace string) {
	h.t.Helper()
	gone := newPolicy("p")
	gone.Namespace = namespace
	if err := h.server.Delete(h.t.Context(), gone); err != nil {
		h.t.Fatal(err)
	}
	h.sync()
	if _, err := h.Reconcile(h.t.Context(), namespace); err != nil {
		h.t.Fatal(err)
	}
}

// What was taken for pods that are not evicted after all is free again after the round.
func TestRoomOfPodsThatStayIsGivenBack(t *testing.T) {
	h := newHarness(t, world(beijingHas("4"), placed(), wrong())...)
	h.evictor.refuse = refusedByBudget(0)
	h.pass()
	if got := h.room("beijing"); got != 2 {
		t.Errorf("there is room for %d pods in beijing, want 2", got)
	}
}

// Pods with fixed seats each fit where they belong, but not all of them together.
func TestFixedSeatsShareTheRoom(t *testing.T) {
	ofSet := func(p *corev1.Pod) {
		p.OwnerReferences[0] = owner("apps/v1", "StatefulSet", "db")
		p.Labels = map[string]string{"app": "db", appsv1.ControllerRevisionHashLabelKey: "r"}
	}
	set := &appsv1.StatefulSet{
		ObjectMeta: meta("db"),
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(4)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, Template: template(),
		},
		Status: appsv1.StatefulSetStatus{ObservedGeneration: 1, CurrentRevision: "r", UpdateRevision: "r"},
	}
	for cpus, want := range map[string]int{"1": 1, "3": 3, "9": 4} {
		t.Run(cpus, func(t *testing.T) {
			p := newPolicy("p", func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Placement.StaticWeightList = weigh(1, 1)[:1]
			})
			p.Spec.ResourceSelectors[0].Kind, p.Spec.ResourceSelectors[0].Name = "StatefulSet", "db"
			objects := world(beijingHas(cpus), these(set.DeepCopy(), p))
			for seat, name := range []string{"db-0", "db-1", "db-2", "db-3"} {
				objects = append(objects, webPod(name, "hangzhou-0", int32(seat), ofSet))
			}
			h := newHarness(t, objects...)
			h.pass()
			if got := h.evicted(); len(got) != want {
				t.Errorf("%v are evicted, and there is room for %d: %s", got, want, h.condition(berthv1alpha1.PolicyPlaced))
			}
		})
	}
}
