// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// placement says how an object with pods is to be now.
type placement struct {
	clusters []berthv1alpha1.StaticClusterWeight
	replicas int64
	// moving says that pods are to be started in the new cluster before the others go.
	moving bool
}

// place decides on the next step of an object with pods. It needs the object as it is, if that is known.
func (p *pass) place(o *object, live client.Object) placement {
	target := p.app.Status.ScheduledTo
	policy, pods := p.policies[o.policy], p.pods[o.policy]
	there := placement{clusters: []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{target}, Weight: 1}}, replicas: o.replicas}
	if policy == nil || !o.doubles {
		return there
	}
	named := clustersOf(policy)
	wanted := wantedReplicas(o, policy, live)
	there.replicas = wanted
	others := slices.DeleteFunc(slices.Clone(named), func(name string) bool { return name == target })
	elsewhere := pods.elsewhere(target)
	if len(others) == 0 || elsewhere == 0 && replicasOf(live, wanted) == wanted {
		return there
	}
	least := int32(min(wanted, math.MaxInt32))
	both := placement{replicas: wanted, moving: true, clusters: []berthv1alpha1.StaticClusterWeight{
		{ClusterNames: []string{target}, Weight: 1, Min: &least}, {ClusterNames: others, Weight: 1},
	}}
	switch {
	case !sameClusters(policy, both.clusters), policy.Status.ObservedGeneration < policy.Generation:
		// More replicas would land in the wrong cluster as long as the policy is not known everywhere.
		both.replicas = max(wanted, replicasOf(live, wanted))
	case int64(pods.in(target).ready) < wanted, !pods.shrinksElsewhere(target):
		both.replicas = wanted + elsewhere
	}
	return both
}

// wantedReplicas returns how many replicas an object should have when it has moved: those of the manifest or, where somebody
// else scales it, those that it had.
func wantedReplicas(o *object, policy *berthv1alpha1.PropagationPolicy, live client.Object) int64 {
	if o.given {
		return o.replicas
	}
	if first := policy.Spec.Placement.StaticWeightList[0]; first.Min != nil {
		return int64(*first.Min)
	}
	return replicasOf(live, o.replicas)
}

// replicasOf returns how many replicas an object has, and an alternative if that is not known.
func replicasOf(live client.Object, unknown int64) int64 {
	var replicas *int32
	switch l := live.(type) {
	case *appsv1.Deployment:
		replicas = l.Spec.Replicas
	case *appsv1.ReplicaSet:
		replicas = l.Spec.Replicas
	case *appsv1.StatefulSet:
		replicas = l.Spec.Replicas
	case *corev1.ReplicationController:
		replicas = l.Spec.Replicas
	}
	if replicas == nil {
		return unknown
	}
	return int64(*replicas)
}

// live returns an object as the cache has it, nil for kinds that are not in the cache. Missing says that there is none.
func (p *pass) live(ctx context.Context, o *object) (object client.Object, missing bool, err error) {
	switch o.GetKind() {
	case "Deployment":
		object = &appsv1.Deployment{}
	case "ReplicaSet":
		object = &appsv1.ReplicaSet{}
	case "StatefulSet":
		object = &appsv1.StatefulSet{}
	case "ReplicationController":
		object = &corev1.ReplicationController{}
	}
	if object == nil || !o.scales {
		return nil, false, nil
	}
	err = p.Client.Get(ctx, client.ObjectKey{Namespace: p.app.Namespace, Name: o.GetName()}, object)
	if apierrors.IsNotFound(err) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", o, err)
	}
	return object, false, nil
}

// clustersOf returns the clusters that a policy names.
func clustersOf(policy *berthv1alpha1.PropagationPolicy) []string {
	var names []string
	for i := range policy.Spec.Placement.StaticWeightList {
		names = append(names, policy.Spec.Placement.StaticWeightList[i].ClusterNames...)
	}
	return names
}

func sameClusters(policy *berthv1alpha1.PropagationPolicy, clusters []berthv1alpha1.StaticClusterWeight) bool {
	return apiequality.Semantic.DeepEqual(policy.Spec.Placement.StaticWeightList, clusters)
}

// writePolicy brings the policy of an object up to date.
func (p *pass) writePolicy(ctx context.Context, o *object, to placement) error {
	mode := berthv1alpha1.RebalanceEvict
	if to.moving {
		mode = berthv1alpha1.RebalanceNever // Replicas go when the workload shrinks.
	}
	selectors := []berthv1alpha1.ResourceSelector{{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName()}}
	if known := p.policies[o.policy]; known != nil && sameClusters(known, to.clusters) &&
		known.Spec.Rebalance.Mode == mode && apiequality.Semantic.DeepEqual(known.Spec.ResourceSelectors, selectors) &&
		known.Spec.Placement.WhenUnsatisfiable != berthv1alpha1.ScheduleAnyway && known.Spec.Placement.Constraints == nil {
		return nil
	}
	policy := &berthv1alpha1.PropagationPolicy{
		TypeMeta: metav1.TypeMeta{APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: "PropagationPolicy"},
		ObjectMeta: metav1.ObjectMeta{
			Name: o.policy, Namespace: p.app.Namespace, OwnerReferences: []metav1.OwnerReference{p.owner()},
			Labels: map[string]string{berthv1alpha1.ApplicationLabel: labelOf(p.app.Name)},
		},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: selectors,
			Placement:         berthv1alpha1.Placement{StaticWeightList: to.clusters, WhenUnsatisfiable: berthv1alpha1.DoNotSchedule},
			Rebalance:         berthv1alpha1.Rebalance{Mode: mode},
		},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(policy)
	if err != nil {
		return fmt.Errorf("encoding policy %s: %w", o.policy, err)
	}
	u := &object{Unstructured: &unstructured.Unstructured{Object: content}}
	unstructured.RemoveNestedField(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return p.send(ctx, u)
}
