// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/cmd/playground/podwatch"
)

// rollOut is step 5: replicas are counted per revision, so the new one finds its places while the
// old one still runs.
func (d *demo) rollOut(ctx context.Context) (string, error) {
	recorder, err := podwatch.Start(ctx, d.client, namespace, selector)
	if err != nil {
		return "", err
	}
	d.printf("changing the image of Deployment %s", workload)
	container := map[string]any{"name": workload, "image": "nginx:2"}
	if err := d.patchDeployment(ctx, map[string]any{
		"template": map[string]any{"spec": map[string]any{"containers": []any{container}}},
	}); err != nil {
		return "", err
	}
	if err := d.await(ctx, d.rolledOut); err != nil {
		return "", err
	}
	want := shares{beijing: 8, hangzhou: 2}
	now, err := d.awaitShares(ctx, want, want, 0)
	if err != nil {
		return "", err
	}
	for i := range now.pods {
		if image := now.pods[i].Spec.Containers[0].Image; image != "nginx:2" {
			return "", fmt.Errorf("pod %s still has the image %s", now.pods[i].Name, image)
		}
	}
	seen, err := recorder.Stop(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case seen.Evicted > 0:
		return "", fmt.Errorf("no pod should have been evicted: %s", seen)
	case seen.MinReady < replicas:
		return "", fmt.Errorf("all %d pods must be ready at any moment: %s", replicas, seen)
	}
	return fmt.Sprintf("the rollout completed; %s for the new revision; never fewer than %d ready, no eviction", want, seen.MinReady), nil
}

// rolledOut returns nil when the Deployment says that the rollout is complete.
func (d *demo) rolledOut(ctx context.Context) error {
	live, err := d.client.AppsV1().Deployments(namespace).Get(ctx, workload, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading Deployment %s: %w", workload, err)
	}
	s := live.Status
	if s.ObservedGeneration < live.Generation || s.UpdatedReplicas < replicas || s.Replicas > replicas || s.AvailableReplicas < replicas {
		return fmt.Errorf("the rollout has %d of %d updated, %d available, %d altogether",
			s.UpdatedReplicas, replicas, s.AvailableReplicas, s.Replicas)
	}
	return nil
}
