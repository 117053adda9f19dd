// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

const namespace = "ns"

var selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}

// meta makes the metadata of an object whose UID is its name.
func meta(name string, owner *metav1.OwnerReference) metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(name), Generation: 1, Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{},
	}
	if owner != nil {
		m.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return m
}

// kindNamed returns the kind of the table with that name, nil if there is none.
func kindNamed(name string) *workload.Kind {
	for _, kind := range workload.Kinds() {
		if kind.Kind == name {
			return kind
		}
	}
	return nil
}

func ownedBy(apiVersion, kind, name string) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(name), Controller: new(true)}
}

// template asks for Berth's scheduler and for the policy "p".
func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{berthv1alpha1.PolicyAnnotation: "p"}},
		Spec:       corev1.PodSpec{SchedulerName: "berth-scheduler"},
	}
}

// deployment is a Deployment whose controller has finished the revision with the given number.
func deployment(name, revision string, replicas int32, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: meta(name, nil),
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: template()},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: replicas, UpdatedReplicas: replicas},
	}
	d.Annotations[workload.RevisionAnnotation] = revision
	for _, change := range changes {
		change(d)
	}
	return d
}

// replicaSet is a ReplicaSet with the given revision number.
func replicaSet(name string, owner *metav1.OwnerReference, revision string, replicas int32) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{
		ObjectMeta: meta(name, owner),
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: selector, Template: template()},
		Status:     appsv1.ReplicaSetStatus{ObservedGeneration: 1},
	}
	rs.Annotations[workload.RevisionAnnotation] = revision
	return rs
}

func statefulSet(name, current, update string) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: meta(name, nil),
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(3)), Selector: selector, Template: template(), Ordinals: &appsv1.StatefulSetOrdinals{Start: 5},
		},
		Status: appsv1.StatefulSetStatus{ObservedGeneration: 1, CurrentRevision: current, UpdateRevision: update},
	}
}

func job(name string, completed bool) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: meta(name, nil),
		Spec:       batchv1.JobSpec{Parallelism: new(int32(2)), Selector: selector, Template: template()},
	}
	if completed {
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	}
	return j
}

// pod is a bound pod.
func pod(name string, owner *metav1.OwnerReference, changes ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: meta(name, owner),
		Spec:       corev1.PodSpec{NodeName: "node", SchedulerName: "berth-scheduler"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func pending(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending }

func terminating(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }

func phase(ph corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = ph } }

func revisionHash(hash string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[appsv1.ControllerRevisionHashLabelKey] = hash }
}

func bornAt(seconds int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, seconds, 0, time.UTC))
	}
}
