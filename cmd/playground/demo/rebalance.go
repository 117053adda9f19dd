// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/cmd/playground/podwatch"
)

const (
	replicas = 10
	// minAvailable of the PodDisruptionBudget lets one pod be missing.
	minAvailable = replicas - 1
)

// rebalance is step 4: the eviction API moves what the new weights want elsewhere, and nothing but
// that.
func (d *demo) rebalance(ctx context.Context) (string, error) {
	if err := d.createBudget(ctx); err != nil {
		return "", err
	}
	recorder, err := podwatch.Start(ctx, d.client, namespace, selector)
	if err != nil {
		return "", err
	}
	d.printf("changing PropagationPolicy %s to beijing 4, hangzhou 1 (maxUnavailable %d)", policyName, maxUnavailable)
	if err := d.patchPlacement(ctx, map[string]any{"staticWeightList": weights(4, 1)}); err != nil {
		return "", err
	}
	want := shares{beijing: 8, hangzhou: 2}
	if _, err := d.awaitShares(ctx, want, want, 0); err != nil {
		return "", err
	}
	seen, err := recorder.Stop(ctx)
	if err != nil {
		return "", err
	}
	// From 4 and 6 to 8 and 2: four pods are misplaced.
	const misplaced = 4
	switch {
	case seen.Evicted != misplaced || len(seen.Gone) != misplaced:
		return "", fmt.Errorf("want %d pods evicted and none deleted otherwise: %s", misplaced, seen)
	case seen.MinReady < minAvailable:
		return "", fmt.Errorf("the PodDisruptionBudget wants %d pods at any moment: %s", minAvailable, seen)
	}
	return fmt.Sprintf("%s; %d pods moved, all by eviction; never fewer than %d of %d ready", want, misplaced, seen.MinReady, replicas), nil
}

// createBudget waits until the budget counts: before that it forbids every eviction.
func (d *demo) createBudget(ctx context.Context) error {
	d.printf("applying PodDisruptionBudget %s: minAvailable %d of %d", workload, minAvailable, replicas)
	budgets := d.client.PolicyV1().PodDisruptionBudgets(namespace)
	if _, err := budgets.Create(ctx, budget(minAvailable), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating PodDisruptionBudget %s: %w", workload, err)
	}
	return d.await(ctx, func(ctx context.Context) error {
		live, err := budgets.Get(ctx, workload, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if live.Status.DisruptionsAllowed != replicas-minAvailable {
			return fmt.Errorf("the PodDisruptionBudget allows %d disruptions", live.Status.DisruptionsAllowed)
		}
		return nil
	})
}
