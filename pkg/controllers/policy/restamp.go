// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// restampAgain is when a pass that ran into the rate limit goes on.
const restampAgain = time.Second

// restamp writes the new seats of pods whose stamp is out of date: because the weights or the
// policy have changed, because the node has moved to another Cluster, or because a pod turned out
// to be surplus. A workload that shrinks afterwards loses the right pods. Nothing is written while
// a workload has more pods than replicas, because its controller is deciding by the present seats
// at that moment.
func (p *pass) restamp(ctx context.Context) error {
	var errs []error
	for _, in := range p.policies {
		for _, placed := range in.placements {
			for i, seat := range placed.seats {
				pod := placed.bound[i]
				changes := in.Restamped(placed.Shares.Pods[i].Cluster, seat, pod)
				if len(changes) == 0 {
					continue
				}
				if !p.Restamps.TryAccept() {
					p.requeueAfter(restampAgain)
					return errors.Join(errs...)
				}
				errs = append(errs, p.annotate(ctx, pod, changes))
			}
		}
	}
	return errors.Join(errs...)
}

// annotate changes annotations of exactly this version of the pod: what anybody else wrote since is
// looked at first. The next pass comes with the update.
func (p *pass) annotate(ctx context.Context, pod *corev1.Pod, changes map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "resourceVersion": pod.ResourceVersion, "annotations": changes,
	}})
	if err != nil {
		return fmt.Errorf("encoding the stamp of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	target := &corev1.Pod{}
	target.Namespace, target.Name = pod.Namespace, pod.Name
	err = p.Client.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		p.requeueAfter(restampAgain)
		return nil
	}
	if err != nil {
		return fmt.Errorf("stamping pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	p.logger.V(2).Info("Stamped pod anew", "pod", pod.Name, "annotations", changes)
	return nil
}
