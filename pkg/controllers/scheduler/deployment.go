// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// specAnnotation tells of what the Deployment was made, so that it is written only when that
// changes.
const specAnnotation = "berth.dev/made-from"

// deploymentOf returns the Deployment that runs a managed Scheduler: a copy of the template, whose
// first container is also told the name of the Scheduler, and not to make it again when it has been
// deleted.
func deploymentOf(s *berthv1alpha1.Scheduler, template *appsv1.Deployment) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: template.Namespace, Name: berthv1alpha1.DefaultLeasePrefix + s.Name,
			Labels: maps.Clone(template.Labels), Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(s, berthv1alpha1.SchemeGroupVersion.WithKind("Scheduler"))},
		},
		Spec: *template.Spec.DeepCopy(),
	}
	name := map[string]string{"app.kubernetes.io/name": "berth-scheduler-shard", berthv1alpha1.SchedulerLabel: s.Name}
	d.Labels = with(d.Labels, name)
	d.Spec.Replicas = ptr.To(max(1, s.Spec.Managed.Replicas))
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: name}
	d.Spec.Template.Labels = with(d.Spec.Template.Labels, name)
	for i := range d.Spec.Template.Spec.TopologySpreadConstraints {
		d.Spec.Template.Spec.TopologySpreadConstraints[i].LabelSelector = &metav1.LabelSelector{MatchLabels: name}
	}
	if containers := d.Spec.Template.Spec.Containers; len(containers) > 0 {
		containers[0].Args = append(containers[0].Args, "--scheduler-name="+s.Name, "--register-scheduler=false")
	}
	d.Annotations[specAnnotation] = digest(d.Spec)
	return d
}

func with(labels, more map[string]string) map[string]string {
	all := maps.Clone(labels)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, more)
	return all
}

func digest(spec appsv1.DeploymentSpec) string {
	text, err := json.Marshal(spec)
	if err != nil {
		return "" // such a spec cannot come from an API server
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
