// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// KindJob is the kind of Jobs, whose pods are never evicted.
const KindJob = "Job"

const (
	kindDeployment            = "Deployment"
	kindReplicaSet            = "ReplicaSet"
	kindStatefulSet           = "StatefulSet"
	kindReplicationController = "ReplicationController"
	kindPod                   = "Pod"

	appsGroup, batchGroup = "apps", "batch"
)

func ofDeployment(d *appsv1.Deployment) *Observed {
	o := ofTemplate(kindDeployment, appsv1.SchemeGroupVersion.String(), &d.ObjectMeta, &d.Spec.Template)
	o.Replicas = replicasOf(d.Spec.Replicas)
	o.Selector = selectorOf(d.Spec.Selector)
	o.Settled = d.Status.ObservedGeneration >= d.Generation && d.Status.UpdatedReplicas == d.Status.Replicas
	o.revision, o.newest = revisionNumber(d.Annotations), noRevision
	return o
}

// addRevision makes the ReplicaSet with the highest revision number the one that counts. The deployment controller gives
// the ReplicaSet of the present template a number above all others, also when it takes up an old one again. The number of
// the Deployment follows in a write of its own: until it does, the rollout is not settled.
func addRevision(o *Observed, rs *appsv1.ReplicaSet) {
	if revision := revisionNumber(rs.Annotations); o.Revision.Owner == "" || revision > o.newest {
		o.Revision, o.newest = Revision{Owner: rs.UID}, revision
	}
}

// noRevision is the number of what the deployment controller has not numbered.
const noRevision = -1

func revisionNumber(annotations map[string]string) int64 {
	n, err := strconv.ParseInt(annotations[RevisionAnnotation], 10, 64)
	if err != nil {
		return noRevision
	}
	return n
}

func ofReplicaSet(rs *appsv1.ReplicaSet) *Observed {
	o := ofTemplate(kindReplicaSet, appsv1.SchemeGroupVersion.String(), &rs.ObjectMeta, &rs.Spec.Template)
	o.Replicas = replicasOf(rs.Spec.Replicas)
	o.Selector = selectorOf(rs.Spec.Selector)
	o.Settled = rs.Status.ObservedGeneration >= rs.Generation
	o.Revision.Owner = rs.UID
	return o
}

// ofForeignOwner is the workload of a ReplicaSet that belongs to a controller of another kind, an Argo Rollout for
// instance. The number of replicas is the ReplicaSet's own.
func ofForeignOwner(parent *metav1.OwnerReference, rs *appsv1.ReplicaSet) *Observed {
	o := ofReplicaSet(rs)
	o.Kind, o.APIVersion, o.Name, o.UID, o.Labels = parent.Kind, parent.APIVersion, parent.Name, parent.UID, nil
	o.Generation, o.foreign = 0, rs
	return o
}

// addForeignRevision takes up a further ReplicaSet of the same foreign owner: the youngest one that has replicas counts.
// With two of them in use a rollout is under way.
func addForeignRevision(o *Observed, rs *appsv1.ReplicaSet) {
	present := o.foreign
	inUse := replicasOf(rs.Spec.Replicas) > 0
	used := replicasOf(present.Spec.Replicas) > 0
	settled := o.Settled
	if inUse && (!used || rs.CreationTimestamp.After(present.CreationTimestamp.Time)) {
		o.foreign = rs
		o.Revision.Owner = rs.UID
		o.Replicas = replicasOf(rs.Spec.Replicas)
		o.Selector = selectorOf(rs.Spec.Selector)
		o.Request, o.Scheduler = requestOf(rs.Spec.Template.Annotations), rs.Spec.Template.Spec.SchedulerName
		settled = rs.Status.ObservedGeneration >= rs.Generation
	}
	o.Settled = settled && (!inUse || !used)
}

func ofStatefulSet(set *appsv1.StatefulSet) *Observed {
	o := ofTemplate(kindStatefulSet, appsv1.SchemeGroupVersion.String(), &set.ObjectMeta, &set.Spec.Template)
	o.Replicas = replicasOf(set.Spec.Replicas)
	o.Selector = selectorOf(set.Spec.Selector)
	o.Settled = set.Status.ObservedGeneration >= set.Generation && set.Status.UpdateRevision == set.Status.CurrentRevision
	o.Revision = Revision{Owner: set.UID, Hash: set.Status.UpdateRevision}
	if set.Spec.Ordinals != nil {
		o.OrdinalStart = set.Spec.Ordinals.Start
	}
	return o
}

func ofJob(job *batchv1.Job) *Observed {
	o := ofTemplate(KindJob, batchv1.SchemeGroupVersion.String(), &job.ObjectMeta, &job.Spec.Template)
	o.Replicas = JobReplicas(job)
	o.Selector = selectorOf(job.Spec.Selector)
	o.Settled = true
	o.Revision.Owner = job.UID
	return o
}

func ofReplicationController(rc *corev1.ReplicationController) *Observed {
	template := rc.Spec.Template
	if template == nil {
		template = &corev1.PodTemplateSpec{}
	}
	o := ofTemplate(kindReplicationController, corev1.SchemeGroupVersion.String(), &rc.ObjectMeta, template)
	o.Replicas = replicasOf(rc.Spec.Replicas)
	o.Selector = labels.SelectorFromSet(rc.Spec.Selector)
	o.Settled = rc.Status.ObservedGeneration >= rc.Generation
	o.Revision.Owner = rc.UID
	return o
}

func ofTemplate(kind, apiVersion string, meta *metav1.ObjectMeta, template *corev1.PodTemplateSpec) *Observed {
	return &Observed{
		Workload: Workload{
			APIVersion: apiVersion, Kind: kind, Namespace: meta.Namespace, Name: meta.Name, UID: meta.UID,
			Labels: meta.Labels, ReplicasKnown: true,
		},
		Generation: meta.Generation,
		Request:    requestOf(template.Annotations),
		Scheduler:  template.Spec.SchedulerName,
	}
}

// ofBarePod is a pod without a controller: it is its own workload.
func ofBarePod(pod *corev1.Pod) *Observed {
	return &Observed{
		Workload: Workload{
			APIVersion: "v1", Kind: kindPod, Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Labels: pod.Labels,
		},
		Request: requestOf(pod.Annotations), Scheduler: pod.Spec.SchedulerName, Settled: true, Pods: []*corev1.Pod{pod},
		youngest: pod,
	}
}

// ofUnreadOwner is a workload of a kind that Berth does not read.
func ofUnreadOwner(ref *metav1.OwnerReference, pod *corev1.Pod) *Observed {
	return &Observed{Workload: Workload{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: pod.Namespace, Name: ref.Name, UID: ref.UID,
	}}
}

// isRead says whether the owner is of a kind that is listed, so that one that is not in the list does not exist, or is not
// known yet.
func isRead(ref *metav1.OwnerReference) bool {
	group, _, grouped := strings.Cut(ref.APIVersion, "/")
	if !grouped {
		return ref.Kind == kindReplicationController
	}
	switch ref.Kind {
	case kindDeployment, kindReplicaSet, kindStatefulSet:
		return group == appsGroup
	case KindJob:
		return group == batchGroup
	}
	return false
}

func isDeployment(ref *metav1.OwnerReference) bool { return ref.Kind == kindDeployment && isRead(ref) }

func replicasOf(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return max(0, *replicas)
}

// selectorOf returns a selector that selects nothing if the API server let one pass that cannot be understood.
func selectorOf(selector *metav1.LabelSelector) labels.Selector {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return labels.Nothing()
	}
	return parsed
}
