// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package trim keeps informers from holding what no plugin looks at.
package trim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// Informer makes an informer, which must not have been started yet, drop from objects what Object
// drops.
func Informer(informer cache.SharedIndexInformer) error {
	if err := informer.SetTransform(Object); err != nil {
		return fmt.Errorf("trimming what an informer holds: %w", err)
	}
	return nil
}

// Object drops from an object what only the API server and kubectl need, often the larger half of
// it: who manages which field, and what was applied last. It is a cache.TransformFunc.
func Object(object any) (any, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return object, nil //nolint:nilerr // not an object: a tombstone, which is left as it is
	}
	accessor.SetManagedFields(nil)
	if annotations := accessor.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
		delete(annotations, corev1.LastAppliedConfigAnnotation)
	}
	return object, nil
}
