// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// While clusters are left, and for returnAfter after one was returned to, pods stay that were made
// within returnAfter: they may be the replacements of others.
func TestPodsThatMayHaveMovedStay(t *testing.T) {
	const held = "False Misplaced: replicas outside their share: 2 (clusters have been offline, and the pods are younger than spec.failover.returnAfter)"
	justMade := func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(birth.Add(time.Hour)) }
	tests := map[string]struct {
		pods func(*corev1.Pod)
		// online says what has become of beijing, so long ago, and draining whether hangzhou is drained.
		online   metav1.ConditionStatus
		ago      time.Duration
		draining bool
		want     int
		// wantAgain is after how long the next pass comes, for those that stay.
		wantAgain time.Duration
	}{
		"young pods": {pods: justMade, online: metav1.ConditionTrue, ago: 20 * time.Minute, wantAgain: 29 * time.Minute},
		"young pods, returned to for almost long enough": {
			pods: justMade, online: metav1.ConditionTrue, ago: 50 * time.Minute, wantAgain: 10 * time.Minute,
		},
		"young pods, returned to for long enough": {pods: justMade, online: metav1.ConditionTrue, ago: time.Hour, want: 2},
		"old pods": {pods: func(*corev1.Pod) {}, online: metav1.ConditionTrue, ago: 20 * time.Minute, want: 2},
		"young pods of a cluster that is drained":    {pods: justMade, online: metav1.ConditionTrue, ago: 20 * time.Minute, draining: true, want: 3},
		"young pods, and no cluster was offline":     {pods: justMade, online: metav1.ConditionTrue, ago: 100 * time.Hour, want: 2},
		"young pods, and the cluster is offline now": {pods: justMade, online: metav1.ConditionFalse, ago: time.Minute, want: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, world(sites(), placed(tc.pods), wrong(failingOver("5m")))...)
			h.wait(time.Minute - tc.ago)
			h.online("beijing", tc.online)
			h.wait(tc.ago)
			if tc.draining {
				h.drain("hangzhou")
			}
			h.sync()
			h.pass()
			if got := h.evicted(); len(got) != tc.want {
				t.Errorf("%v are evicted, want %d", got, tc.want)
			}
			if got := h.condition(berthv1alpha1.PolicyPlaced); tc.want == 0 && got != held {
				t.Errorf("Placed is %s, want %s", got, held)
			}
			if again := h.last.RequeueAfter; tc.want == 0 && again != tc.wantAgain {
				t.Errorf("the next pass comes in %v, want it when they may go, in %v", again, tc.wantAgain)
			}
		})
	}
}

// drain has a Cluster drained.
func (h *harness) drain(cluster string) {
	h.t.Helper()
	c := &berthv1alpha1.Cluster{}
	if err := h.server.Get(h.t.Context(), client.ObjectKey{Name: cluster}, c); err != nil {
		h.t.Fatal(err)
	}
	c.Spec.Unschedulable, c.Spec.Drain = true, true
	if err := h.server.Update(h.t.Context(), c); err != nil {
		h.t.Fatal(err)
	}
}
