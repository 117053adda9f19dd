// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
)

var errBroken = errors.New("broken")

// failList makes lists of one type fail.
func (h *harness) failList(kind string, err error) {
	h.Helper()
	watching, ok := h.api.(client.WithWatch)
	if !ok {
		h.Fatalf("a client of type %T cannot be wrapped", h.api)
	}
	h.Client = interceptor.NewClient(watching, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if gvk, known := c.GroupVersionKindFor(list); known == nil && gvk.Kind == kind {
				return err
			}
			return c.List(ctx, list, opts...)
		},
	})
	h.Topology = state.NewTracker(h.Client)
}

func TestWhatCannotBeReadStopsThePass(t *testing.T) {
	for kind, want := range map[string]string{
		"SchedulerList":         "listing schedulers: broken",
		"PodList":               "listing pods: broken",
		"ClusterList":           "broken",
		"NodeList":              "broken",
		"PropagationPolicyList": "listing the policies of namespace default: broken",
		"DeploymentList":        "broken",
		"ClusterResourceList":   "listing cluster resources: broken",
	} {
		t.Run(kind, func(t *testing.T) {
			h := newHarness(t, two(append(web(2), pod("p"))...)...)
			h.failList(kind, errBroken)
			_, err := h.Reconcile(h.Context(), singleton.Key{})
			if !errors.Is(err, errBroken) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			if got := h.home("p"); got != "" {
				t.Errorf("the pod has the home %q", got)
			}
		})
	}
}

func TestWithoutTheKindClusterResourceThereAreNone(t *testing.T) {
	h := newHarness(t, two(pod("p", licensed))...)
	h.failList("ClusterResourceList", &apimeta.NoKindMatchError{})
	h.pass()
	if got := h.home("p"); got != "a" {
		t.Errorf("home %q, want a", got)
	}
}

func TestWrites(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	tests := map[string]struct {
		err  error
		want string // empty for no error
	}{
		"a pod that is gone":         {apierrors.NewNotFound(pods, "p"), ""},
		"another pod of the name":    {apierrors.NewConflict(pods, "p", errBroken), ""},
		"an API server out of order": {apierrors.NewInternalError(errBroken), "1 of 2 pods got no home: writing the home of pod default/p: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, two(pod("p"), pod("q"))...)
			watching, ok := h.api.(client.WithWatch)
			if !ok {
				t.Fatalf("a client of type %T cannot be wrapped", h.api)
			}
			h.Writer = interceptor.NewClient(watching, interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
					if o.GetName() == "p" {
						return tc.err
					}
					return c.Patch(ctx, o, p, opts...)
				},
			})
			_, err := h.Reconcile(h.Context(), singleton.Key{})
			if (err != nil) != (tc.want != "") || err != nil && !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if got := h.home("q"); got == "" {
				t.Error("the other pod has no home")
			}
		})
	}
}

func TestNothingWaits(t *testing.T) {
	h := newHarness(t, two(pod("bound", on("c1-0")), pod("done", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }))...)
	result, err := h.Reconcile(h.Context(), singleton.Key{})
	if err != nil || result.RequeueAfter != 0 {
		t.Errorf("Reconcile = %+v, %v, want nothing to come back for", result, err)
	}
}
