// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/pkg/model/workload"
)

// ListWorkloads reads the objects of a namespace from a cache, without copying them.
func ListWorkloads(ctx context.Context, reader client.Reader, namespace string) (*workload.Objects, error) {
	var (
		deployments  appsv1.DeploymentList
		replicaSets  appsv1.ReplicaSetList
		statefulSets appsv1.StatefulSetList
		jobs         batchv1.JobList
		controllers  corev1.ReplicationControllerList
		pods         corev1.PodList
	)
	for _, list := range []client.ObjectList{&deployments, &replicaSets, &statefulSets, &jobs, &controllers, &pods} {
		if err := reader.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing %T of namespace %s: %w", list, namespace, err)
		}
	}
	return &workload.Objects{
		Deployments: deployments.Items, ReplicaSets: replicaSets.Items, StatefulSets: statefulSets.Items,
		Jobs: jobs.Items, ReplicationControllers: controllers.Items, Pods: pods.Items,
	}, nil
}
