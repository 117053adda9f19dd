// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
)

// Sample returns a pod like the next one of the workload: its newest pod of the revision that
// counts, since admission has added to that what it adds, or else what its template makes; nil if
// neither is known. Admitted reports whether it is like a pod. The sample has no node and no owner,
// nothing of what Berth wrote, and no policy places it, so that one can ask where it fits. Claims
// that a StatefulSet makes for each of its pods are volumes of its own, as if it were to get new
// ones.
func (o *Observed) Sample() (sample *corev1.Pod, admitted bool) {
	if newest := o.newestPod(); newest != nil {
		sample := &corev1.Pod{ObjectMeta: o.sampleMeta(newest.Labels, newest.Annotations), Spec: newest.Spec}
		sample.Spec.NodeName = ""
		sample.Spec.Volumes = o.withClaims(slices.DeleteFunc(slices.Clone(newest.Spec.Volumes), func(v corev1.Volume) bool {
			// The claim that a StatefulSet made for this pod is not that of the next.
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == v.Name+"-"+newest.Name
		}))
		return sample, true
	}
	if o.template == nil {
		return nil, false
	}
	sample = &corev1.Pod{ObjectMeta: o.sampleMeta(o.template.Labels, o.template.Annotations), Spec: o.template.Spec}
	sample.Spec.Volumes = o.withClaims(sample.Spec.Volumes)
	return sample, false
}

// OrdinalClaims marks a volume of a sample that stands for a claim which a StatefulSet makes for
// each ordinal. Its value is what the name of such a claim has between that of the volume and the
// ordinal. It is on no object of the API server.
const OrdinalClaims = "berth.dev/ordinal-claims"

// withClaims returns volumes with those of the claims that each pod gets for itself, which take the
// place of others of their name.
func (o *Observed) withClaims(volumes []corev1.Volume) []corev1.Volume {
	if len(o.claims) == 0 {
		return volumes
	}
	volumes = slices.DeleteFunc(slices.Clone(volumes), func(v corev1.Volume) bool {
		return slices.ContainsFunc(o.claims, func(c corev1.PersistentVolumeClaim) bool { return c.Name == v.Name })
	})
	for i := range o.claims {
		claim := &o.claims[i]
		volumes = append(volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{
			Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{OrdinalClaims: "-" + o.Name + "-"}}, Spec: claim.Spec,
			}},
		}})
	}
	return volumes
}

func (o *Observed) newestPod() *corev1.Pod {
	var newest *corev1.Pod
	for _, pod := range o.Pods {
		if o.counts(pod) && (newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp)) {
			newest = pod
		}
	}
	return newest
}

func (o *Observed) sampleMeta(labels, annotations map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, Labels: SampleLabels(labels), Annotations: SampleAnnotations(annotations),
	}
}

// SampleLabels returns a copy of the labels of a pod or of its template that has nothing of what
// Berth wrote.
func SampleLabels(labels map[string]string) map[string]string {
	kept := maps.Clone(labels)
	delete(kept, berthv1alpha1.ClusterLabel)
	delete(kept, berthv1alpha1.HomeSchedulerLabel)
	return kept
}

// SampleAnnotations returns a copy of the annotations of a pod or of its template that has nothing
// of what Berth wrote, and that lets no policy place the pod.
func SampleAnnotations(annotations map[string]string) map[string]string {
	kept := map[string]string{}
	maps.Copy(kept, annotations)
	maps.DeleteFunc(kept, func(key, _ string) bool { return stamp.Written(key) })
	kept[berthv1alpha1.PolicyAnnotation] = berthv1alpha1.PolicyNone
	return kept
}
