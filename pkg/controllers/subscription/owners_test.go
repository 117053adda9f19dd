// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// owners confirms the owners that it has, by UID.
type owners map[types.UID]*workload.FurtherOwner

func (o owners) Further(_ string, ref *metav1.OwnerReference) (*workload.FurtherOwner, error) {
	if owner := o[ref.UID]; owner != nil && owner.GetName() == ref.Name {
		return owner, nil
	}
	return nil, fmt.Errorf("%s %s: %w", ref.Kind, ref.Name, workload.ErrUnconfirmed)
}

func (owners) Listen(func(string, types.UID)) {}

func (owners) Problem(schema.GroupKind) error { return nil }

// Pods count for an object of an operator if it is their owner, and not because they say so.
func TestPodsOfOperatorsAreConfirmed(t *testing.T) {
	const apiVersion, kind, name = "argoproj.io/v1alpha1", "Rollout", "web"
	w := newWorld(t)
	w.owners = owners{"real": {
		Object: &metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "real"}, Replicas: 2, ReplicasKnown: true,
	}}
	w.restart()
	w.site("a", 10)
	w.subscribe("shop", nil, static(map[string]int32{"a": 1}), func(s *berthv1alpha1.Subscription) {
		s.Spec.Feeds = []berthv1alpha1.Feed{{APIVersion: apiVersion, Kind: kind, Name: name}}
	})
	for _, uid := range []types.UID{"real", "real", "forged", "forged", "forged"} {
		pod := w.newPod(name)
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true)}}
		pod.Spec.NodeName = "a-1"
		pod.Status.Conditions = ready
		w.create(pod)
	}
	w.pass()
	w.want("what is ready", w.get("shop").Status.Ready, "2/2")
}

// An object of several parts is one feed, with the pods of all of them.
func TestPartsOfAnObjectAreOneFeed(t *testing.T) {
	const apiVersion, kind, name = "ray.io/v1", "RayCluster", "ray"
	w := newWorld(t)
	w.owners = owners{"ray": {
		Object: &metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "ray"}, Components: map[string]int32{"headgroup": 1, "small": 2},
	}}
	w.restart()
	w.site("a", 10)
	w.subscribe("shop", nil, static(map[string]int32{"a": 1}), func(s *berthv1alpha1.Subscription) {
		s.Spec.Feeds = []berthv1alpha1.Feed{{APIVersion: apiVersion, Kind: kind, Name: name}}
	})
	for _, group := range []string{"headgroup", "small", "small"} {
		pod := w.newPod(name)
		pod.Labels["ray.io/group"] = group
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "ray", Controller: new(true)}}
		pod.Spec.NodeName = "a-1"
		pod.Status.Conditions = ready
		w.create(pod)
	}
	w.pass()
	w.want("what is ready", w.get("shop").Status.Ready, "3/3")
}
