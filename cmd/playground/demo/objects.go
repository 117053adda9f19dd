// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	schedulerName = "berth-scheduler"
	policyName    = "nginx-propagation"
	selector      = "app=nginx"

	// maxUnavailable is the policy's limit for pods that are missing because they are moved.
	maxUnavailable = 2
	// cooldown is short, so that one sees the pods move.
	cooldown = time.Second
)

func labels() map[string]string { return map[string]string{"app": workload} }

// deployment is the example of KubeEdge's node-group proposal. Only the name of the scheduler and
// the strategy are added.
func deployment() *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: workload, Labels: labels()},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](5),
			Selector: &metav1.LabelSelector{MatchLabels: labels()},
			Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{
				MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0)),
			}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels()},
				Spec: corev1.PodSpec{
					SchedulerName: schedulerName,
					Containers:    []corev1.Container{{Name: workload, Image: "nginx"}},
				},
			},
		},
	}
}

// policy is the example's policy with the weights 2 and 3.
func policy() *berthv1alpha1.PropagationPolicy {
	return &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: policyName},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: workload}},
			Placement:         berthv1alpha1.Placement{StaticWeightList: weights(2, 3)},
			Rebalance: berthv1alpha1.Rebalance{
				MaxUnavailable: new(intstr.FromInt32(maxUnavailable)),
				Cooldown:       &metav1.Duration{Duration: cooldown},
				MinPodAge:      &metav1.Duration{Duration: time.Second},
			},
		},
	}
}

func weights(ofBeijing, ofHangzhou int64) []berthv1alpha1.StaticClusterWeight {
	return []berthv1alpha1.StaticClusterWeight{
		{ClusterNames: []string{beijing}, Weight: ofBeijing},
		{ClusterNames: []string{hangzhou}, Weight: ofHangzhou},
	}
}

// budget lets one pod be missing at a time, which is stricter than the policy's own limit.
func budget(minAvailable int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: workload},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(minAvailable)),
			Selector:     &metav1.LabelSelector{MatchLabels: labels()},
		},
	}
}

// patchDeployment merges the spec into that of the Deployment.
func (d *demo) patchDeployment(ctx context.Context, spec map[string]any) error {
	data, err := mergePatch(spec)
	if err != nil {
		return err
	}
	_, err = d.client.AppsV1().Deployments(namespace).Patch(ctx, workload, types.StrategicMergePatchType, data, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("changing Deployment %s: %w", workload, err)
	}
	return nil
}

func (d *demo) scale(ctx context.Context, replicas int) error {
	d.printf("scaling Deployment %s to %d replicas", workload, replicas)
	return d.patchDeployment(ctx, map[string]any{"replicas": replicas})
}

// patchPlacement merges the fields into the placement of the policy.
func (d *demo) patchPlacement(ctx context.Context, placement map[string]any) error {
	data, err := mergePatch(map[string]any{"placement": placement})
	if err != nil {
		return err
	}
	_, err = d.berth.BerthV1alpha1().PropagationPolicies(namespace).Patch(ctx, policyName, types.MergePatchType, data, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("changing PropagationPolicy %s: %w", policyName, err)
	}
	return nil
}

func mergePatch(spec map[string]any) ([]byte, error) {
	data, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return nil, fmt.Errorf("encoding a patch: %w", err)
	}
	return data, nil
}

func licencePool() *berthv1alpha1.ClusterResource {
	return &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: licence},
		Spec: berthv1alpha1.ClusterResourceSpec{Capacity: []berthv1alpha1.ClusterResourceQuantity{{
			Name: "default", Quantity: *resource.NewQuantity(licences, resource.DecimalSI),
		}}},
	}
}

func urgentClass() *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: urgent}, Value: 1000}
}
