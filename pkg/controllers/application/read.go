// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/migrate"
)

// observed is what a pass finds of an Application.
type observed struct {
	// policies are those of the Application, by name.
	policies map[string]*berthv1alpha1.PropagationPolicy
	// pods are the pods that these policies placed, and waiting those that ask for one of them and
	// have no node, both by policy.
	pods    map[string]migrate.Pods
	waiting map[string][]*corev1.Pod
}

// read reads the policies of an Application, and their pods.
func read(ctx context.Context, reader client.Reader, app *berthv1alpha1.Application) (*observed, error) {
	var policies berthv1alpha1.PropagationPolicyList
	if err := reader.List(ctx, &policies, client.InNamespace(app.Namespace)); err != nil {
		return nil, fmt.Errorf("listing the policies of application %s/%s: %w", app.Namespace, app.Name, err)
	}
	seen := &observed{
		policies: map[string]*berthv1alpha1.PropagationPolicy{}, pods: map[string]migrate.Pods{}, waiting: map[string][]*corev1.Pod{},
	}
	for i := range policies.Items {
		if policy := &policies.Items[i]; metav1.IsControlledBy(policy, app) {
			seen.policies[policy.Name], seen.pods[policy.Name] = policy, migrate.Pods{}
		}
	}
	if len(seen.policies) == 0 {
		return seen, nil
	}
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace(app.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the pods of namespace %s: %w", app.Namespace, err)
	}
	for i := range pods.Items {
		seen.count(&pods.Items[i])
	}
	return seen, nil
}

// count counts a pod that a policy of the Application placed or is to place, unless it is being
// deleted or has ended.
func (s *observed) count(pod *corev1.Pod) {
	if policy := pod.Annotations[berthv1alpha1.PolicyAnnotation]; s.policies[policy] != nil && workload.Pending(pod) {
		s.waiting[policy] = append(s.waiting[policy], pod)
		return
	}
	placed, stamped := stamp.Of(pod)
	if !stamped || s.policies[placed.Policy] == nil || !workload.Lives(pod) {
		return
	}
	s.pods[placed.Policy].Add(migrate.Pod{
		Cluster: placed.Cluster, Ready: workload.Ready(pod), OwnCost: !placed.OwnsDeletionCost(pod),
		DeletionCost: stamp.ParseDeletionCost(pod.Annotations[corev1.PodDeletionCost]),
	})
}

// moving reports whether a workload of the Application is on its way to another cluster.
func (s *observed) moving() bool {
	for _, policy := range s.policies {
		if (&migrate.Workload{Policy: policy.Spec.Placement.StaticWeightList}).Moving() {
			return true
		}
	}
	return false
}
