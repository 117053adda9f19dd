// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"math"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// RevisionAnnotation is the number by which the deployment controller tells the revisions of a
// Deployment apart, on the Deployment and on its ReplicaSets.
const RevisionAnnotation = "deployment.kubernetes.io/revision"

// rolloutsPodTemplateHash is the label by which Argo Rollouts tells revisions apart.
const rolloutsPodTemplateHash = "rollouts-pod-template-hash"

// Revision identifies the pods that share one set of seats: the pods of one revision of one
// workload. Old and new pods of a rollout have different revisions, because with one shared count a
// rollout that may neither exceed its share nor drop below its replicas never ends. The zero value
// stands for no revision.
//
// It holds all that the pods say of their controller, so two pods of one revision have the same
// controller, and if that of one is confirmed, so is that of the other. Nobody gets onto the seats
// of a ReplicaSet by its UID alone.
type Revision struct {
	// Namespace of the pods, and so of their controller.
	Namespace string
	// Kind of the controller; nil for kinds that Berth does not read.
	Kind *Kind
	// Name and Owner are the name and the UID of the controller.
	Name  string
	Owner types.UID
	// Hash tells the revisions of one controller apart; empty for controllers that make a new
	// object for each revision.
	Hash string
	// Component is the part of the controller's object, see component; empty for kinds that Berth
	// reads.
	Component string
}

// RevisionOf returns the revision of a pod; ok is false for a pod without a controller, and for one
// whose controller cannot exist. It does not allocate.
func RevisionOf(pod *corev1.Pod) (revision Revision, ok bool) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return Revision{}, false
	}
	kind, exists := ControllerKind(ref)
	if !exists {
		return Revision{}, false
	}
	revision = Revision{Namespace: pod.Namespace, Kind: kind, Name: ref.Name, Owner: ref.UID}
	if kind != nil && kind.single {
		return revision, true
	}
	if kind == nil {
		revision.Component = component(pod)
	}
	for _, label := range [...]string{
		appsv1.ControllerRevisionHashLabelKey, appsv1.DefaultDeploymentUniqueLabelKey, rolloutsPodTemplateHash,
	} {
		if hash := pod.Labels[label]; hash != "" {
			revision.Hash = hash
			break
		}
	}
	return revision, true
}

// revisionOf returns the revision of the pods that an object of the kind controls, by the hash in
// their labels.
func (k *Kind) revisionOf(object metav1.Object, hash string) Revision {
	return Revision{
		Namespace: object.GetNamespace(), Kind: k, Name: object.GetName(), Owner: object.GetUID(), Hash: hash,
	}
}

// RevisionUnder returns the revision whose seats a pod shares under a policy, the one in force for
// it or the one that placed it: its own or, for a pod without a controller, one that all such pods
// of the policy share, and none without a policy. Owned is false for those pods.
func RevisionUnder(pod *corev1.Pod, policy string) (revision Revision, owned bool) {
	if revision, owned = RevisionOf(pod); owned || policy == "" {
		return revision, owned
	}
	return Revision{Namespace: pod.Namespace, Name: policy, Hash: "pods without a controller"}, false
}

// Ordinal returns the number of a pod, counted from 0: that of the group that it belongs to, or the
// one that Number returns. Such a number is the seat of the pod: those controllers remove the
// highest number first, so a smaller workload keeps the lowest seats.
func Ordinal(pod *corev1.Pod, first int32) (ordinal int32, ok bool) {
	if group := pod.Labels[groupIndexLabel]; group != "" {
		if _, ok := Number(pod, first); ok {
			return parseOrdinal(group, 0)
		}
	}
	return Number(pod, first)
}

// Number returns the number that a StatefulSet or an Indexed Job gave to a pod, counted from 0. One
// that starts to count elsewhere, as a StatefulSet with spec.ordinals.start does, is read from
// first, the first ordinal of the workload.
func Number(pod *corev1.Pod, first int32) (ordinal int32, ok bool) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return 0, false
	}
	kind, _ := ControllerKind(ref)
	if kind == nil || kind.ordinal == nil {
		return 0, false
	}
	return parseOrdinal(kind.ordinal(pod, first))
}

// parseOrdinal reads a number, counted from a start.
func parseOrdinal(text string, start int32) (ordinal int32, ok bool) {
	if text == "" || len(text) > len("2147483647") {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 32)
	n -= int64(start)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0, false
	}
	return int32(n), true
}
