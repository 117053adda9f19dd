// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/placement/binding"
)

// finalize keeps each Scheduler until it has given everything up, and reports whether one is
// leaving.
func (p *pass) finalize(ctx context.Context, records []binding.Record) (leaving bool, err error) {
	var errs []error
	for _, before := range p.objects {
		has := slices.Contains(before.Finalizers, berthv1alpha1.SchedulerFinalizer)
		if before.DeletionTimestamp != nil && has {
			leaving = true
		}
		if wants, err := p.needed(ctx, before, records); err != nil || has == wants {
			errs = append(errs, err)
			continue
		}
		after := before.DeepCopy()
		if has {
			after.Finalizers = slices.DeleteFunc(after.Finalizers, func(f string) bool { return f == berthv1alpha1.SchedulerFinalizer })
		} else {
			after.Finalizers = append(after.Finalizers, berthv1alpha1.SchedulerFinalizer)
		}
		err := p.Client.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			errs = append(errs, fmt.Errorf("writing the finalizer of scheduler %s: %w", before.Name, err))
		}
	}
	return leaving, errors.Join(errs...)
}

// needed reports whether a Scheduler must be kept: always until it is deleted, and then for as long
// as a cluster, the commons, a grant or a waiting pod is its own, or it may still give out
// something. Pods can go elsewhere only if there is another scheduler.
func (p *pass) needed(ctx context.Context, s *berthv1alpha1.Scheduler, records []binding.Record) (bool, error) {
	if s.DeletionTimestamp == nil {
		return true, nil
	}
	if !slices.Contains(s.Finalizers, berthv1alpha1.SchedulerFinalizer) {
		return false, nil
	}
	if p.owns(s, records) || spends(s) {
		return true, nil
	}
	if p.schedulers.Taking() == 0 || len(p.objects) < 2 {
		return false, nil
	}
	if granted, err := p.granted(ctx, s.Name); err != nil || granted {
		return granted, err
	}
	var pods corev1.PodList
	err := p.Client.List(ctx, &pods, client.MatchingLabels{berthv1alpha1.HomeSchedulerLabel: s.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return false, fmt.Errorf("listing the pods of scheduler %s: %w", s.Name, err)
	}
	return slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
		return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil
	}), nil
}

// spends reports whether a Scheduler may give out something of ClusterResources.
func spends(s *berthv1alpha1.Scheduler) bool {
	return state.IsAlive(s) && s.Status.Spending != nil && !s.Status.Spending.Closed
}

// granted reports whether a Scheduler may still give out something of a ClusterResource.
func (p *pass) granted(ctx context.Context, name string) (bool, error) {
	var resources berthv1alpha1.ClusterResourceList
	if err := p.Client.List(ctx, &resources, client.UnsafeDisableDeepCopy); err != nil {
		if apimeta.IsNoMatchError(err) {
			return false, nil
		}
		return false, fmt.Errorf("listing cluster resources: %w", err)
	}
	return slices.ContainsFunc(resources.Items, func(r berthv1alpha1.ClusterResource) bool {
		return slices.ContainsFunc(r.Status.Grants, func(g berthv1alpha1.PoolGrant) bool { return g.Scheduler == name })
	}), nil
}

// owns reports whether something is bound to a Scheduler, or on its way to it.
func (p *pass) owns(s *berthv1alpha1.Scheduler, records []binding.Record) bool {
	return s.Status.Commons != nil ||
		slices.ContainsFunc(p.inputs, func(c binding.BoundCluster) bool { return c.Record.Home == s.Name || c.Record.To == s.Name }) ||
		slices.ContainsFunc(records, func(r binding.Record) bool { return r.Home == s.Name || r.To == s.Name })
}
