// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"maps"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/workload"
)

// transformOf returns the transform that the cache has for a kind.
func transformOf[T any](tb testing.TB) cache.TransformFunc {
	tb.Helper()
	for kind, by := range state.ByObject() {
		if reflect.TypeOf(kind) == reflect.TypeFor[*T]() {
			return by.Transform
		}
	}
	tb.Fatalf("no transform for %T", new(T))
	return nil
}

// trimmed runs the transform that the cache would run on the object.
func trimmed[T any](t *testing.T, object *T) *T {
	t.Helper()
	out, err := transformOf[T](t)(object)
	if err != nil {
		t.Fatal(err)
	}
	typed, ok := out.(*T)
	if !ok {
		t.Fatalf("the transform returns a %T", out)
	}
	return typed
}

func fullPod(annotations map[string]string) *corev1.Pod {
	requests := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", UID: "u", Labels: map[string]string{"app": "web"}, Annotations: annotations,
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
		},
		Spec: corev1.PodSpec{
			NodeName: "n", SchedulerName: "s", Hostname: "h",
			NodeSelector: map[string]string{"a": "b"},
			Tolerations:  []corev1.Toleration{{Key: "k"}},
			Volumes: []corev1.Volume{
				{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}},
				{Name: "data", VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"},
				}},
			},
			Containers: []corev1.Container{{
				Name: "main", Image: "i", Env: []corev1.EnvVar{{Name: "SECRET", Value: "v"}}, Resources: requests,
				Ports: []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 81, HostPort: 81}},
			}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "192.0.2.1",
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, Message: "m"},
			},
		},
	}
}

func TestPod(t *testing.T) {
	common := func() *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u", Labels: map[string]string{"app": "web"}},
			Spec: corev1.PodSpec{
				NodeName: "n", SchedulerName: "s", NodeSelector: map[string]string{"a": "b"},
				Tolerations: []corev1.Toleration{{Key: "k"}}, Volumes: fullPod(nil).Spec.Volumes[1:],
				Containers: []corev1.Container{{
					Name: "main",
					Resources: corev1.ResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
					},
					Ports: []corev1.ContainerPort{{ContainerPort: 81, HostPort: 81}},
				}},
			},
			Status: corev1.PodStatus{
				Phase:      corev1.PodRunning,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			},
		}
	}
	stranger := common()
	stranger.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "x"}
	stamped := common()
	stamped.Annotations = map[string]string{berthv1alpha1.PlacedByAnnotation: "u/n"}
	holder := common()
	holder.Annotations = map[string]string{
		berthv1alpha1.ChargedAnnotation: "a/default=1", berthv1alpha1.ClusterResourceAnnotationPrefix + "a": "1",
	}
	tests := map[string]struct {
		annotations map[string]string
		want        *corev1.Pod
	}{
		"a pod that asks for cluster resources": {
			annotations: map[string]string{
				berthv1alpha1.ChargedAnnotation: "a/default=1", berthv1alpha1.ClusterResourceAnnotationPrefix + "a": "1", "token": "secret",
			},
			want: holder,
		},
		"a pod that Berth did not place": {
			annotations: map[string]string{berthv1alpha1.PolicyAnnotation: "x", "token": "secret"}, want: stranger,
		},
		"a pod that Berth placed": {
			annotations: map[string]string{berthv1alpha1.PlacedByAnnotation: "u/n", "token": "secret"}, want: stamped,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := trimmed(t, fullPod(tc.annotations))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("trimmed pod mismatch (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got.DeepCopy(), trimmed(t, got)); diff != "" {
				t.Errorf("trimming twice changes the pod (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestNodeLosesItsHeartbeat(t *testing.T) {
	got := trimmed(t, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"x": "y"}},
		Spec:       corev1.NodeSpec{ProviderID: "p", Unschedulable: true},
		Status: corev1.NodeStatus{
			Images: []corev1.ContainerImage{{SizeBytes: 1}},
			Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeMemoryPressure}, {Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()},
			},
		},
	})
	want := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{}},
		Spec:       corev1.NodeSpec{Unschedulable: true},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trimmed node mismatch (-want +got):\n%s", diff)
	}
}

func TestWorkloadsKeepSchedulerRequestAndRevision(t *testing.T) {
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{berthv1alpha1.PolicyAnnotation: "p", "x": "y"}},
		Spec:       corev1.PodSpec{SchedulerName: "s", Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
	}
	want := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{berthv1alpha1.PolicyAnnotation: "p"}},
		Spec:       corev1.PodSpec{SchedulerName: "s", Containers: []corev1.Container{{Name: "main"}}},
	}
	revision := metav1.ObjectMeta{Annotations: map[string]string{workload.RevisionAnnotation: "3", "x": "y"}}
	copies := func() corev1.PodTemplateSpec { return *template.DeepCopy() }
	rcTemplate := copies()
	deployment := trimmed(t, &appsv1.Deployment{ObjectMeta: *revision.DeepCopy(), Spec: appsv1.DeploymentSpec{Template: copies()}})
	replicaSet := trimmed(t, &appsv1.ReplicaSet{ObjectMeta: *revision.DeepCopy(), Spec: appsv1.ReplicaSetSpec{Template: copies()}})
	for kind, got := range map[string]corev1.PodTemplateSpec{
		"Deployment":            deployment.Spec.Template,
		"ReplicaSet":            replicaSet.Spec.Template,
		"StatefulSet":           trimmed(t, &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: copies()}}).Spec.Template,
		"Job":                   trimmed(t, &batchv1.Job{Spec: batchv1.JobSpec{Template: copies()}}).Spec.Template,
		"ReplicationController": *trimmed(t, &corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Template: &rcTemplate}}).Spec.Template,
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("template of the %s mismatch (-want +got):\n%s", kind, diff)
		}
	}
	claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "v"}}
	whole := claim
	whole.Labels, whole.Status.Phase = map[string]string{"x": "y"}, corev1.ClaimPending
	claims := trimmed(t, &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{whole}}}).Spec.VolumeClaimTemplates
	if diff := cmp.Diff([]corev1.PersistentVolumeClaim{claim}, claims); diff != "" {
		t.Errorf("claims of the StatefulSet mismatch (-want +got):\n%s", diff)
	}
	delete(deployment.Annotations, state.AnnotationsDigest)
	for kind, got := range map[string]map[string]string{"Deployment": deployment.Annotations, "ReplicaSet": replicaSet.Annotations} {
		if diff := cmp.Diff(map[string]string{workload.RevisionAnnotation: "3"}, got); diff != "" {
			t.Errorf("annotations of the %s mismatch (-want +got):\n%s", kind, diff)
		}
	}
}

func TestDigestTellsOfChangesOfAnnotations(t *testing.T) {
	digest := func(annotations map[string]string) string {
		d := trimmed(t, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Annotations: maps.Clone(annotations)}})
		set := trimmed(t, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Annotations: maps.Clone(annotations)}})
		if d.Annotations[state.AnnotationsDigest] != set.Annotations[state.AnnotationsDigest] {
			t.Errorf("the digests of a Deployment and a StatefulSet with %v differ", annotations)
		}
		return d.Annotations[state.AnnotationsDigest]
	}
	team := digest(map[string]string{"team": "shop"})
	tests := map[string]struct {
		annotations map[string]string
		wantSame    bool
	}{
		"none":                           {annotations: nil},
		"another value":                  {annotations: map[string]string{"team": "bank"}},
		"one more":                       {annotations: map[string]string{"team": "shop", "tier": "1"}},
		"what stands in key and value":   {annotations: map[string]string{"team=shop": ""}},
		"the number of another revision": {annotations: map[string]string{"team": "shop", workload.RevisionAnnotation: "2"}, wantSame: true},
		"what kubectl keeps there": {
			annotations: map[string]string{"team": "shop", corev1.LastAppliedConfigAnnotation: "{}"}, wantSame: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := digest(tc.annotations) == team; got != tc.wantSame {
				t.Errorf("the digest is the same: %t, want %t", got, tc.wantSame)
			}
		})
	}
	if got := digest(nil); got != "" {
		t.Errorf("no annotations have the digest %q", got)
	}
}

func TestTombstonesPass(t *testing.T) {
	tombstone := cache.DeletedFinalStateUnknown{Key: "k"}
	for kind, by := range state.ByObject() {
		if got, err := by.Transform(tombstone); err != nil || got != any(tombstone) {
			t.Errorf("the transform of %T returns %v, %v for a tombstone", kind, got, err)
		}
	}
}

func TestTheCacheTrimsEveryKindOfTheTable(t *testing.T) {
	trimmed := map[reflect.Type]bool{}
	for object, in := range state.ByObject() {
		trimmed[reflect.TypeOf(object)] = in.Transform != nil
	}
	for _, kind := range workload.Kinds() {
		if !trimmed[reflect.TypeOf(kind.NewObject())] {
			t.Errorf("the cache holds %s whole", kind.Resource)
		}
	}
}

func TestVolumesKeepWhoMayUseThemWhere(t *testing.T) {
	annotations := func(more ...string) map[string]string {
		kept := map[string]string{}
		for _, key := range more {
			kept[key] = "x"
		}
		return kept
	}
	got := trimmed(t, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "v", Annotations: annotations("pv.kubernetes.io/bound-by-controller", "note"), Labels: map[string]string{"zone": "a"}},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: "disk", MountOptions: []string{"ro"}, ClaimRef: &corev1.ObjectReference{Name: "c"},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: "d", VolumeHandle: "h", VolumeAttributes: map[string]string{"token": "t"},
			}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound, Message: "m"},
	})
	want := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "v", Annotations: annotations("pv.kubernetes.io/bound-by-controller"), Labels: map[string]string{"zone": "a"}},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: "disk", ClaimRef: &corev1.ObjectReference{Name: "c"},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h"}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trimmed volume mismatch (-want +got):\n%s", diff)
	}
	claim := trimmed(t, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: annotations("pv.kubernetes.io/bind-completed", "volume.kubernetes.io/selected-node", "note")},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: "v"},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Conditions: []corev1.PersistentVolumeClaimCondition{{Message: "m"}}},
	})
	wantClaim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: annotations("pv.kubernetes.io/bind-completed", "volume.kubernetes.io/selected-node")},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: "v"}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}
	if diff := cmp.Diff(wantClaim, claim); diff != "" {
		t.Errorf("trimmed claim mismatch (-want +got):\n%s", diff)
	}
}

func TestAttachmentsKeepWhichVolumeIsWhere(t *testing.T) {
	name := "v"
	got := trimmed(t, &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"note": "x"}},
		Spec: storagev1.VolumeAttachmentSpec{Attacher: "d", NodeName: "n", Source: storagev1.VolumeAttachmentSource{
			PersistentVolumeName: &name, InlineVolumeSpec: &corev1.PersistentVolumeSpec{StorageClassName: "disk"},
		}},
		Status: storagev1.VolumeAttachmentStatus{Attached: true, AttachmentMetadata: map[string]string{"path": "x"}},
	})
	want := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{}},
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: "d", NodeName: "n", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trimmed attachment mismatch (-want +got):\n%s", diff)
	}
}

// Of the conditions of a Deployment the one stays that says why its pods are refused.
func TestTrimKeepsWhyPodsAreRefused(t *testing.T) {
	d := trimmed(t, &appsv1.Deployment{Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Message: "progressing"},
		{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota"},
	}}})
	if got := workload.WhyRefused(d); got != "exceeded quota" || len(d.Status.Conditions) != 1 {
		t.Errorf("refused because of %q, with the conditions %v", got, d.Status.Conditions)
	}
	d.Status.Conditions[0].Status = corev1.ConditionFalse
	if got := workload.WhyRefused(d); got != "" {
		t.Errorf("refused because of %q, want nothing", got)
	}
}
