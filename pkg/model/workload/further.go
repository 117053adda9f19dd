// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/placement/policymatch"
)

// FurtherSource looks up owners of the kinds that are not in the table: those of operators.
// Implementations are safe for concurrent use.
type FurtherSource interface {
	// Further returns the object that a reference in an object of the namespace means: the one of
	// that name with the UID of the reference. The error wraps one of three:
	//
	//	ErrOwnerNotFound   it is still being looked up, and somebody will be told once that has ended
	//	ErrUnconfirmed     there is none, or Berth cannot or may not read it: the chain ends below it
	//	that of NotRead    such owners are not looked up here: the reference is taken at its word
	Further(namespace string, ref *metav1.OwnerReference) (*FurtherOwner, error)
}

// FurtherOwner is an object of a kind that is not in the table. It must not be changed.
type FurtherOwner struct {
	metav1.Object
	// Replicas is how many pods the object wants, and means nothing unless ReplicasKnown.
	Replicas      int32
	ReplicasKnown bool
	// Components are how many pods each part of the object wants, by its name; nil for objects without
	// parts. See Component.
	Components map[string]int32
	// Unreadable says why nobody can tell how many pods the object wants, although there is a rule for
	// its kind; empty if that can be told, or nothing says where its number lies.
	Unreadable string
}

// ErrUnconfirmed says that an owner cannot be confirmed, see FurtherSource.
var ErrUnconfirmed = errors.New("owner cannot be confirmed")

// errNotRead says that owners of kinds beyond the table are not looked up, see FurtherSource.
var errNotRead = errors.New("owners of such kinds are not looked up")

// NotRead is a FurtherSource that looks up nothing.
type NotRead struct{}

// Further returns errNotRead.
func (NotRead) Further(string, *metav1.OwnerReference) (*FurtherOwner, error) { return nil, errNotRead }

// WhyCut says why the chain of the controllers of a pod ends with a reference, see Workload.Cut.
func WhyCut(pod *corev1.Pod, cut *metav1.OwnerReference, source FurtherSource) string {
	kind, exists := ControllerKind(cut)
	if !exists {
		return "objects of that version do not control pods"
	}
	if kind == nil {
		if _, err := source.Further(pod.Namespace, cut); err != nil && !errors.Is(err, errNotRead) {
			return err.Error()
		}
	}
	return "it is too far above the pod"
}

// WhyUncounted says why nobody can tell how many pods a workload wants, although a rule says where
// its number lies; empty if it is known, or there is no such rule.
func WhyUncounted(w *Workload, source FurtherSource) string {
	if w.ReplicasKnown || w.LabelsUnknown || w.Kind == kindPod || source == nil || KindFor(w.APIVersion, w.Kind) != nil {
		return ""
	}
	owner, err := source.Further(w.Namespace, &metav1.OwnerReference{APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, UID: w.UID})
	if err != nil {
		return ""
	}
	return owner.Unreadable
}

// ofFurther returns the workload of a pod that an object of a kind beyond the table controls.
func ofFurther(pod *corev1.Pod, ref *metav1.OwnerReference, source Source) (Workload, error) {
	owner, err := source.Further(pod.Namespace, ref)
	switch {
	case errors.Is(err, errNotRead):
		return unread(ref, pod.Namespace), nil
	case errors.Is(err, ErrUnconfirmed):
		w := alone(pod)
		w.Cut = ref
		return w, nil
	case err != nil:
		return Workload{}, err
	}
	w, err := owner.workload(ref, source, maxSteps-1)
	if owner.Components != nil {
		w.Component = component(pod)
		w.Replicas, w.ReplicasKnown = owner.Components[w.Component], true
		if _, has := owner.Components[w.Component]; !has {
			w.Component, w.ReplicasKnown = "", false
		}
	}
	return w, err
}

// ofRevision returns the workload of an object of a kind of revisions, such as a ReplicaSet, that
// an object of a kind beyond the table controls.
func (k *Kind) ofRevision(object metav1.Object, parent *metav1.OwnerReference, source Source) (Workload, error) {
	owner, err := source.Further(object.GetNamespace(), parent)
	var w Workload
	switch {
	case errors.Is(err, errNotRead):
		w, err = unread(parent, object.GetNamespace()), nil
	case errors.Is(err, ErrUnconfirmed):
		w = k.workload(object)
		w.Cut = parent
		return w, nil
	case err == nil:
		w, err = owner.workload(parent, source, maxSteps-2)
	}
	if !w.ReplicasKnown {
		w.Replicas, w.ReplicasKnown = k.facts(object).replicas, true
	}
	return w, err
}

// aboveFurther is aboveOf for a reference to a kind beyond the table.
func aboveFurther(
	ref *metav1.OwnerReference, namespace string, source Source, steps int,
) (above *policymatch.Workload, cut *metav1.OwnerReference, err error) {
	owner, err := source.Further(namespace, ref)
	switch {
	case errors.Is(err, errNotRead):
		return unread(ref, namespace).Selectable(), nil, nil
	case errors.Is(err, ErrUnconfirmed):
		return nil, ref, nil
	case err != nil:
		return nil, nil, err
	}
	w, err := owner.workload(ref, source, steps-1)
	return w.Selectable(), w.Cut, err
}

// workload returns the object that a reference means as a workload, with what is above it in so
// many steps.
func (o *FurtherOwner) workload(ref *metav1.OwnerReference, source Source, steps int) (Workload, error) {
	w := Workload{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: o.GetNamespace(), Name: ref.Name, UID: ref.UID, Labels: o.GetLabels(),
		Replicas: o.Replicas, ReplicasKnown: o.ReplicasKnown,
	}
	var err error
	w.Above, w.Cut, err = aboveOf(o.Object, source, steps)
	return w, err
}

// unread returns a workload that was not looked up.
func unread(ref *metav1.OwnerReference, namespace string) Workload {
	return Workload{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: namespace, Name: ref.Name, UID: ref.UID, LabelsUnknown: true,
	}
}
