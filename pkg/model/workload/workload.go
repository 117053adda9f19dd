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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/policymatch"
)

// kindPod is the kind of workloads that are one pod.
const kindPod = "Pod"

// ErrOwnerNotFound is wrapped by the error of Of when the controller of a pod does not exist, or is
// not known yet.
var ErrOwnerNotFound = errors.New("owner not found")

// Source looks up the owners of pods. Implementations are safe for concurrent use.
type Source interface {
	// Owner returns the named object of a kind, with a typed pointer such as *appsv1.Deployment in
	// it; callers do not modify it. If there is none the error is one for which
	// apierrors.IsNotFound holds.
	Owner(kind *Kind, namespace, name string) (metav1.Object, error)

	FurtherSource
}

// Workload is the object a user scales: the Deployment of a pod rather than its ReplicaSet.
type Workload struct {
	// APIVersion, Kind, Namespace and Name say which object it is.
	APIVersion, Kind, Namespace, Name string
	// UID of the object.
	UID types.UID
	// Component is the part of the object if that has several, each with a number of replicas of its
	// own; see component.
	Component string
	// Labels of the object. They mean nothing if LabelsUnknown.
	Labels map[string]string
	// LabelsUnknown says that the object was not looked up, see NotRead.
	LabelsUnknown bool
	// Replicas is the number of replicas wanted at present. It means nothing unless ReplicasKnown.
	Replicas int32
	// ReplicasKnown is false for pods without an owner and for owners of which Berth does not know
	// where they have their number.
	ReplicasKnown bool
	// Above is what controls the object, for instance the CronJob of a Job or an object of an
	// operator's kind; nil if nothing does, or nothing that can exist. A policy that selects what is
	// above beats one that selects the workload.
	Above *policymatch.Workload
	// FirstOrdinal is the number of the first pod, if the workload is a StatefulSet that does not
	// count from 0. For a Job of a JobSet it is the negative of how many indexes the Jobs before it
	// have, so that all Jobs of a JobSet share out one row of seats.
	FirstOrdinal int32
	// Cut is the reference with which the chain of controllers ended because it could not be
	// confirmed; nil if the chain is complete.
	Cut *metav1.OwnerReference
}

// Ref returns the reference that objects of Berth use for the workload.
func (w *Workload) Ref() berthv1alpha1.WorkloadReference {
	return berthv1alpha1.WorkloadReference{APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, Component: w.Component}
}

// ID is what tells one workload from another. A UID alone does not: in the references of pods
// anybody can write that of another workload.
type ID struct {
	schema.GroupKind
	types.NamespacedName
	UID       types.UID
	Component string
}

// ID returns what tells the workload from others.
func (w *Workload) ID() ID {
	return ID{
		GroupKind:      schema.FromAPIVersionAndKind(w.APIVersion, w.Kind).GroupKind(),
		NamespacedName: types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, UID: w.UID, Component: w.Component,
	}
}

// KnownReplicas returns how many replicas are wanted at present, nil if that is not known.
func (w *Workload) KnownReplicas() *int32 {
	if !w.ReplicasKnown {
		return nil
	}
	return new(w.Replicas)
}

// Selectable returns what selectors of policies are matched against.
func (w Workload) Selectable() *policymatch.Workload {
	return &policymatch.Workload{
		APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name,
		Labels: w.Labels, LabelsUnknown: w.LabelsUnknown, Above: w.Above,
	}
}

// maxSteps is how many controllers of a pod are followed, one above the other.
const maxSteps = 8

// Of returns the workload of a pod: the topmost of its chain of controllers that says how many pods
// it wants for itself, with what is above. Each is looked up in the namespace of the pod by name,
// and must have the UID that the reference has. A pod without a controller is its own workload, of
// kind Pod, and so is one whose controller cannot exist or cannot be confirmed. The error wraps
// ErrOwnerNotFound if an object of the chain is missing, as it is for a moment while a watch lags
// behind, or is another object of the same name, or is being looked up. Of does not allocate unless
// it fails or something is above the workload.
//
// The chain ends after eight steps, so a cycle does no harm.
func Of(pod *corev1.Pod, source Source) (Workload, error) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return alone(pod), nil
	}
	kind, exists := ControllerKind(ref)
	switch {
	case !exists:
		w := alone(pod)
		w.Cut = ref
		return w, nil
	case kind == nil:
		return ofFurther(pod, ref, source)
	}
	object, err := lookup(kind, ref, pod.Namespace, source)
	if err != nil {
		return Workload{}, err
	}
	return ofOwner(kind, object, source)
}

// Below reports whether an object is among those that control a pod, one above the other, as far as
// they are known.
func Below(pod *corev1.Pod, owner types.UID, source Source) bool {
	object := metav1.Object(pod)
	for range maxSteps {
		ref := metav1.GetControllerOfNoCopy(object)
		if ref == nil || ref.UID == owner {
			return ref != nil
		}
		kind, exists := ControllerKind(ref)
		var err error
		switch {
		case !exists:
			return false
		case kind == nil:
			object, err = source.Further(pod.Namespace, ref)
		default:
			object, err = lookup(kind, ref, pod.Namespace, source)
		}
		if err != nil {
			return false
		}
	}
	return false
}

// alone returns a pod as its own workload.
func alone(pod *corev1.Pod) Workload {
	return Workload{
		APIVersion: "v1", Kind: kindPod, Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Labels: pod.Labels,
	}
}

// ofOwner returns the workload of the pods of an object: the object itself or what it is a revision
// of. If that is of a kind beyond the table, an Argo Rollout for instance, and does not say how
// many pods it wants, the number is the ReplicaSet's own.
func ofOwner(kind *Kind, object metav1.Object, source Source) (Workload, error) {
	parent := metav1.GetControllerOfNoCopy(object)
	if parent == nil {
		return kind.workload(object), nil
	}
	above, exists := ControllerKind(parent)
	switch {
	case !exists:
		w := kind.workload(object)
		w.Cut = parent
		return w, nil
	case !kind.revision, above != nil && above.above:
		return kind.workloadBelow(object, source)
	case above == nil:
		return kind.ofRevision(object, parent, source)
	}
	owner, err := lookup(above, parent, object.GetNamespace(), source)
	if err != nil {
		return Workload{}, err
	}
	if metav1.GetControllerOfNoCopy(owner) == nil {
		return above.workload(owner), nil
	}
	return above.workloadBelow(owner, source)
}

// workloadBelow returns an object of the kind as a workload, with what is above it. How far up that
// goes depends on the kind alone, so it is the same for who begins with a pod and for who begins
// with the object: between a Deployment and its pods there is one controller more.
func (k *Kind) workloadBelow(object metav1.Object, source Source) (Workload, error) {
	steps := maxSteps - 1
	if k.numbered {
		steps--
	}
	w := k.workload(object)
	var err error
	w.Above, w.Cut, err = aboveOf(object, source, steps)
	return w, err
}

// aboveOf returns what controls an object, nil if nothing does, following so many steps. Cut is the
// reference that could not be confirmed.
func aboveOf(
	object metav1.Object, source Source, steps int,
) (above *policymatch.Workload, cut *metav1.OwnerReference, err error) {
	ref := metav1.GetControllerOfNoCopy(object)
	if ref == nil || steps <= 0 {
		return nil, ref, nil
	}
	kind, exists := ControllerKind(ref)
	if !exists {
		return nil, ref, nil
	}
	if kind == nil {
		return aboveFurther(ref, object.GetNamespace(), source, steps)
	}
	owner, err := lookup(kind, ref, object.GetNamespace(), source)
	if err != nil {
		return nil, nil, err
	}
	above = kind.workload(owner).Selectable()
	above.Above, cut, err = aboveOf(owner, source, steps-1)
	return above, cut, err
}

// workload returns an object of the kind as a workload.
func (k *Kind) workload(object metav1.Object) Workload {
	f := k.facts(object)
	return Workload{
		APIVersion: k.apiVersion, Kind: k.Kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
		Labels: object.GetLabels(), Replicas: f.replicas, ReplicasKnown: !k.above, FirstOrdinal: f.firstOrdinal,
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
