// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

func TestRoomLooksAtAllNodes(t *testing.T) {
	r := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence", UID: "licence", Generation: 1}}
	r.Spec.Capacity = []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("1000")}}
	r.Status.Allocatable = r.Spec.Capacity
	objects := append(plugintest.Sites(400, "beijing", "hangzhou"), r)
	pod := plugintest.MakePod("sample").Req(map[corev1.ResourceName]string{
		corev1.ResourceCPU: "20", "cluster-resource.berth.dev/licence": "1",
	}).Obj()
	room, err := snapshot(t, objects...).Room(t.Context(), "beijing", pod, 1000)
	if err != nil || room.Copies != 400 {
		t.Errorf("room for %d copies (%s), %v; want 400, one for each node", room.Copies, room.LimitedBy, err)
	}
}

// TestReasonsOfNodesThatPreFilterLeftOut wants of nodes that Berth's plugins kept away from Filter
// what the scheduler tells of them.
func TestReasonsOfNodesThatPreFilterLeftOut(t *testing.T) {
	r := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence", UID: "licence", Generation: 1}}
	for site, amount := range map[string]string{"beijing": "1", "hangzhou": "5"} {
		r.Spec.Capacity = append(r.Spec.Capacity, berthv1alpha1.ClusterResourceQuantity{
			Name: site, Quantity: resource.MustParse(amount), NodeSelector: map[string]string{plugintest.SiteLabel: site},
		})
	}
	r.Status.Allocatable = r.Spec.Capacity
	objects := append(plugintest.Sites(2, "beijing", "hangzhou"), r)
	pod := plugintest.MakePod("sample").Req(map[corev1.ResourceName]string{"cluster-resource.berth.dev/licence": "2"}).Obj()
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   simulator.Room
	}{
		"fewer than there are": {func(*corev1.Pod) {}, simulator.Room{
			LimitedBy: "0/2 nodes are available: 2 node(s) whose pools of licence are too small.",
		}},
		"something else is in the way, too": {func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{"no": "node"}
		}, simulator.Room{LimitedBy: "0/2 nodes are available: 2 node(s) whose pools of licence are too small."}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sample := pod.DeepCopy()
			tc.change(sample)
			s, scheduler := snapshot(t, objects...), plugintest.New(t, objects)
			defer scheduler.Stop()
			room, err := s.Room(t.Context(), "beijing", sample, 10)
			if diff := cmp.Diff(tc.want, room); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			outcome, err := s.TrySchedule(t.Context(), sample)
			if err != nil {
				t.Fatal(err)
			}
			if placed, attempt := scheduler.Place(sample); placed == nil && attempt.Why() != outcome.Reasons {
				t.Errorf("the scheduler says %q, the simulator %q", attempt.Why(), outcome.Reasons)
			}
		})
	}
}
