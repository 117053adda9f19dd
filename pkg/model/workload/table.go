// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"math"
	"reflect"
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

// kinds is the table of the kinds that Berth reads. A new kind is a new entry, and a rule that lets
// the programs read it.
var kinds = complete([]*Kind{
	{
		GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), Resource: "replicasets",
		object: &appsv1.ReplicaSet{}, list: &appsv1.ReplicaSetList{},
		facts:    typed(ofReplicaSet),
		selector: typed(func(rs *appsv1.ReplicaSet) labels.Selector { return selectorOf(rs.Spec.Selector) }),
		revision: true, single: true,
	},
	{
		GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"), Resource: "deployments",
		object: &appsv1.Deployment{}, list: &appsv1.DeploymentList{},
		facts:    typed(ofDeployment),
		selector: typed(func(d *appsv1.Deployment) labels.Selector { return selectorOf(d.Spec.Selector) }),
		numbered: true,
	},
	{
		GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), Resource: "statefulsets",
		object: &appsv1.StatefulSet{}, list: &appsv1.StatefulSetList{},
		facts:    typed(ofStatefulSet),
		selector: typed(func(set *appsv1.StatefulSet) labels.Selector { return selectorOf(set.Spec.Selector) }),
		ordered:  true, ordinal: ordinalOfStatefulSet,
	},
	{
		GroupVersionKind: batchv1.SchemeGroupVersion.WithKind(KindJob), Resource: "jobs",
		object: &batchv1.Job{}, list: &batchv1.JobList{},
		facts:    typed(ofJob),
		selector: typed(func(job *batchv1.Job) labels.Selector { return selectorOf(job.Spec.Selector) }),
		single:   true, ends: true, ordinal: ordinalOfJob,
	},
	{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ReplicationController"), Resource: "replicationcontrollers",
		object: &corev1.ReplicationController{}, list: &corev1.ReplicationControllerList{},
		facts: typed(ofReplicationController),
		selector: typed(func(rc *corev1.ReplicationController) labels.Selector {
			return labels.SelectorFromSet(rc.Spec.Selector)
		}),
		single: true,
	},
	{
		GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("CronJob"), Resource: "cronjobs",
		object: &batchv1.CronJob{}, list: &batchv1.CronJobList{},
		facts:    typed(ofCronJob),
		selector: typed(func(*batchv1.CronJob) labels.Selector { return labels.Nothing() }),
		above:    true,
	},
})

// complete fills in what follows from the rest of an entry.
func complete(table []*Kind) []*Kind {
	for _, kind := range table {
		kind.apiVersion, kind.goType = kind.GroupVersion().String(), reflect.TypeOf(kind.object)
	}
	return table
}

// typed makes a function of one type of objects a function of objects, which must be of that type:
// KindOf sees to it.
func typed[T metav1.Object, R any](read func(T) R) func(metav1.Object) R {
	return func(object metav1.Object) R {
		return read(object.(T)) //nolint:errcheck // see above
	}
}

func ofReplicaSet(rs *appsv1.ReplicaSet) facts {
	return facts{
		replicas: replicasOrOne(rs.Spec.Replicas), template: &rs.Spec.Template,
		settled: rs.Status.ObservedGeneration >= rs.Generation,
	}
}

func ofDeployment(d *appsv1.Deployment) facts {
	return facts{
		replicas: replicasOrOne(d.Spec.Replicas), template: &d.Spec.Template,
		settled: d.Status.ObservedGeneration >= d.Generation && d.Status.UpdatedReplicas == d.Status.Replicas,
	}
}

func ofStatefulSet(set *appsv1.StatefulSet) facts {
	f := facts{
		replicas: replicasOrOne(set.Spec.Replicas), template: &set.Spec.Template, hash: set.Status.UpdateRevision,
		claims:  set.Spec.VolumeClaimTemplates,
		settled: set.Status.ObservedGeneration >= set.Generation && set.Status.UpdateRevision == set.Status.CurrentRevision,
	}
	if set.Spec.Ordinals != nil {
		f.firstOrdinal = set.Spec.Ordinals.Start
	}
	return f
}

func ofJob(job *batchv1.Job) facts {
	return facts{
		replicas: jobReplicas(job), template: &job.Spec.Template, settled: true, firstOrdinal: firstIndex(job),
	}
}

// firstIndex returns with which number the indexes of a Job begin: 0, but for the second and later
// Jobs of a JobSet, whose indexes go on where those of the Job before end. With 2 indexes a Job
// the third Job has the seats 4 and 5, so its first index is 0 - 4.
func firstIndex(job *batchv1.Job) int32 {
	text := job.Labels[jobIndexLabel]
	if text == "" || job.Spec.Completions == nil {
		return 0
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if before := number * int64(*job.Spec.Completions); err == nil && before > 0 && before < math.MaxInt32 {
		return int32(-before)
	}
	return 0
}

// ofCronJob knows nothing but the template of the Jobs: how many pods there are is for each Job to
// say.
func ofCronJob(cron *batchv1.CronJob) facts {
	return facts{template: &cron.Spec.JobTemplate.Spec.Template}
}

func ofReplicationController(rc *corev1.ReplicationController) facts {
	return facts{
		replicas: replicasOrOne(rc.Spec.Replicas), template: rc.Spec.Template,
		settled: rc.Status.ObservedGeneration >= rc.Generation,
	}
}

func jobReplicas(job *batchv1.Job) int32 {
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

func replicasOrOne(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return max(0, *replicas)
}

// selectorOf returns a selector that selects nothing if the API server let one pass that cannot be
// understood.
func selectorOf(selector *metav1.LabelSelector) labels.Selector {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return labels.Nothing()
	}
	return parsed
}

// ordinalOfStatefulSet reads the label that the controller writes since Kubernetes 1.28, else the
// end of the name.
func ordinalOfStatefulSet(pod *corev1.Pod, first int32) (text string, start int32) {
	if text = pod.Labels[appsv1.PodIndexLabel]; text == "" {
		text = pod.Name[strings.LastIndexByte(pod.Name, '-')+1:]
	}
	return text, first
}

// ordinalOfJob reads the label that the controller writes since Kubernetes 1.28, else the
// annotation. Jobs count from 0, those of a JobSet together.
func ordinalOfJob(pod *corev1.Pod, first int32) (text string, start int32) {
	if text = pod.Labels[batchv1.JobCompletionIndexAnnotation]; text == "" {
		text = pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	}
	return text, min(first, 0)
}
