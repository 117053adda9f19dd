// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
)

const (
	// settlers is how many pods are changed at a time.
	settlers = 32
	// waitingPage is how many pods are read at a time.
	waitingPage = 500
)

// Stop takes the Lease of a scheduler that has died, and makes impossible that it binds a pod by a
// Binding which is still on its way: every pod that it may have meant to bind is changed, once for
// each of its deaths. Until the returned time no process of it binds anything. Elsewhere reports
// whether a Scheduler other than this one runs; the pods whose home that is are its own. False says
// that the scheduler is alive after all, or that not all is done yet.
func (l *Leases) Stop(
	ctx context.Context, key types.NamespacedName, elsewhere func(scheduler string) bool,
) (until time.Time, stopped bool, err error) {
	until, taken, err := l.Acquire(ctx, key)
	if err != nil || !taken || l.RuledOut(key) {
		return until, taken, err
	}
	if err := l.ruleOut(ctx, elsewhere); err != nil {
		return until, false, fmt.Errorf("ruling out late bindings of the holder of lease %s: %w", key, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ruledOut[key] = true
	return until, true, nil
}

// RuledOut reports whether Stop has succeeded since anybody but its callers held the Lease, as far
// as Get and Stop have seen.
func (l *Leases) RuledOut(key types.NamespacedName) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ruledOut[key]
}

// ruleOut changes every pod that has no node and whose home is not elsewhere.
func (l *Leases) ruleOut(ctx context.Context, elsewhere func(scheduler string) bool) error {
	options := &client.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", ""), Limit: waitingPage}
	for {
		var page corev1.PodList
		if err := l.reader.List(ctx, &page, options); err != nil {
			return fmt.Errorf("listing pods: %w", err)
		}
		var mu sync.Mutex
		var errs []error
		workqueue.ParallelizeUntil(ctx, settlers, len(page.Items), func(i int) {
			pod := &page.Items[i]
			if home := pod.Labels[berthv1alpha1.HomeSchedulerLabel]; !workload.Tried(pod) || home != "" && elsewhere(home) {
				return
			}
			patch := client.RawPatch(types.MergePatchType, stamp.Settlement(pod.UID, string(uuid.NewUUID())))
			if err := l.writer.Patch(ctx, pod, patch); err != nil && !apierrors.IsNotFound(err) {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, fmt.Errorf("changing pod %s/%s: %w", pod.Namespace, pod.Name, err))
			}
		})
		if err := errors.Join(append(errs, ctx.Err())...); err != nil {
			return err
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return nil
		}
	}
}
