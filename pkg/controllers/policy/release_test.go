// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// mark is what stays on the pod "web-1" of these tests.
var mark = map[string]string{berthv1alpha1.PlacedByAnnotation: "web-1/beijing-0"}

func TestWhatADeletedPolicyLeavesOnItsPods(t *testing.T) {
	workloadOf := func(changes ...func(*appsv1.Deployment)) []client.Object {
		return these(newDeployment(1, changes...), newReplicaSet("rs1", "1", 1))
	}
	asking := func(d *appsv1.Deployment) {
		d.Spec.Template.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "p"}
	}
	other := newPolicy("other", func(spec *berthv1alpha1.PropagationPolicySpec) { spec.ResourceSelectors[0].Name = "other" })
	leaving := newPolicy("p")
	leaving.Finalizers, leaving.DeletionTimestamp = []string{"example.com/wait"}, &leaving.CreationTimestamp
	with := func(key, value string) map[string]string {
		return map[string]string{berthv1alpha1.PlacedByAnnotation: "web-1/beijing-0", key: value}
	}
	tests := map[string]struct {
		objects []client.Object
		want    map[string]string
	}{
		"the mark":              {world(workloadOf(), these(webPod("web-1", "beijing-0", 1))), mark},
		"beside other policies": {world(workloadOf(), these(webPod("web-1", "beijing-0", 1), other)), mark},
		"of a policy that is about to go": {
			world(workloadOf(), these(webPod("web-1", "beijing-0", 1), leaving)), mark,
		},
		"of a pod without an owner":           {these(webPod("web-1", "beijing-0", 1, func(p *corev1.Pod) { p.OwnerReferences = nil })), mark},
		"of a pod that runs beyond the share": {world(workloadOf(), these(webPod("web-1", "beijing-0", -1))), mark},
		"a deletion cost of the user's own": {
			world(workloadOf(), these(webPod("web-1", "beijing-0", 1, annotated(corev1.PodDeletionCost, "7")))),
			with(corev1.PodDeletionCost, "7"),
		},
		"the request of the template": {
			world(workloadOf(asking), these(webPod("web-1", "beijing-0", 1))), with(berthv1alpha1.PolicyAnnotation, "p"),
		},
		"the request of another policy": {
			world(workloadOf(), these(webPod("web-1", "beijing-0", 1, annotated(berthv1alpha1.PolicyAnnotation, "none")))),
			with(berthv1alpha1.PolicyAnnotation, "none"),
		},
		"what the pod was charged": {
			world(workloadOf(), these(webPod("web-1", "beijing-0", 1, annotated(berthv1alpha1.ChargedAnnotation, "licence/all=1")))),
			with(berthv1alpha1.ChargedAnnotation, "licence/all=1"),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, tc.objects...)
			h.pass()
			if diff := cmp.Diff(tc.want, h.pods()["web-1"].Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			h.settle()
			if got := h.evicted(); len(got) != 0 {
				t.Errorf("%v are evicted", got)
			}
		})
	}
}

func TestADeletedPolicyIsTakenBackInOnePass(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p")))...)
	h.settle()
	if err := h.server.Delete(t.Context(), newPolicy("p")); err != nil {
		t.Fatal(err)
	}
	h.sync()
	h.writes = nil
	h.pass()
	for name := range h.pods() {
		if got := h.stampOf(name); got != "not stamped" {
			t.Errorf("%s is stamped %q", name, got)
		}
	}
	if len(h.writes) != 5 {
		t.Errorf("%v is written, want one write for each of 5 pods", h.writes)
	}
}

// A policy that the cache has not heard of yet has placed its pods already.
func TestStampsStayUntilTheServerSaysThatNoPolicyIsInForce(t *testing.T) {
	broken := errors.New("the server is down")
	tests := map[string]func(*harness){
		"the policy is not in the cache": func(h *harness) { h.create(newPolicy("p")) },
		"policies cannot be listed": func(h *harness) {
			h.fail = func(verb string, object runtime.Object) error {
				if _, policies := object.(*berthv1alpha1.PropagationPolicyList); policies && verb == "list" {
					return broken
				}
				return nil
			}
		},
	}
	for name, happens := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, world(sites(), placed())...)
			happens(h)
			if _, err := h.Reconcile(t.Context(), namespace); err != nil && !errors.Is(err, broken) {
				t.Fatalf("Reconcile() = %v", err)
			}
			h.fail = nil
			if i := slices.IndexFunc(h.writes, func(w string) bool { return w[:5] == "patch" }); i >= 0 {
				t.Errorf("there is a %s", h.writes[i])
			}
		})
	}
}
