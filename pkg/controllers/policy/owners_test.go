// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// oneRing confirms the owner that has its UID.
type oneRing struct{ *workload.FurtherOwner }

func (o oneRing) Further(_ string, ref *metav1.OwnerReference) (*workload.FurtherOwner, error) {
	if ref.UID == o.GetUID() {
		return o.FurtherOwner, nil
	}
	return nil, fmt.Errorf("%s %s: %w", ref.Kind, ref.Name, workload.ErrUnconfirmed)
}

func (oneRing) Listen(func(string, types.UID)) {}

func (oneRing) Problem(schema.GroupKind) error { return nil }

// Pods count for an object of an operator if it is their owner, and not because they say so: the
// forged ones take no seats and get none, and are not moved.
func TestPodsOfOperatorsAreConfirmed(t *testing.T) {
	pod := func(name, node string, uid types.UID) *corev1.Pod {
		return webPod(name, node, 0, unstamped, func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Ring", Name: "ring", UID: uid, Controller: new(true)}}
		})
	}
	h := newHarness(t, world(sites(), these(
		newPolicy("p", func(spec *berthv1alpha1.PropagationPolicySpec) {
			spec.ResourceSelectors[0] = berthv1alpha1.ResourceSelector{APIVersion: "example.com/v1", Kind: "Ring", Name: "ring"}
		}),
		pod("real-0", "hangzhou-0", "real"), pod("real-1", "beijing-0", "real"),
		pod("forged-0", "hangzhou-0", "forged"), pod("forged-1", "hangzhou-0", "forged"), pod("forged-2", "beijing-0", "forged"),
	))...)
	h.Owners = oneRing{&workload.FurtherOwner{
		Object: &metav1.ObjectMeta{Namespace: namespace, Name: "ring", UID: "real"}, Replicas: 2, ReplicasKnown: true,
	}}
	h.settle()
	want := map[string]string{"real-0": "p hangzhou 0 0", "real-1": "p beijing 1 -1000"}
	for name := range h.pods() {
		if want[name] == "" {
			if annotations := h.pods()[name].Annotations; len(annotations) > 0 {
				t.Errorf("pod %s has the annotations %v", name, annotations)
			}
			continue
		}
		if got := h.stampOf(name); got != want[name] {
			t.Errorf("pod %s is stamped %q, want %q", name, got, want[name])
		}
	}
	if got := h.evicted(); len(got) > 0 {
		t.Errorf("%v are evicted", got)
	}
}

// Why the number of an object cannot be read is told where its author looks, and the pods are
// placed as those of a kind without a number.
func TestANumberThatCannotBeReadIsTold(t *testing.T) {
	h := newHarness(t, world(sites(), these(
		newPolicy("p", func(spec *berthv1alpha1.PropagationPolicySpec) {
			spec.ResourceSelectors[0] = berthv1alpha1.ResourceSelector{APIVersion: "example.com/v1", Kind: "Ring", Name: "ring"}
		}),
		webPod("ring-0", "hangzhou-0", 0, func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Ring", Name: "ring", UID: "real", Controller: new(true)}}
		}),
	))...)
	ring := &workload.FurtherOwner{
		Object: &metav1.ObjectMeta{Namespace: namespace, Name: "ring", UID: "real"}, Unreadable: `/spec/size must be a whole number, not "three"`,
	}
	h.Owners = oneRing{ring}
	h.settle()
	told := `pods of these workloads take turns, because their number cannot be read: Ring ring: /spec/size must be a whole number, not "three"`
	if got := h.condition(berthv1alpha1.PolicyPlaced); !strings.Contains(got, told) {
		t.Errorf("the policy says %q, want %q", got, told)
	}
	ring.Unreadable, ring.Replicas, ring.ReplicasKnown = "", 1, true
	h.settle()
	if got := h.condition(berthv1alpha1.PolicyPlaced); strings.Contains(got, "turns") {
		t.Errorf("the policy says %q of a number that can be read", got)
	}
}
