// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/history"
)

// remembered waits until so much is remembered of the Deployment "web", and returns it as "POD
// DECISION message (for KIND NAME)", sorted.
func (h *harness) remembered(n int) []string {
	h.t.Helper()
	deployment := history.Object{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: "web"}
	var told []string
	err := wait.PollUntilContextTimeout(h.t.Context(), time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		told = nil
		for _, e := range h.ring.Find(deployment, func(history.Object) bool { return true }).Entries {
			told = append(told, fmt.Sprintf("%s %s %s (for %s %s)", e.About.Name, e.Decision, e.Message, e.For.Kind, e.For.Name))
		}
		return len(told) >= n, nil
	})
	if err != nil {
		h.t.Fatalf("remembered %v, want %d entries", told, n)
	}
	slices.Sort(told)
	return told
}

func TestEvictionsAreRememberedWithWhoAskedForThem(t *testing.T) {
	yes := true
	owned := newPolicy("p")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "berth.dev/v1alpha1", Kind: "Application", Name: "shop", UID: "a", Controller: &yes}}
	for name, test := range map[string]struct {
		policy *berthv1alpha1.PropagationPolicy
		refuse error
		want   string
	}{
		"for a policy": {policy: newPolicy("p"),
			want: " Evicted from cluster hangzhou, which has 10 and should have 6, to beijing, which has 0 and should have 4; policy p (for PropagationPolicy p)"},
		"for an Application": {policy: owned,
			want: " Evicted from cluster hangzhou, which has 10 and should have 6, to beijing, which has 0 and should have 4; policy p (for Application shop)"},
		"refused": {policy: newPolicy("p"), refuse: apierrors.NewTooManyRequests("a budget", 10),
			want: " EvictionRefused a budget (for PropagationPolicy p)"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, world(sites(), unplaced(slices.Repeat([]string{"hangzhou"}, 10), marked), these(test.policy))...)
			if test.refuse != nil {
				h.evictor.refuse = func(*corev1.Pod) error { return test.refuse }
			}
			h.settle()
			if told := h.remembered(11); !slices.ContainsFunc(told, func(text string) bool { return strings.HasSuffix(text, test.want) }) {
				t.Errorf("remembered:\n%s\nwant among them:\n%s", strings.Join(told, "\n"), test.want)
			}
		})
	}
}

func TestAdoptionIsRemembered(t *testing.T) {
	h := newHarness(t, world(sites(), unplaced([]string{"beijing", "beijing"}, marked), []client.Object{newPolicy("p", never)})...)
	h.pass()
	want := []string{
		"web-0 Adopted by policy p in cluster beijing, seat 1 (for PropagationPolicy p)",
		"web-1 Adopted by policy p in cluster beijing, beyond its share (for PropagationPolicy p)",
	}
	if diff := cmp.Diff(want, h.remembered(2)); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
}
