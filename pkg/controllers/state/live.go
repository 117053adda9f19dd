// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/pkg/model/workload"
)

// LiveWorkload returns the same workload as the reader has it now, nil if it is gone. The reader should ask the API server. Only
// kinds with a selector can be read.
func LiveWorkload(ctx context.Context, reader client.Reader, o *workload.Observed) (*workload.Observed, error) {
	if o.Selector == nil {
		return nil, fmt.Errorf("%s %s/%s is of a kind that cannot be read", o.Kind, o.Namespace, o.Name)
	}
	objects, err := liveObjects(ctx, reader, o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("getting %s %s/%s: %w", o.Kind, o.Namespace, o.Name, err)
	}
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace(o.Namespace), selecting(o)); err != nil {
		return nil, fmt.Errorf("listing the pods of %s %s/%s: %w", o.Kind, o.Namespace, o.Name, err)
	}
	objects.Pods = pods.Items
	for _, found := range workload.Observe(objects) {
		if found.UID == o.UID {
			return found, nil
		}
	}
	return nil, nil
}

// liveObjects reads the object of the workload, and the ReplicaSets that are its revisions.
func liveObjects(ctx context.Context, reader client.Reader, o *workload.Observed) (*workload.Objects, error) {
	key := client.ObjectKey{Namespace: o.Namespace, Name: o.Name}
	objects := &workload.Objects{}
	switch {
	case o.Foreign():
		// The selector is that of one ReplicaSet, and a second one in use would be a rollout.
		return objects, liveReplicaSets(ctx, reader, objects, client.InNamespace(o.Namespace))
	case o.Kind == "Deployment":
		objects.Deployments = make([]appsv1.Deployment, 1)
		if err := reader.Get(ctx, key, &objects.Deployments[0]); err != nil {
			return nil, err
		}
		return objects, liveReplicaSets(ctx, reader, objects, client.InNamespace(o.Namespace), selecting(o))
	case o.Kind == "ReplicaSet":
		objects.ReplicaSets = make([]appsv1.ReplicaSet, 1)
		return objects, reader.Get(ctx, key, &objects.ReplicaSets[0])
	case o.Kind == "StatefulSet":
		objects.StatefulSets = make([]appsv1.StatefulSet, 1)
		return objects, reader.Get(ctx, key, &objects.StatefulSets[0])
	case o.Kind == "ReplicationController":
		objects.ReplicationControllers = make([]corev1.ReplicationController, 1)
		return objects, reader.Get(ctx, key, &objects.ReplicationControllers[0])
	default:
		return objects, nil
	}
}

func liveReplicaSets(ctx context.Context, reader client.Reader, objects *workload.Objects, options ...client.ListOption) error {
	var list appsv1.ReplicaSetList
	if err := reader.List(ctx, &list, options...); err != nil {
		return err
	}
	objects.ReplicaSets = list.Items
	return nil
}

func selecting(o *workload.Observed) client.ListOption {
	return client.MatchingLabelsSelector{Selector: o.Selector}
}
