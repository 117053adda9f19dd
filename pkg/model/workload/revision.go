// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
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

// Ordinal returns the number that a StatefulSet or an Indexed Job gave to a pod, counted from 0.
// Such a number is the seat of the pod: those controllers remove the highest number first, so a
// smaller workload keeps the lowest seats. A StatefulSet that starts to count elsewhere
// (spec.ordinals.start) is read from first, its first ordinal.
func Ordinal(pod *corev1.Pod, first int32) (ordinal int32, ok bool) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return 0, false
	}
	kind, _ := ControllerKind(ref)
	if kind == nil || kind.ordinal == nil {
		return 0, false
	}
	text, start := kind.ordinal(pod, first)
	if text == "" || len(text) > len("2147483647") {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < int64(start) {
		return 0, false
	}
	return int32(n) - start, true
}
