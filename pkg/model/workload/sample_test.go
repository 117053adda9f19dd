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
	shadowed := conf
	shadowed.Name = "data"
	set.Spec.Template.Spec.Volumes = []corev1.Volume{shadowed, conf}
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

// A sample of what makes claims of its own, as some operators do, has what all pods share.
func TestASampleHasNothingOfTheOnePod(t *testing.T) {
	clone := ownedBy("apps.kruise.io/v1alpha1", "CloneSet", "cs")
	claimed := func(volume, claim string) corev1.Volume {
		return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}
	}
	p := pod("cs-0", clone, func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{claimed("data", "data-cs-0"), claimed("shared", "library")}
	})
	sample, admitted := workload.Observe(&workload.Objects{Pods: []corev1.Pod{p}})[0].Sample()
	if diff := cmp.Diff([]corev1.Volume{claimed("shared", "library")}, sample.Spec.Volumes); !admitted || diff != "" {
		t.Errorf("like a pod: %t; volumes (-want +got):\n%s", admitted, diff)
	}
	if sample.Spec.NodeName != "" || len(sample.OwnerReferences) > 0 || p.Spec.NodeName == "" {
		t.Errorf("the sample runs on %q and belongs to %v", sample.Spec.NodeName, sample.OwnerReferences)
	}
}

func TestWhatASampleIsLike(t *testing.T) {
	set := ownedBy("apps/v1", "StatefulSet", "db")
	called := func(name, hash string, second int) corev1.Pod {
		return pod(name, set, revisionHash(hash), bornAt(second), labelled("is", name))
	}
	bare := &corev1.ReplicationController{ObjectMeta: meta("rc", nil)}
	tests := map[string]struct {
		objects workload.Objects
		// want is the label of the pod that the sample is like, empty for the template.
		want             string
		wantNone, wantOf bool
	}{
		"the template": {objects: workload.Objects{Owners: []workload.Object{statefulSet("db", "r1", "r2")}}},
		"the youngest pod": {
			objects: workload.Objects{
				Owners: []workload.Object{statefulSet("db", "r1", "r2")},
				Pods:   []corev1.Pod{called("db-5", "r2", 1), called("db-7", "r2", 3), called("db-6", "r2", 2)},
			}, want: "db-7", wantOf: true,
		},
		"the youngest pod of the newest revision": {
			objects: workload.Objects{
				Owners: []workload.Object{statefulSet("db", "r1", "r2")}, Pods: []corev1.Pod{called("db-5", "r2", 1), called("db-6", "r1", 2)},
			}, want: "db-5", wantOf: true,
		},
		"the template, while there are but old pods": {
			objects: workload.Objects{Owners: []workload.Object{statefulSet("db", "r1", "r2")}, Pods: []corev1.Pod{called("db-6", "r1", 2)}},
		},
		"nothing": {objects: workload.Objects{Owners: []workload.Object{bare}}, wantNone: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sample, admitted := workload.Observe(&tc.objects)[0].Sample()
			if admitted != tc.wantOf || (sample == nil) != tc.wantNone {
				t.Fatalf("sample %v, like a pod: %t, want %t", sample, admitted, tc.wantOf)
			}
			if sample != nil && sample.Labels["is"] != tc.want {
				t.Errorf("the sample is like %q, want %q", sample.Labels["is"], tc.want)
			}
		})
	}
}

func TestAnnotationsOfASample(t *testing.T) {
	given := map[string]string{
		"team": "shop", "berth.dev/seat": "3", "berth.dev/charged": "matlab/all=1", "groupingpolicy.kubeedge.io": "web",
	}
	before := len(given)
	want := map[string]string{"team": "shop", "groupingpolicy.kubeedge.io": "none"}
	if diff := cmp.Diff(want, workload.SampleAnnotations(given)); diff != "" || len(given) != before {
		t.Errorf("annotations, of which %d of %d are left in place (-want +got):\n%s", len(given), before, diff)
	}
}
