// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	"berth.dev/berth/cmd/playground/localnode"
	"berth.dev/berth/pkg/localplane"
)

// schedulerTemplate returns the Deployment berth-scheduler of an installation, of which
// berth-controller-manager makes those of managed Schedulers. It is changed to have no replicas
// here: the scheduler that it would run is a child process from the start.
func schedulerTemplate(objects []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for _, object := range objects {
		if object.GetKind() != "Deployment" || object.GetName() != localplane.BerthScheduler {
			continue
		}
		if err := unstructured.SetNestedField(object.Object, int64(0), "spec", "replicas"); err != nil {
			return nil, fmt.Errorf("preparing Deployment %s: %w", localplane.BerthScheduler, err)
		}
		return object, nil
	}
	return nil, fmt.Errorf("the manifests have no Deployment %s", localplane.BerthScheduler)
}

// runPods runs the pods of Berth's programs as processes until stopRunner.
func (w *World) runPods(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := localnode.New(w.Client, w.plane).Run(ctx); err != nil {
			klog.FromContext(ctx).Error(err, "The pods of Berth cannot be run")
		}
	}()
	w.stopRunner = func() {
		cancel()
		<-done
	}
}
