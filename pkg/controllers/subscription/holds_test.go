// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/simulator"
)

// A pod moves to a unit that pods have been waiting for which are held back: they would not get it.
func TestUnitsAreNotKeptForPodsThatAreHeldBack(t *testing.T) {
	asks := func(p *corev1.Pod) {
		p.Annotations = map[string]string{"pod.alpha.kubernetes.io/cluster-resource-licence": "1"}
	}
	for name, tc := range map[string]struct {
		wait     int32
		changes  []change
		ask      func(*corev1.Pod)
		wantRoom int
	}{
		"a bundle waits": {wait: 9, changes: []change{bundle}, ask: asks, wantRoom: 1},
		"a bundle waits, whose pods ask for no policy": {wait: 9, changes: []change{bundle}, ask: func(p *corev1.Pod) {
			asks(p)
			p.Annotations[berthv1alpha1.PolicyAnnotation] = "none"
		}},
		"a bundle is admitted": {wait: 1, changes: []change{bundle}, ask: asks},
		"it is no bundle":      {wait: 9, ask: asks},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 6)
			w.site("b", 6)
			w.licences(berthv1alpha1.AnyOf, map[string]string{"a": "1", "b": "1"})
			w.deploy("web", tc.wait)
			w.asks("web", func(p *corev1.PodTemplateSpec) {
				p.Annotations = map[string]string{"pod.alpha.kubernetes.io/cluster-resource-licence": "1"}
			})
			w.subscribe("shop", []string{"web"}, tc.changes...)
			for range tc.wait {
				pod := w.newPod("web")
				tc.ask(pod)
				pod.UID = types.UID(pod.Name)
				w.create(pod)
			}
			runs := w.newPod("other")
			runs.UID, runs.OwnerReferences, runs.Spec.NodeName = "runs", nil, "a-1"
			asks(runs)
			runs.Annotations[berthv1alpha1.ChargedAnnotation] = "licence/a=1"
			w.create(runs)
			w.pass()

			var room simulator.Room
			if err := w.r.Adviser.Ask(t.Context(), nil, func(s *simulator.Snapshot) (err error) {
				room, err = s.RoomFor(t.Context(), "b", "", runs, 1)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if room.Copies != tc.wantRoom {
				t.Errorf("b has room for %d, want %d; the Subscription: %s", room.Copies, tc.wantRoom, w.told("shop"))
			}
		})
	}
}
