// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
)

// AnnotationsDigest exists in the cache only. It changes with the annotations of a Deployment or
// StatefulSet, of which the cache does not have the text, but for those that other controllers and
// kubectl keep there.
const AnnotationsDigest = "berth.dev/annotations-digest"

// podAnnotations are the annotations of pods that the controllers read.
var podAnnotations = []string{
	berthv1alpha1.PolicyAnnotation, berthv1alpha1.PlacedByAnnotation, berthv1alpha1.PlacedPolicyAnnotation,
	berthv1alpha1.PlacedClusterAnnotation, berthv1alpha1.SeatAnnotation, corev1.PodDeletionCost, policy.SafeToEvictAnnotation,
	corev1.MirrorPodAnnotationKey, batchv1.JobCompletionIndexAnnotation, berthv1alpha1.ChargedAnnotation,
	berthv1alpha1.GranteeAnnotation, berthv1alpha1.GeoLocationAnnotation,
	berthv1alpha1.ClusterLabelConstraintAnnotation, berthv1alpha1.ClusterMetricConstraintAnnotation,
	berthv1alpha1.ClusterResourceConstraintAnnotation, berthv1alpha1.ClusterRankingAnnotation,
}

// ByObject returns what the cache of the controllers holds of each kind. Pods of one owner share
// what is the same in all.
func ByObject() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Pod{}:                   {Transform: transform(newSharer().pod)},
		&corev1.Node{}:                  {Transform: transform(trimNode)},
		&appsv1.Deployment{}:            {Transform: transform(deployment)},
		&appsv1.ReplicaSet{}:            {Transform: transform(replicaSet)},
		&appsv1.StatefulSet{}:           {Transform: transform(statefulSet)},
		&batchv1.Job{}:                  {Transform: transform(job)},
		&batchv1.CronJob{}:              {Transform: transform(cronJob)},
		&corev1.ReplicationController{}: {Transform: transform(replicationController)},
		&corev1.Namespace{}:             {Transform: transform(namespace)},
		&corev1.PersistentVolumeClaim{}: {Transform: transform(claim)},
		&corev1.PersistentVolume{}:      {Transform: transform(volume)},
		&storagev1.VolumeAttachment{}:   {Transform: transform(attachment)},
	}
}

// transform makes a transform of the cache; what is not a T, such as a tombstone, passes unchanged.
func transform[T any](trim func(*T)) func(any) (any, error) {
	return func(object any) (any, error) {
		if typed, ok := object.(*T); ok {
			trim(typed)
		}
		return object, nil
	}
}

// Pod cuts a pod down to its owner, what Berth wrote on it, what decides where it and its like run,
// and whether it runs.
func Pod(pod *corev1.Pod) {
	meta(&pod.ObjectMeta, podAnnotations...)
	pod.Spec = scheduling(&pod.Spec)
	cut(pod.Spec.Containers)
	cut(pod.Spec.InitContainers)
	conditions := podReady(pod.Status.Conditions)
	if pod.Spec.NodeName == "" {
		conditions = append(conditions, podScheduled(pod.Status.Conditions)...)
	}
	pod.Status = corev1.PodStatus{
		Phase: pod.Status.Phase, StartTime: pod.Status.StartTime, Conditions: conditions,
		ContainerStatuses:     resized(pod.Spec.Containers, pod.Status.ContainerStatuses),
		InitContainerStatuses: resized(pod.Spec.InitContainers, pod.Status.InitContainerStatuses),
	}
}

// resized keeps what containers have that is not what they ask for, because they were resized: the
// larger one counts.
func resized(asking []corev1.Container, statuses []corev1.ContainerStatus) (kept []corev1.ContainerStatus) {
	requests := make(map[string]corev1.ResourceList, len(asking))
	for i := range asking {
		requests[asking[i].Name] = asking[i].Resources.Requests
	}
	for i := range statuses {
		s := corev1.ContainerStatus{Name: statuses[i].Name, AllocatedResources: statuses[i].AllocatedResources}
		same := s.AllocatedResources == nil || apiequality.Semantic.DeepEqual(s.AllocatedResources, requests[s.Name])
		if has := statuses[i].Resources; has != nil {
			s.Resources = &corev1.ResourceRequirements{Requests: has.Requests}
			same = same && apiequality.Semantic.DeepEqual(has.Requests, requests[s.Name])
		}
		if !same {
			kept = append(kept, s)
		}
	}
	return kept
}

// scheduling keeps what plugins of the scheduler read of a pod.
func scheduling(full *corev1.PodSpec) corev1.PodSpec {
	return corev1.PodSpec{
		NodeName: full.NodeName, SchedulerName: full.SchedulerName, Priority: full.Priority,
		PriorityClassName: full.PriorityClassName, PreemptionPolicy: full.PreemptionPolicy,
		RuntimeClassName: full.RuntimeClassName, Overhead: full.Overhead, Resources: full.Resources, HostNetwork: full.HostNetwork,
		Containers: containers(full.Containers, full.HostNetwork), InitContainers: containers(full.InitContainers, full.HostNetwork),
		NodeSelector: full.NodeSelector, Affinity: full.Affinity, Tolerations: full.Tolerations,
		TopologySpreadConstraints: full.TopologySpreadConstraints, ResourceClaims: full.ResourceClaims,
		SchedulingGates: full.SchedulingGates, Volumes: bound(full.Volumes),
	}
}

// containers keeps the limits, too: where a template has no requests they are those of its pods.
// The ports of a pod in the network of its node are ports of the node.
func containers(full []corev1.Container, hostNetwork bool) []corev1.Container {
	if len(full) == 0 {
		return nil
	}
	kept := make([]corev1.Container, len(full))
	for i := range full {
		kept[i] = corev1.Container{
			Name: full[i].Name, RestartPolicy: full[i].RestartPolicy,
			Resources: corev1.ResourceRequirements{Requests: full[i].Resources.Requests, Limits: full[i].Resources.Limits},
		}
		for _, port := range full[i].Ports {
			if port.HostPort != 0 || hostNetwork {
				kept[i].Ports = append(kept[i].Ports, port)
			}
		}
	}
	return kept
}

// cut leaves out what only makes a difference before a pod is created.
func cut(containers []corev1.Container) {
	for i := range containers {
		containers[i].Resources.Limits = nil
	}
}

// bound keeps the volumes that bind a pod to a place: claims, and disks that one node can use at a
// time or of which a node can use a few.
func bound(volumes []corev1.Volume) []corev1.Volume {
	var kept []corev1.Volume
	for i := range volumes {
		v := &volumes[i]
		if v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil ||
			v.ISCSI != nil || v.RBD != nil || v.AzureDisk != nil || v.Cinder != nil || v.VsphereVolume != nil || v.PortworxVolume != nil {
			kept = append(kept, *v)
		}
	}
	return kept
}

func podReady(conditions []corev1.PodCondition) []corev1.PodCondition {
	for _, c := range conditions {
		if c.Type == corev1.PodReady {
			return []corev1.PodCondition{{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime}}
		}
	}
	return nil
}

// podScheduled keeps whether a scheduler has tried a pod in vain, since when, and why.
func podScheduled(conditions []corev1.PodCondition) []corev1.PodCondition {
	for _, c := range conditions {
		if c.Type == corev1.PodScheduled {
			return []corev1.PodCondition{{
				Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime,
			}}
		}
	}
	return nil
}

// trimNode cuts a node down to its labels, and whether and how much it takes. Heartbeats
// leave no trace.
func trimNode(node *corev1.Node) {
	meta(&node.ObjectMeta)
	node.Spec = corev1.NodeSpec{Unschedulable: node.Spec.Unschedulable, Taints: node.Spec.Taints}
	status := corev1.NodeStatus{Allocatable: node.Status.Allocatable}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			status.Conditions = []corev1.NodeCondition{{Type: c.Type, Status: c.Status}}
		}
	}
	node.Status = status
}

func deployment(d *appsv1.Deployment) {
	digest(&d.ObjectMeta)
	meta(&d.ObjectMeta, workload.RevisionAnnotation, AnnotationsDigest)
	template(&d.Spec.Template)
	d.Status.Conditions = slices.Clone(workload.Refusals(d)) // The others are not to be held by the same array.
}

func replicaSet(rs *appsv1.ReplicaSet) {
	meta(&rs.ObjectMeta, workload.RevisionAnnotation)
	template(&rs.Spec.Template)
	rs.Status.Conditions = nil
}

func statefulSet(set *appsv1.StatefulSet) {
	digest(&set.ObjectMeta)
	meta(&set.ObjectMeta, AnnotationsDigest)
	template(&set.Spec.Template)
	for i := range set.Spec.VolumeClaimTemplates {
		of := &set.Spec.VolumeClaimTemplates[i]
		*of = corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: of.Name}, Spec: of.Spec}
	}
	set.Status.Conditions = nil
}

func job(j *batchv1.Job) {
	meta(&j.ObjectMeta)
	template(&j.Spec.Template)
	j.Status.UncountedTerminatedPods = nil
}

func cronJob(c *batchv1.CronJob) {
	meta(&c.ObjectMeta)
	meta(&c.Spec.JobTemplate.ObjectMeta)
	template(&c.Spec.JobTemplate.Spec.Template)
	c.Status.Active = nil
}

func replicationController(rc *corev1.ReplicationController) {
	meta(&rc.ObjectMeta)
	if rc.Spec.Template != nil {
		template(rc.Spec.Template)
	}
	rc.Status.Conditions = nil
}

func namespace(n *corev1.Namespace) {
	meta(&n.ObjectMeta)
}

// claim keeps what a claim asks for, and to which volume it is bound or on which node it is to be.
func claim(c *corev1.PersistentVolumeClaim) {
	meta(&c.ObjectMeta, corev1.BetaStorageClassAnnotation, volumehelpers.AnnBindCompleted, volumehelpers.AnnBoundByController,
		volumehelpers.AnnSelectedNode)
	c.Status = corev1.PersistentVolumeClaimStatus{Phase: c.Status.Phase}
}

// volume keeps who may use a volume, and where. How it is mounted is the kubelet's business.
func volume(v *corev1.PersistentVolume) {
	meta(&v.ObjectMeta, corev1.BetaStorageClassAnnotation, volumehelpers.AnnBoundByController)
	v.Spec.MountOptions = nil
	if csi := v.Spec.CSI; csi != nil {
		v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: csi.Driver, VolumeHandle: csi.VolumeHandle}
	}
	v.Status = corev1.PersistentVolumeStatus{Phase: v.Status.Phase}
}

// attachment keeps which volume is, or is about to be, at which node.
func attachment(a *storagev1.VolumeAttachment) {
	meta(&a.ObjectMeta)
	a.Spec.Source.InlineVolumeSpec = nil
	a.Status = storagev1.VolumeAttachmentStatus{}
}

// template keeps of the pods of a workload what Pod keeps of one.
func template(t *corev1.PodTemplateSpec) {
	meta(&t.ObjectMeta, podAnnotations...)
	t.Spec = scheduling(&t.Spec)
}

func meta(m *metav1.ObjectMeta, annotations ...string) {
	m.ManagedFields = nil
	maps.DeleteFunc(m.Annotations, func(key, _ string) bool {
		return !slices.Contains(annotations, key) && !strings.HasPrefix(key, berthv1alpha1.ClusterResourceAnnotationPrefix)
	})
}

// digest notes a hash of the annotations.
func digest(m *metav1.ObjectMeta) {
	hash := fnv.New64a()
	counted := false
	for _, key := range slices.Sorted(maps.Keys(m.Annotations)) {
		if key == workload.RevisionAnnotation || key == corev1.LastAppliedConfigAnnotation || key == AnnotationsDigest {
			continue
		}
		fmt.Fprintf(hash, "%q=%q,", key, m.Annotations[key])
		counted = true
	}
	if counted {
		m.Annotations[AnnotationsDigest] = strconv.FormatUint(hash.Sum64(), 16)
	}
}
