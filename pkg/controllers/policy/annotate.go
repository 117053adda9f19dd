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
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/pkg/model/stamp"
)

const (
	// writesAtOnce is how many pods of a namespace are written to at the same time: a policy may take
	// over thousands, and as many as the limit allows if a write takes less than a sixteenth of a
	// second.
	writesAtOnce = 32
	// outdated is when a pass looks again at pods that changed while they were written to.
	outdated = time.Second
)

// write is a change of the annotations of a pod; nil removes one. The labels that go with them
// change in the same request.
type write struct {
	pod     *corev1.Pod
	changes map[string]any
	// adopt is called if the pod had no place before; nil for nothing.
	adopt func()
}

// annotate carries out the writes. Pods that have changed meanwhile are left to the next pass.
func (p *pass) annotate(ctx context.Context, writes []write) error {
	errs, changed := make([]error, len(writes)), make([]bool, len(writes))
	workqueue.ParallelizeUntil(ctx, writesAtOnce, len(writes), func(i int) {
		changed[i], errs[i] = p.annotateOne(ctx, writes[i])
	})
	for _, again := range changed {
		if again {
			p.requeueAfter(outdated)
			break
		}
	}
	return errors.Join(errs...)
}

// annotateOne changes annotations of exactly this version of the pod: what anybody else wrote since
// is looked at first. The next pass comes with the update.
func (p *pass) annotateOne(ctx context.Context, w write) (changed bool, err error) {
	pod := w.pod
	metadata := map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion, "annotations": w.changes}
	if labels := stamp.Relabelled(pod, w.changes); labels != nil {
		metadata["labels"] = labels
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return false, fmt.Errorf("encoding the stamp of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	target := &corev1.Pod{}
	target.Namespace, target.Name = pod.Namespace, pod.Name
	err = p.Stamps.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("stamping pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	if _, stamped := stamp.Of(pod); !stamped {
		adoptions.Inc()
		if w.adopt != nil {
			w.adopt()
		}
	}
	p.logger.V(2).Info("Stamped pod anew", "pod", pod.Name, "annotations", w.changes)
	return false, nil
}
