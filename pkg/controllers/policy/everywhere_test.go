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
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
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
	q, handler := &asked{}, everywhere(r, clusterChange)
	for i := range 2 {
		cluster := &berthv1alpha1.Cluster{}
		handler.Update(t.Context(), event.TypedUpdateEvent[*berthv1alpha1.Cluster]{ObjectOld: cluster, ObjectNew: cluster}, q)
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

func TestGrantsAreLookedAtIfSomethingIsLacking(t *testing.T) {
	of := func(revision int64) *berthv1alpha1.ClusterResource {
		return &berthv1alpha1.ClusterResource{Status: berthv1alpha1.ClusterResourceStatus{GrantsRevision: revision}}
	}
	for name, tc := range map[string]struct {
		lacks    []adviser.Lack
		old, new int64
		want     bool
	}{
		"granted anew":                       {[]adviser.Lack{{Scheduler: "east", Copies: 1}}, 1, 2, true},
		"granted as before":                  {[]adviser.Lack{{Scheduler: "east", Copies: 1}}, 2, 2, false},
		"granted anew, and nobody lacks any": {nil, 1, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(Options{Clock: clock.RealClock{}})
			r.Adviser = advisertest.New(t, fake.NewClientBuilder().WithScheme(schemetest.New()).Build())
			r.Adviser.Lack("policy shop", tc.lacks)
			if got := r.grantChanges().Update(event.TypedUpdateEvent[*berthv1alpha1.ClusterResource]{ObjectOld: of(tc.old), ObjectNew: of(tc.new)}); got != tc.want {
				t.Errorf("a pass is asked for: %t, want %t", got, tc.want)
			}
		})
	}
}
