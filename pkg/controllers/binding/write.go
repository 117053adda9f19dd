// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/binding"
)

// writeClusters writes what has changed, and reports whether more is to come.
func (p *pass) writeClusters(
	ctx context.Context, desired []string, records []binding.Record, steps []binding.Step,
) (unfinished bool, err error) {
	errs := make([]error, len(p.clusters))
	var more atomic.Bool
	workqueue.ParallelizeUntil(ctx, writers, len(p.clusters), func(i int) {
		if records[i] != p.inputs[i].Record && !p.stillFenced() {
			more.Store(true)
			return
		}
		err := p.write(ctx, p.clusters[i], desired[i], records[i])
		if apierrors.IsConflict(err) {
			more.Store(true) // the cache lags behind, or another controller wrote in between
			return
		}
		if err == nil {
			p.drains.note(p.clusters[i].Name, steps[i], p.Clock.Now())
		}
		errs[i] = client.IgnoreNotFound(err)
		if records[i].Home != desired[i] {
			more.Store(true)
		}
	})
	return more.Load(), errors.Join(errs...)
}

func (p *pass) write(ctx context.Context, before *berthv1alpha1.Cluster, desired string, record binding.Record) error {
	if err := p.keep(ctx, before); err != nil {
		return err
	}
	conditions := slices.Clone(before.Status.Conditions)
	if !apimeta.SetStatusCondition(&conditions, p.condition(before, desired, record)) && recordOf(before) == record {
		return nil // Most stay as they are in a pass, and a Cluster is costly to copy.
	}
	after := before.DeepCopy()
	after.Status.Conditions = conditions
	after.Status.HomeScheduler, after.Status.HomeRevision, after.Status.HomeTransfer = record.Home, record.Revision, nil
	if record.Moving {
		after.Status.HomeTransfer = &berthv1alpha1.HomeTransfer{To: record.To}
	}
	return p.patchStatus(ctx, before, after)
}

func (p *pass) patchStatus(ctx context.Context, before, after *berthv1alpha1.Cluster) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := p.Client.Status().Patch(ctx, after, patch); err != nil {
		return fmt.Errorf("writing the home of cluster %s: %w", before.Name, err)
	}
	return nil
}

// keep puts the finalizer on a cluster that has a home, and takes it away when that does not matter
// any more. With one scheduler nothing needs to be drained.
func (p *pass) keep(ctx context.Context, before *berthv1alpha1.Cluster) error {
	has := slices.Contains(before.Finalizers, berthv1alpha1.ClusterFinalizer)
	leaving := before.DeletionTimestamp != nil
	wants := before.Status.HomeScheduler != "" && (leaving && has || !leaving && len(p.objects) > 1)
	if has == wants {
		return nil
	}
	after := before.DeepCopy()
	if wants {
		after.Finalizers = append(after.Finalizers, berthv1alpha1.ClusterFinalizer)
	} else {
		after.Finalizers = slices.DeleteFunc(after.Finalizers, func(f string) bool { return f == berthv1alpha1.ClusterFinalizer })
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := p.Client.Patch(ctx, after, patch); err != nil {
		return fmt.Errorf("writing the finalizer of cluster %s: %w", before.Name, err)
	}
	*before = *after // of this pass alone
	return nil
}

// unmark takes from clusters that do not exist yet what they had when they were bound, or said that
// they were not: a finalizer would keep them for ever. It reports whether more is to come.
func (p *pass) unmark(ctx context.Context) (unfinished bool, err error) {
	var errs []error
	for _, before := range p.unmade {
		err := p.keep(ctx, before)
		after := before.DeepCopy()
		if err == nil && apimeta.RemoveStatusCondition(&after.Status.Conditions, berthv1alpha1.ClusterBound) {
			err = p.patchStatus(ctx, before, after)
		}
		if apierrors.IsConflict(err) {
			unfinished = true // the cache lags behind, or another controller wrote in between
			continue
		}
		errs = append(errs, client.IgnoreNotFound(err))
	}
	return unfinished, errors.Join(errs...)
}
