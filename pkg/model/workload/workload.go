// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload tells to which workload a pod belongs, how many replicas that workload wants, and which pods count as
// one revision of it. The scheduler, the policy controller and the CLI all ask here, each with its own Source.
package workload

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/placement/policymatch"
)

// ErrOwnerNotFound is wrapped by the error of Of when the controller of a pod does not exist, or is not known yet.
var ErrOwnerNotFound = errors.New("owner not found")

// Source looks up the owners of pods. Lookups that find nothing return an error for which apierrors.IsNotFound holds; the
// objects returned are not modified. Implementations are safe for concurrent use.
type Source interface {
	// Deployment returns the named Deployment.
	Deployment(namespace, name string) (*appsv1.Deployment, error)
	// ReplicaSet returns the named ReplicaSet.
	ReplicaSet(namespace, name string) (*appsv1.ReplicaSet, error)
	// StatefulSet returns the named StatefulSet.
	StatefulSet(namespace, name string) (*appsv1.StatefulSet, error)
	// Job returns the named Job.
	Job(namespace, name string) (*batchv1.Job, error)
	// ReplicationController returns the named ReplicationController.
	ReplicationController(namespace, name string) (*corev1.ReplicationController, error)
}

// Workload is the object a user scales: the Deployment of a pod rather than its ReplicaSet.
type Workload struct {
	// APIVersion, Kind, Namespace and Name say which object it is.
	APIVersion, Kind, Namespace, Name string
	// UID of the object.
	UID types.UID
	// Labels of the object. They mean nothing if LabelsUnknown.
	Labels map[string]string
	// LabelsUnknown says that the object is of a kind that Berth does not read.
	LabelsUnknown bool
	// Replicas is the number of replicas wanted at present. It means nothing unless ReplicasKnown.
	Replicas int32
	// ReplicasKnown is false for pods without an owner and for owners of kinds that Berth does not read.
	ReplicasKnown bool
}

// Selectable returns what selectors of policies are matched against.
func (w Workload) Selectable() *policymatch.Workload {
	return &policymatch.Workload{
		APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name,
		Labels: w.Labels, LabelsUnknown: w.LabelsUnknown,
	}
}

// Of returns the workload of a pod. A pod without a controller is its own workload, of kind Pod. The error wraps
// ErrOwnerNotFound if an object of the owner chain is missing or is another object of the same name.
func Of(pod *corev1.Pod, source Source) (Workload, error) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return Workload{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Labels: pod.Labels,
		}, nil
	}
	switch groupKind(ref) {
	case "apps/ReplicaSet":
		return throughReplicaSet(pod.Namespace, ref, source)
	case "apps/StatefulSet":
		set, err := source.StatefulSet(pod.Namespace, ref.Name)
		if err := check(ref, pod.Namespace, set, err); err != nil {
			return Workload{}, err
		}
		return of(ref, set, replicasOrOne(set.Spec.Replicas)), nil
	case "batch/Job":
		job, err := source.Job(pod.Namespace, ref.Name)
		if err := check(ref, pod.Namespace, job, err); err != nil {
			return Workload{}, err
		}
		return of(ref, job, JobReplicas(job)), nil
	case "/ReplicationController":
		rc, err := source.ReplicationController(pod.Namespace, ref.Name)
		if err := check(ref, pod.Namespace, rc, err); err != nil {
			return Workload{}, err
		}
		return of(ref, rc, replicasOrOne(rc.Spec.Replicas)), nil
	default:
		return unread(ref, pod.Namespace), nil
	}
}

// throughReplicaSet follows a ReplicaSet to its Deployment. A ReplicaSet that a controller of another kind owns, an Argo
// Rollout for instance, belongs to that object, and the number of replicas is the ReplicaSet's own.
func throughReplicaSet(namespace string, ref *metav1.OwnerReference, source Source) (Workload, error) {
	set, err := source.ReplicaSet(namespace, ref.Name)
	if err := check(ref, namespace, set, err); err != nil {
		return Workload{}, err
	}
	parent := metav1.GetControllerOfNoCopy(set)
	if parent == nil {
		return of(ref, set, replicasOrOne(set.Spec.Replicas)), nil
	}
	if groupKind(parent) != "apps/Deployment" {
		w := unread(parent, namespace)
		w.Replicas, w.ReplicasKnown = replicasOrOne(set.Spec.Replicas), true
		return w, nil
	}
	deployment, err := source.Deployment(namespace, parent.Name)
	if err := check(parent, namespace, deployment, err); err != nil {
		return Workload{}, err
	}
	return of(parent, deployment, replicasOrOne(deployment.Spec.Replicas)), nil
}

// JobReplicas is the number of pods that a Job wants to run at present: its parallelism, or the completions that are left
// if those are fewer. A suspended or finished Job wants none.
func JobReplicas(job *batchv1.Job) int32 {
	if job.Spec.Suspend != nil && *job.Spec.Suspend {
		return 0
	}
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return 0
		}
	}
	wanted := replicasOrOne(job.Spec.Parallelism)
	if job.Spec.Completions != nil {
		wanted = min(wanted, max(0, *job.Spec.Completions-job.Status.Succeeded))
	}
	return wanted
}

func of(ref *metav1.OwnerReference, object metav1.Object, replicas int32) Workload {
	return Workload{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: object.GetNamespace(), Name: ref.Name, UID: ref.UID,
		Labels: object.GetLabels(), Replicas: replicas, ReplicasKnown: true,
	}
}

func unread(ref *metav1.OwnerReference, namespace string) Workload {
	return Workload{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: namespace, Name: ref.Name, UID: ref.UID, LabelsUnknown: true,
	}
}

func check(ref *metav1.OwnerReference, namespace string, object metav1.Object, err error) error {
	switch {
	case err == nil && object.GetUID() == ref.UID:
		return nil
	case err == nil:
		return fmt.Errorf("%s %s/%s with UID %s: %w", ref.Kind, namespace, ref.Name, ref.UID, ErrOwnerNotFound)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s %s/%s: %w", ref.Kind, namespace, ref.Name, ErrOwnerNotFound)
	default:
		return fmt.Errorf("getting %s %s/%s: %w", ref.Kind, namespace, ref.Name, err)
	}
}

func replicasOrOne(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return max(0, *replicas)
}
