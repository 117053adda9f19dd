// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload answers to which workload a pod belongs, how many replicas that workload wants,
// and which pods count as one revision of it. The scheduler asks for one pod with Of; the
// controllers and the CLI ask for a whole namespace with Observe. Both read one table of kinds and
// follow owners by the same rule.
package workload

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/placement/policymatch"
)

// ErrOwnerNotFound is wrapped by the error of Of when the controller of a pod does not exist, or is
// not known yet.
var ErrOwnerNotFound = errors.New("owner not found")

// Source looks up the owners of pods. Implementations are safe for concurrent use.
type Source interface {
	// Owner returns the named object of a kind, with a typed pointer such as *appsv1.Deployment in
	// it; callers do not modify it. If there is none the error is one for which
	// apierrors.IsNotFound holds.
	Owner(kind *Kind, namespace, name string) (metav1.Object, error)
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
	// ReplicasKnown is false for pods without an owner and for owners of kinds that Berth does not
	// read.
	ReplicasKnown bool
	// FirstOrdinal is the number of the first pod, if the workload is a StatefulSet that does not
	// count from 0.
	FirstOrdinal int32
}

// Selectable returns what selectors of policies are matched against.
func (w Workload) Selectable() *policymatch.Workload {
	return &policymatch.Workload{
		APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name,
		Labels: w.Labels, LabelsUnknown: w.LabelsUnknown,
	}
}

// Of returns the workload of a pod. A pod without a controller is its own workload, of kind Pod.
// The error wraps ErrOwnerNotFound if an object of the owner chain is missing or is another object
// of the same name. It does not allocate unless it fails.
func Of(pod *corev1.Pod, source Source) (Workload, error) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return Workload{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Labels: pod.Labels,
		}, nil
	}
	kind := KindFor(ref.APIVersion, ref.Kind)
	if kind == nil {
		return unread(ref, pod.Namespace), nil
	}
	object, err := lookup(kind, ref, pod.Namespace, source)
	if err != nil {
		return Workload{}, err
	}
	return ofOwner(kind, object, ref.APIVersion, source)
}

// ofOwner returns the workload of the pods of an object: the object itself or what it is a revision
// of. A ReplicaSet that a controller of a kind that is not read owns, an Argo Rollout for instance,
// belongs to that, and the number of replicas is the ReplicaSet's own.
func ofOwner(kind *Kind, object metav1.Object, apiVersion string, source Source) (Workload, error) {
	var parent *metav1.OwnerReference
	if kind.revision {
		parent = metav1.GetControllerOfNoCopy(object)
	}
	if parent == nil {
		return kind.workload(object, apiVersion), nil
	}
	above := KindFor(parent.APIVersion, parent.Kind)
	if above == nil {
		w := unread(parent, object.GetNamespace())
		w.Replicas, w.ReplicasKnown = kind.facts(object).replicas, true
		return w, nil
	}
	owner, err := lookup(above, parent, object.GetNamespace(), source)
	if err != nil {
		return Workload{}, err
	}
	return above.workload(owner, parent.APIVersion), nil
}

// workload returns an object of the kind as a workload, named in an API version of the kind's
// group.
func (k *Kind) workload(object metav1.Object, apiVersion string) Workload {
	f := k.facts(object)
	return Workload{
		APIVersion: apiVersion, Kind: k.Kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
		Labels: object.GetLabels(), Replicas: f.replicas, ReplicasKnown: true, FirstOrdinal: f.firstOrdinal,
	}
}

// unread returns a workload of a kind that Berth does not read.
func unread(ref *metav1.OwnerReference, namespace string) Workload {
	return Workload{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: namespace, Name: ref.Name, UID: ref.UID, LabelsUnknown: true,
	}
}

// lookup returns the owner that the reference means, and no other one of the same name.
func lookup(kind *Kind, ref *metav1.OwnerReference, namespace string, source Source) (metav1.Object, error) {
	object, err := source.Owner(kind, namespace, ref.Name)
	switch {
	case err == nil && object.GetUID() == ref.UID:
		return object, nil
	case err == nil:
		return nil, fmt.Errorf("%s %s/%s with UID %s: %w", ref.Kind, namespace, ref.Name, ref.UID, ErrOwnerNotFound)
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%s %s/%s: %w", ref.Kind, namespace, ref.Name, ErrOwnerNotFound)
	default:
		return nil, fmt.Errorf("getting %s %s/%s: %w", ref.Kind, namespace, ref.Name, err)
	}
}
