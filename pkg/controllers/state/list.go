// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/pkg/model/workload"
)

// Owners looks up owners of kinds that are not in the table of package workload, and tells when it
// has learnt of some.
type Owners interface {
	workload.FurtherSource
	// Listen has a function called, which must not block, whenever something has become known of
	// owners in a namespace.
	Listen(changed func(namespace string, owner types.UID))
	// Problem says why objects of a kind cannot be read, nil if nothing is known to keep them from it.
	Problem(kind schema.GroupKind) error
}

// ListWorkloads reads the objects of a namespace from a cache, without copying them.
func ListWorkloads(ctx context.Context, reader client.Reader, namespace string) (*workload.Objects, error) {
	objects, err := ListOwners(ctx, reader, namespace)
	if err != nil {
		return nil, err
	}
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing pods of namespace %s: %w", namespace, err)
	}
	objects.Pods = pods.Items
	return objects, nil
}

// ListOwners reads the objects of a namespace that own pods from a cache, without copying them, and
// no pods.
func ListOwners(ctx context.Context, reader client.Reader, namespace string) (*workload.Objects, error) {
	objects := &workload.Objects{}
	options := []client.ListOption{client.InNamespace(namespace), client.UnsafeDisableDeepCopy}
	for _, kind := range workload.Kinds() {
		if err := listOwners(ctx, reader, kind, objects, options...); err != nil {
			return nil, fmt.Errorf("listing %s of namespace %s: %w", kind.Resource, namespace, err)
		}
	}
	return objects, nil
}

// listOwners adds the objects of a kind.
func listOwners(
	ctx context.Context, reader client.Reader, kind *workload.Kind, into *workload.Objects, options ...client.ListOption,
) error {
	list := kind.NewList()
	if err := reader.List(ctx, list, options...); err != nil {
		return err
	}
	return into.Add(list)
}
