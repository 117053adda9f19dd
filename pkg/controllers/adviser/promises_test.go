// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package adviser_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

// TestPromisesOutliveTheReturnOfNodes asks for the room that is left beside a promise to pods whose
// node is away, and then is back before anybody has promised anew.
func TestPromisesOutliveTheReturnOfNodes(t *testing.T) {
	pod := plugintest.MakePod("sample").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj()
	for name, test := range map[string]struct {
		lost                    bool
		wantRoom, wantElsewhere int
	}{
		"away":       {true, 0, 4},
		"back again": {false, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			four := map[corev1.ResourceName]string{corev1.ResourceCPU: "4", corev1.ResourcePods: "9"}
			node := plugintest.MakeNode("beijing", 0).Capacity(four).Obj()
			if test.lost {
				node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
			}
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, berthv1alpha1.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			a := advisertest.New(t, fake.NewClientBuilder().WithScheme(scheme).WithObjects(
				plugintest.Site("beijing"), plugintest.Site("hangzhou"), node, plugintest.MakeNode("hangzhou", 0).Capacity(four).Obj(),
			).Build())
			a.Promise("somebody", []adviser.Promise{{Cluster: "beijing", Pod: pod, Copies: 3, Away: true}})
			if err := a.Ask(t.Context(), func(s *simulator.Snapshot) error {
				for site, want := range map[string]int{"beijing": test.wantRoom, "hangzhou": test.wantElsewhere} {
					room, err := s.Room(t.Context(), site, pod, 9)
					if err != nil {
						return err
					}
					if room.Copies != want {
						t.Errorf("%s takes %d copies beside what was promised, want %d", site, room.Copies, want)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
