// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"
)

// sharingOwners is of how many owners a pod is remembered.
const sharingOwners = 4096

// sharer lets the pods of one owner share what is the same in them. Most come out of one template,
// and a cache of 150,000 pods would hold each label and each container as often, for the garbage
// collector to go through. Nobody may change what is in a cache anyway. It is not safe for
// concurrent use: an informer transforms one object after the other, some of them twice.
type sharer struct {
	// last is the pod of each owner that came last, by the UID of the owner.
	last *lru.Cache
}

func newSharer() *sharer {
	return &sharer{last: lru.New(sharingOwners)}
}

// pod trims a pod, and makes it hold of the pod of its owner that came before what is the same in
// both.
func (s *sharer) pod(pod *corev1.Pod) {
	Pod(pod)
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return
	}
	if last, found := s.last.Get(owner.UID); found {
		if other, isPod := last.(*corev1.Pod); isPod {
			share(pod, other)
		}
	}
	s.last.Add(owner.UID, pod)
}

// share goes through most of what Pod leaves of a pod, not what is rare or differs from pod to pod.
// Reflection, which takes longer, is for what few pods have.
func share(pod, other *corev1.Pod) {
	text(&pod.Namespace, other.Namespace)
	text(&pod.GenerateName, other.GenerateName)
	table(&pod.Labels, other.Labels)
	list(&pod.OwnerReferences, other.OwnerReferences, sameOwner)
	text(&pod.Status.Phase, other.Status.Phase)

	mine, theirs := &pod.Spec, &other.Spec
	text(&mine.SchedulerName, theirs.SchedulerName)
	text(&mine.PriorityClassName, theirs.PriorityClassName)
	pointer(&mine.Priority, theirs.Priority)
	pointer(&mine.PreemptionPolicy, theirs.PreemptionPolicy)
	pointer(&mine.RuntimeClassName, theirs.RuntimeClassName)
	table(&mine.Overhead, theirs.Overhead)
	table(&mine.NodeSelector, theirs.NodeSelector)
	list(&mine.Tolerations, theirs.Tolerations, sameToleration)
	list(&mine.Containers, theirs.Containers, sameContainer)
	list(&mine.InitContainers, theirs.InitContainers, sameContainer)
	list(&mine.TopologySpreadConstraints, theirs.TopologySpreadConstraints, same)
	if mine.Affinity != nil && reflect.DeepEqual(mine.Affinity, theirs.Affinity) {
		mine.Affinity = theirs.Affinity
	}
}

func text[T ~string](mine *T, theirs T) {
	if *mine == theirs {
		*mine = theirs
	}
}

func pointer[T comparable](mine **T, theirs *T) {
	if samePointee(*mine, theirs) {
		*mine = theirs
	}
}

func table[M ~map[K]V, K, V comparable](mine *M, theirs M) {
	if len(*mine) > 0 && maps.Equal(*mine, theirs) {
		*mine = theirs
	}
}

func list[T any](mine *[]T, theirs []T, same func(a, b *T) bool) {
	if len(*mine) == 0 || len(*mine) != len(theirs) {
		return
	}
	for i := range theirs {
		if !same(&(*mine)[i], &theirs[i]) {
			return
		}
	}
	*mine = theirs
}

func samePointee[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func same[T any](a, b *T) bool { return reflect.DeepEqual(a, b) }

func sameOwner(a, b *metav1.OwnerReference) bool {
	mine, theirs := *a, *b
	mine.Controller, mine.BlockOwnerDeletion = b.Controller, b.BlockOwnerDeletion
	return mine == theirs && samePointee(a.Controller, b.Controller) && samePointee(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

func sameToleration(a, b *corev1.Toleration) bool {
	mine, theirs := *a, *b
	mine.TolerationSeconds = b.TolerationSeconds
	return mine == theirs && samePointee(a.TolerationSeconds, b.TolerationSeconds)
}

// sameContainer compares what containers and cut leave of two of them.
func sameContainer(a, b *corev1.Container) bool {
	mine, theirs := &a.Resources, &b.Resources
	return a.Name == b.Name && samePointee(a.RestartPolicy, b.RestartPolicy) && slices.Equal(a.Ports, b.Ports) &&
		maps.Equal(mine.Requests, theirs.Requests) && maps.Equal(mine.Limits, theirs.Limits)
}
