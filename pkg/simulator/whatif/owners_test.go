// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugintest"
)

// one has one object beyond the table, as package ownership finds them.
type one struct{ uid types.UID }

func (o one) Further(namespace string, ref *metav1.OwnerReference) (*workload.FurtherOwner, error) {
	if ref.UID != o.uid {
		return nil, fmt.Errorf("it is another: %w", workload.ErrUnconfirmed)
	}
	return &workload.FurtherOwner{Object: &metav1.ObjectMeta{Namespace: namespace, Name: ref.Name, UID: ref.UID}}, nil
}

// A policy whose cluster has no node holds the pods of a Fleet, and none that only names it.
func TestOwnersOfOperatorsKindsAreConfirmed(t *testing.T) {
	for name, tc := range map[string]struct {
		owners workload.FurtherSource
		want   []string
	}{
		"by what looks them up":      {one{"real"}, []string{"Fleet web"}},
		"or are taken at their word": {nil, []string{"Fleet web", "Fleet web"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulation(t)
			s.Confirm(tc.owners)
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
			node.Status.Allocatable = corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourcePods: resource.MustParse("110"),
			}
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: meta("fleets")}
			policy.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "example.com/v1", Kind: "Fleet", Name: "web"}}
			policy.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{"empty"}, Weight: 1}}
			if err := s.Observe(node, policy, pod("own", "real"), pod("foreign", "forged")); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range settled(t, s).Workloads {
				if len(w.Waiting) > 0 {
					got = append(got, w.Kind+" "+w.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("waiting (-want +got):\n%s", diff)
			}
		})
	}
}

// pod returns a pod that names the Fleet web as its controller.
func pod(name string, uid types.UID) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: meta(name), Spec: template(name, "1").Spec}
	p.Spec.SchedulerName, p.UID = plugintest.Profile, types.UID(name)
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Fleet", Name: "web", UID: uid, Controller: new(true)}}
	return p
}
