// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package trim keeps informers from holding what no plugin looks at.
package trim

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// Informer makes an informer drop from objects what only the API server and kubectl need, often the
// larger half of them: who manages which field, and what was applied last. One that has been
// started already goes on to hold all of it, which costs memory and nothing else.
func Informer(informer cache.SharedIndexInformer) {
	_ = informer.SetTransform(trimmed)
}

// trimmed is a cache.TransformFunc.
func trimmed(object any) (any, error) {
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
