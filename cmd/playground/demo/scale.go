// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/cmd/playground/podwatch"
)

// share is step 1: the weights 2 and 3 share 5 replicas exactly.
func (d *demo) share(ctx context.Context) (string, error) {
	d.printf("applying PropagationPolicy %s: beijing 2, hangzhou 3", policyName)
	if _, err := d.berth.BerthV1alpha1().PropagationPolicies(namespace).Create(ctx, policy(), metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("creating PropagationPolicy %s: %w", policyName, err)
	}
	if err := d.await(ctx, d.policyAccepted); err != nil {
		return "", err
	}
	d.printf("applying Deployment %s: 5 replicas", workload)
	if _, err := d.client.AppsV1().Deployments(namespace).Create(ctx, deployment(), metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("creating Deployment %s: %w", workload, err)
	}
	want := shares{beijing: 2, hangzhou: 3}
	if _, err := d.awaitShares(ctx, want, want, 0); err != nil {
		return "", err
	}
	return want.String() + ", all Running", nil
}

// policyAccepted fails until the policy says that it is in force. Pods that come before it is known
// run anywhere at first.
func (d *demo) policyAccepted(ctx context.Context) error {
	live, err := d.berth.BerthV1alpha1().PropagationPolicies(namespace).Get(ctx, policyName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading PropagationPolicy %s: %w", policyName, err)
	}
	if !meta.IsStatusConditionTrue(live.Status.Conditions, berthv1alpha1.PolicyAccepted) {
		return fmt.Errorf("PropagationPolicy %s is not accepted: %v", policyName, live.Status.Conditions)
	}
	return nil
}

// grow is step 2: more replicas move none of those that run.
func (d *demo) grow(ctx context.Context) (string, error) {
	before, err := d.observe(ctx)
	if err != nil {
		return "", err
	}
	want := shares{beijing: 4, hangzhou: 6}
	seen, err := d.scaleAndWatch(ctx, 10, want)
	if err != nil {
		return "", err
	}
	if len(seen.Gone) > 0 {
		return "", fmt.Errorf("pods were deleted: %s", seen)
	}
	after, err := d.observe(ctx)
	if err != nil {
		return "", err
	}
	if err := stayed(before, after); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s; none of the first %d pods moved", want, len(before.pods)), nil
}

// stayed checks that all pods of before are where they were.
func stayed(before, after *placement) error {
	nodeOf := make(map[types.UID]string, len(after.pods))
	for i := range after.pods {
		nodeOf[after.pods[i].UID] = after.pods[i].Spec.NodeName
	}
	for i := range before.pods {
		pod := &before.pods[i]
		if nodeOf[pod.UID] != pod.Spec.NodeName {
			return fmt.Errorf("pod %s no longer runs on %s", pod.Name, pod.Spec.NodeName)
		}
	}
	return nil
}

// shrinkAndGrow is step 3: the ReplicaSet controller deletes the right pods by itself, led by their
// deletion costs.
func (d *demo) shrinkAndGrow(ctx context.Context) (string, error) {
	small, large := shares{beijing: 2, hangzhou: 2}, shares{beijing: 4, hangzhou: 6}
	for _, target := range []struct {
		replicas int
		want     shares
		wantGone int
	}{{4, small, 6}, {10, large, 0}} {
		seen, err := d.scaleAndWatch(ctx, target.replicas, target.want)
		if err != nil {
			return "", err
		}
		if len(seen.Gone) != target.wantGone {
			return "", fmt.Errorf("want %d pods deleted: %s", target.wantGone, seen)
		}
	}
	return fmt.Sprintf("%s, then %s; no pod was evicted, pod-deletion-cost did it", small, large), nil
}

// scaleAndWatch scales the Deployment, waits for the shares and returns what happened on the way,
// which must not include an eviction.
func (d *demo) scaleAndWatch(ctx context.Context, replicas int, want shares) (podwatch.Seen, error) {
	recorder, err := podwatch.Start(ctx, d.client, namespace, selector)
	if err != nil {
		return podwatch.Seen{}, err
	}
	if err := d.scale(ctx, replicas); err != nil {
		return podwatch.Seen{}, err
	}
	if _, err := d.awaitShares(ctx, want, want, 0); err != nil {
		return podwatch.Seen{}, err
	}
	seen, err := recorder.Stop(ctx)
	if err == nil && seen.Evicted > 0 {
		err = fmt.Errorf("no pod should have been evicted: %s", seen)
	}
	return seen, err
}
