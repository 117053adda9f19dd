// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/rank"
)

// suits reports whether a cluster meets the constraints of a pod and of its policy at this moment.
// The scheduler lets the replacement of the pod into no other, and into none at all if the
// constraints cannot be understood.
func (p *pass) suits(ctx context.Context, in *inForce, cluster string, pod *corev1.Pod) (bool, error) {
	wish, err := modelpolicy.WishOf(pod, in.Policy)
	if err != nil {
		return false, nil //nolint:nilerr // the scheduler tells the user of it
	}
	if wish == nil {
		return true, nil
	}
	object := &berthv1alpha1.Cluster{}
	if err := p.Client.Get(ctx, client.ObjectKey{Name: cluster}, object); err != nil {
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return false, fmt.Errorf("reading cluster %s: %w", cluster, err)
	}
	candidate := rank.ClusterCandidate(object, p.namespace)
	return wish.Constraints.Admits(&candidate), nil
}
