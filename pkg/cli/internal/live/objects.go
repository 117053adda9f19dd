// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package live reads the objects of a cluster from which placements follow: once, or again whenever they change.
package live

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// Objects are the objects of one namespace, or of all, with the nodes and Clusters. They are only read. As a
// workload.Source they know the owners that were read.
type Objects struct {
	workload.Objects
	Policies []berthv1alpha1.PropagationPolicy
	Clusters []berthv1alpha1.Cluster
	Nodes    []corev1.Node
	// Subscriptions are those of the namespace; who needs them reads them with ReadSubscriptions.
	Subscriptions []berthv1alpha1.Subscription
}

var _ workload.Source = &Objects{}

// Pod returns the named pod, nil if there is none.
func (o *Objects) Pod(namespace, name string) *corev1.Pod {
	i := slices.IndexFunc(o.Pods, func(p corev1.Pod) bool { return p.Namespace == namespace && p.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Pods[i]
}

// Policy returns the named policy, nil if there is none.
func (o *Objects) Policy(namespace, name string) *berthv1alpha1.PropagationPolicy {
	i := slices.IndexFunc(o.Policies, func(p berthv1alpha1.PropagationPolicy) bool { return p.Namespace == namespace && p.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Policies[i]
}

// Deployment returns the named Deployment.
func (o *Objects) Deployment(namespace, name string) (*appsv1.Deployment, error) {
	return find(o.Deployments, appsv1.Resource("deployments"), namespace, name, func(d *appsv1.Deployment) (string, string) {
		return d.Namespace, d.Name
	})
}

// ReplicaSet returns the named ReplicaSet.
func (o *Objects) ReplicaSet(namespace, name string) (*appsv1.ReplicaSet, error) {
	return find(o.ReplicaSets, appsv1.Resource("replicasets"), namespace, name, func(s *appsv1.ReplicaSet) (string, string) {
		return s.Namespace, s.Name
	})
}

// StatefulSet returns the named StatefulSet.
func (o *Objects) StatefulSet(namespace, name string) (*appsv1.StatefulSet, error) {
	return find(o.StatefulSets, appsv1.Resource("statefulsets"), namespace, name, func(s *appsv1.StatefulSet) (string, string) {
		return s.Namespace, s.Name
	})
}

// Job returns the named Job.
func (o *Objects) Job(namespace, name string) (*batchv1.Job, error) {
	return find(o.Jobs, batchv1.Resource("jobs"), namespace, name, func(j *batchv1.Job) (string, string) {
		return j.Namespace, j.Name
	})
}

// ReplicationController returns the named ReplicationController.
func (o *Objects) ReplicationController(namespace, name string) (*corev1.ReplicationController, error) {
	return find(o.ReplicationControllers, corev1.Resource("replicationcontrollers"), namespace, name,
		func(c *corev1.ReplicationController) (string, string) { return c.Namespace, c.Name })
}

func find[T any](
	objects []T, resource schema.GroupResource, namespace, name string, key func(*T) (namespace, name string),
) (*T, error) {
	for i := range objects {
		if ns, n := key(&objects[i]); ns == namespace && n == name {
			return &objects[i], nil
		}
	}
	return nil, apierrors.NewNotFound(resource, name)
}
