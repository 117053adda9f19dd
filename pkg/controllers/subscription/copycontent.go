// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/model/workload"
)

// notCopied are the annotations and labels that are about the source and about nothing else.
var notCopied = []string{workload.RevisionAnnotation, corev1.LastAppliedConfigAnnotation, berthv1alpha1.ApplicationLabel}

// desired returns the copy of a source. Its pods have a label more, by which the copies are told
// apart.
func desired(source *unstructured.Unstructured, c *copied, owner *berthv1alpha1.Subscription) *unstructured.Unstructured {
	o := emptyCopy(c)
	o.SetNamespace(owner.Namespace)
	o.SetName(c.ref.Name)
	o.SetOwnerReferences([]metav1.OwnerReference{division.OwnerOf(owner)})
	labels, annotations := source.GetLabels(), source.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	for _, key := range notCopied {
		delete(labels, key)
		delete(annotations, key)
	}
	labels[berthv1alpha1.CopyOfLabel], labels[berthv1alpha1.CopyClusterLabel] = sourceLabel.Shorten(source.GetName()), c.cluster
	o.SetLabels(labels)
	if len(annotations) > 0 {
		o.SetAnnotations(annotations)
	}
	spec, _, _ := unstructured.NestedMap(source.Object, "spec")
	o.Object["spec"] = spec
	for _, path := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "template", "metadata", "labels"}} {
		// It fails only for what the API server refuses to have.
		_ = unstructured.SetNestedField(o.Object, c.cluster, append(path, berthv1alpha1.CopyClusterLabel)...)
	}
	return o
}

// scaleSubresource is where autoscalers write.
const scaleSubresource = "scale"

// autoscaled reports whether somebody else looks after the number of replicas of a copy: whoever
// wrote it last through the scale subresource, as a HorizontalPodAutoscaler does. People scale by
// hand with kubectl; what they write is put right.
func autoscaled(o *unstructured.Unstructured) bool {
	for _, entry := range o.GetManagedFields() {
		if entry.Subresource != scaleSubresource || strings.HasPrefix(entry.Manager, "kubectl") || entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Spec map[string]any `json:"f:spec"`
		}
		if err := json.Unmarshal(entry.FieldsV1.Raw, &fields); err != nil {
			continue
		}
		if _, owns := fields.Spec["f:replicas"]; owns {
			return true
		}
	}
	return false
}
