// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/model/workload"
)

// TestClaimsOfASample looks at the volumes of a sample of a StatefulSet with a claim "data" for
// each ordinal, and with a volume "conf".
func TestClaimsOfASample(t *testing.T) {
	class := "local"
	claim := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class},
	}
	conf := corev1.Volume{Name: "conf", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	set := &appsv1.StatefulSet{ObjectMeta: meta("db", nil), Spec: appsv1.StatefulSetSpec{
		Selector: selector, Template: template(), VolumeClaimTemplates: []corev1.PersistentVolumeClaim{claim},
	}}
	set.Spec.Template.Spec.Volumes = []corev1.Volume{conf}
	claimed := func(name string) corev1.Volume {
		return corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}}
	}
	pod := corev1.Pod{
		ObjectMeta: meta("db-0", ownedBy("apps/v1", "StatefulSet", "db")), Spec: corev1.PodSpec{Volumes: []corev1.Volume{claimed("data-db-0"), conf}},
	}
	want := []corev1.Volume{conf, {Name: "data", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
		VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{workload.OrdinalClaims: "-db-"}}, Spec: claim.Spec,
		},
	}}}}
	for name, pods := range map[string][]corev1.Pod{"of its template": nil, "of its newest pod": {pod}} {
		t.Run(name, func(t *testing.T) {
			observed := workload.Observe(&workload.Objects{Owners: []workload.Object{set}, Pods: pods})
			sample, admitted := observed[0].Sample()
			if admitted != (pods != nil) {
				t.Errorf("it is like a pod: %t", admitted)
			}
			if diff := cmp.Diff(want, sample.Spec.Volumes); diff != "" {
				t.Errorf("volumes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
