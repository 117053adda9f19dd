// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscriptions_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// volume makes a volume that can be used in one Cluster only, and a claim that is bound to it. It
// returns the name of the claim.
func (s *site) volume(ctx context.Context, cluster string) string {
	GinkgoHelper()
	one := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	volume, err := client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "disk-"},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: one, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/disk"}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: siteLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{s.suffix}},
					{Key: nameLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{cluster}},
				},
			}}}},
			ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: s.namespace, Name: "data"},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	class := ""
	claim, err := client.CoreV1().PersistentVolumeClaims(s.namespace).Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: volume.Spec.AccessModes, StorageClassName: &class, VolumeName: volume.Name,
			Resources: corev1.VolumeResourceRequirements{Requests: one},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return claim.Name
}

var _ = Describe("What fits together", func() {
	It("is counted for pods with a volume", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "4")
		s.cluster(ctx, "b", "8")
		claim := s.volume(ctx, "a")
		s.subscribe(ctx, "shop", []string{"web"}, nil)
		s.deployWith(ctx, "web", 3, func(template *corev1.PodTemplateSpec) {
			template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
			}}}
		})
		s.untilAvailable(ctx, "web", "a=3")
	})

	It("is counted for pods that are spread over nodes", func(ctx SpecContext) {
		s := newSite(ctx)
		s.clusterOf(ctx, "a", "8", "8", "8")
		s.cluster(ctx, "b", "64")
		s.subscribe(ctx, "shop", []string{"web"}, nil)
		s.deployWith(ctx, "web", 4, func(template *corev1.PodTemplateSpec) {
			template.Spec.NodeSelector = map[string]string{siteLabel: s.suffix}
			template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: template.Labels},
			}}
		})
		s.untilAvailable(ctx, "web", "a-1=1 a-2=1 a=1 b=1")
	})

	It("is counted for pods that have to be beside others", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "4")
		s.cluster(ctx, "b", "8")
		s.deployWith(ctx, "db", 1, func(template *corev1.PodTemplateSpec) {
			template.Spec.NodeSelector = map[string]string{siteLabel: s.suffix, nameLabel: "a"}
		})
		until(ctx, s.where("db"), "a=1")
		s.subscribe(ctx, "shop", []string{"web"}, nil)
		s.deployWith(ctx, "web", 3, func(template *corev1.PodTemplateSpec) {
			template.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
					TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
				}},
			}}
		})
		s.untilAvailable(ctx, "web", "a=3")
	})
})
