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
	InformerAndHear(informer, func(any) {})
}

// InformerAndHear is Informer for who wants to hear of objects when they are received, which may be
// long before they are handled. It is told of some of them twice.
func InformerAndHear(informer cache.SharedIndexInformer, received func(object any)) {
	_ = informer.SetTransform(func(object any) (any, error) {
		received(object)
		return trimmed(object)
	})
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
