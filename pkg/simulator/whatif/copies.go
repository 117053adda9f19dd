// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/division"
)

// copyObject makes the copy of a workload that serves a Cluster.
func (s *Simulation) copyObject(
	ctx context.Context, owner *berthv1alpha1.Subscription, feed *berthv1alpha1.Feed, name, cluster string,
) error {
	source, err := s.find(feed.Kind, owner.Namespace, feed.Name)
	if err != nil {
		return err
	}
	meta := metav1.ObjectMeta{
		Namespace: owner.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{division.OwnerOf(owner)},
		Labels: map[string]string{berthv1alpha1.CopyClusterLabel: cluster},
	}
	switch typed := source.DeepCopyObject().(type) {
	case *appsv1.Deployment:
		serve(typed.Spec.Selector, &typed.Spec.Template, cluster)
		return s.apply(ctx, &appsv1.Deployment{ObjectMeta: meta, Spec: typed.Spec})
	case *appsv1.StatefulSet:
		serve(typed.Spec.Selector, &typed.Spec.Template, cluster)
		return s.apply(ctx, &appsv1.StatefulSet{ObjectMeta: meta, Spec: typed.Spec})
	}
	return nil
}

// serve has the pods of a copy carry the Cluster, so that they are not those of the original.
func serve(selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, cluster string) {
	metav1.AddLabelToSelector(selector, berthv1alpha1.CopyClusterLabel, cluster)
	metav1.SetMetaDataLabel(&template.ObjectMeta, berthv1alpha1.CopyClusterLabel, cluster)
}
