// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Once a cluster is left, the policy tells of the pods there as long as they exist, whoever is to
// end them; Berth itself evicts those whose nodes can be reached.
func TestWhoEndsThePodsOfAClusterThatWasLeft(t *testing.T) {
	const exist = "3 replicas have seats elsewhere; their pods on hangzhou still exist"
	away := func(h *harness) {
		change(h, newNode("hangzhou-0"), func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
		})
	}
	drop := func(h *harness, names ...string) {
		for _, name := range names {
			if err := h.server.Delete(h.t.Context(), h.pods()[name]); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	goes := func(h *harness) {
		if err := h.server.Delete(h.t.Context(), newNode("hangzhou-0")); err != nil {
			h.t.Fatal(err)
		}
	}
	tests := map[string]struct {
		happens     func(h *harness)
		want        string
		wantEvicted bool
	}{
		"the node is away":                               {happens: away, want: exist},
		"the Node is deleted, its pods are not yet":      {happens: goes, want: exist},
		"the Node is deleted, and Kubernetes its pods":   {happens: func(h *harness) { goes(h); drop(h, "web-0", "web-2", "web-4") }},
		"Kubernetes deletes by force, as out of service": {happens: func(h *harness) { away(h); drop(h, "web-0", "web-2", "web-4") }},
		"the node is ready and cordoned, Berth evicts": {
			happens: func(h *harness) {
				change(h, newNode("hangzhou-0"), func(n *corev1.Node) { n.Spec.Unschedulable = true })
			},
			want: "False Rebalancing", wantEvicted: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, world(sites(), placed(), these(newPolicy("p", failingOver("5m"))))...)
			tc.happens(h)
			h.online("beijing", metav1.ConditionTrue)
			h.online("hangzhou", metav1.ConditionFalse)
			h.wait(5 * time.Minute)
			h.look()
			got := h.condition(berthv1alpha1.PolicyPlaced)
			if !strings.Contains(got, tc.want) || tc.want == "" && strings.Contains(got, "still exist") {
				t.Errorf("Placed = %q, want it to tell %q", got, tc.want)
			}
			if evicted := len(h.evictor.evicted) > 0; evicted != tc.wantEvicted {
				t.Errorf("Berth evicts %v", h.evictor.evicted)
			}
		})
	}
}
