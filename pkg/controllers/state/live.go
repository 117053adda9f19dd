// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/pkg/model/workload"
)

// LiveWorkload returns the same workload as the reader has it now, nil if it is gone. The reader
// should ask the API server. Only workloads that say how many pods they want can be read. Objects
// of kinds beyond the table are taken as known.
func LiveWorkload(ctx context.Context, reader client.Reader, o *workload.Observed) (*workload.Observed, error) {
	if !o.ReplicasKnown {
		return nil, fmt.Errorf("%s %s/%s is of a kind that cannot be read", o.Kind, o.Namespace, o.Name)
	}
	objects, err := liveOwners(ctx, reader, o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("getting %s %s/%s: %w", o.Kind, o.Namespace, o.Name, err)
	}
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, selecting(o)...); err != nil {
		return nil, fmt.Errorf("listing the pods of %s %s/%s: %w", o.Kind, o.Namespace, o.Name, err)
	}
	objects.Pods = pods.Items
	for _, found := range workload.Observe(objects) {
		if found.ID() == o.ID() {
			return found, nil
		}
	}
	return nil, nil
}

// liveOwners reads the object of the workload, and those that are its revisions. What is above it
// decides which policy is in force, and is taken as known.
func liveOwners(ctx context.Context, reader client.Reader, o *workload.Observed) (*workload.Objects, error) {
	objects := &workload.Objects{Owners: slices.Clone(o.AboveObjects()), Further: o.Further()}
	revisions := selecting(o)
	switch {
	case o.Selector == nil:
		return objects, nil
	case o.Foreign():
		// Its selector is that of one ReplicaSet, and a second one in use would be a rollout.
		revisions = []client.ListOption{client.InNamespace(o.Namespace)}
	default:
		object := workload.KindFor(o.APIVersion, o.Kind).NewObject()
		if err := reader.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Name}, object); err != nil {
			return nil, err
		}
		objects.Owners = append(objects.Owners, object)
	}
	if kind := o.RevisionKind(); kind != nil {
		return objects, listOwners(ctx, reader, kind, objects, revisions...)
	}
	return objects, nil
}

// selecting selects the pods of a workload as far as that can be said in a request.
func selecting(o *workload.Observed) []client.ListOption {
	options := []client.ListOption{client.InNamespace(o.Namespace)}
	if o.Selector != nil {
		options = append(options, client.MatchingLabelsSelector{Selector: o.Selector})
	}
	return options
}
