// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/state"
)

// asked is a queue that notes what is added.
type asked struct {
	workqueue.TypedRateLimitingInterface[string]
	keys []string
}

func (a *asked) AddAfter(key string, _ time.Duration) { a.keys = append(a.keys, key) }

func (a *asked) take() []string {
	keys := a.keys
	a.keys = nil
	return keys
}

// Between two events of one burst the pass that the first one has asked for may have begun: a pod
// may have asked for it earlier.
func TestEachClusterThatChangesIsLookedAtEverywhere(t *testing.T) {
	scheme := schemetest.New()
	api := fake.NewClientBuilder().WithScheme(scheme).
		WithObjects(&berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"}}).Build()
	r := New(Options{Client: api, Topology: state.NewTracker(api), Clock: clock.RealClock{}})
	q, handler := &asked{}, everywhere[*berthv1alpha1.Cluster](r)
	for i := range 2 {
		handler.Update(t.Context(), event.TypedUpdateEvent[*berthv1alpha1.Cluster]{}, q)
		for _, key := range q.take() {
			if key != allNamespaces {
				t.Errorf("event %d asks for a pass over %q, want one over all namespaces", i, key)
			}
			if _, err := r.Reconcile(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{"shop"}, q.take()); diff != "" {
			t.Errorf("asked for by event %d (-want +got):\n%s", i, diff)
		}
	}
}
