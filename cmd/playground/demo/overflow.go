// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/cmd/playground/podwatch"
)

const (
	// waitReason is what the scheduler says about the nodes of hangzhou, which could take the pods
	// and must not.
	waitReason = "node(s) in clusters that have their share of replicas"

	// settle is how long nothing must happen to count as "nothing happens": some cooldowns.
	settle = 4 * cooldown
)

// overflow is step 6: pods wait for their cluster with a reason that says so, until the policy lets
// them go elsewhere.
func (d *demo) overflow(ctx context.Context) (string, error) {
	recorder, err := podwatch.Start(ctx, d.client, namespace, selector)
	if err != nil {
		return "", err
	}
	d.printf("cordoning the nodes of beijing")
	if err := d.cordon(ctx, beijing, true); err != nil {
		return "", err
	}
	if err := d.scale(ctx, 15); err != nil {
		return "", err
	}
	// Of 15 replicas beijing should have 12 and cannot take the last 4.
	want := shares{beijing: 12, hangzhou: 3}
	if _, err := d.awaitShares(ctx, want, shares{beijing: 8, hangzhou: 3}, 4); err != nil {
		return "", err
	}
	reason, err := d.awaitReason(ctx, waitReason)
	if err != nil {
		return "", err
	}
	d.printf("FailedScheduling: %s", reason)

	d.printf("setting whenUnsatisfiable to ScheduleAnyway")
	if err := d.patchPlacement(ctx, map[string]any{"whenUnsatisfiable": berthv1alpha1.ScheduleAnyway}); err != nil {
		return "", err
	}
	elsewhere := shares{beijing: 8, hangzhou: 7}
	if _, err := d.awaitShares(ctx, want, elsewhere, 0); err != nil {
		return "", err
	}
	if err := pause(ctx, settle); err != nil {
		return "", err
	}
	seen, err := recorder.Stop(ctx)
	if err != nil {
		return "", err
	}
	if len(seen.Gone) > 0 || seen.Evicted > 0 {
		return "", fmt.Errorf("no pod should have been taken away: %s", seen)
	}
	return fmt.Sprintf("4 pods waited and said why; with ScheduleAnyway they run elsewhere: %s", elsewhere), nil
}

func (d *demo) cordon(ctx context.Context, cluster string, unschedulable bool) error {
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, unschedulable)
	for node, of := range d.clusterOf {
		if of != cluster {
			continue
		}
		_, err := d.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("cordoning or uncordoning node %s: %w", node, err)
		}
	}
	return nil
}

// awaitReason returns the message of a FailedScheduling event that tells the reason why a pod
// waits.
func (d *demo) awaitReason(ctx context.Context, reason string) (string, error) {
	var message string
	err := d.await(ctx, func(ctx context.Context) error {
		events, err := d.client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedScheduling"})
		if err != nil {
			return fmt.Errorf("listing events: %w", err)
		}
		says := slices.IndexFunc(events.Items, func(e corev1.Event) bool { return strings.Contains(e.Message, reason) })
		if says < 0 {
			return fmt.Errorf("none of %d FailedScheduling events says %q", len(events.Items), reason)
		}
		message = events.Items[says].Message
		return nil
	})
	return message, err
}

// pause waits, unless the context ends.
func pause(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting: %w", ctx.Err())
	}
}
