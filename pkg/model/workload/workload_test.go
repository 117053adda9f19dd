// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
)

// source is a workload.Source over a few objects, by "Kind namespace/name".
type source struct {
	workload.NotRead
	objects map[string]metav1.Object
	err     error
}

func (s source) Owner(kind *workload.Kind, namespace, name string) (metav1.Object, error) {
	if s.err != nil {
		return nil, s.err
	}
	if object, ok := s.objects[kind.Kind+" "+namespace+"/"+name]; ok {
		return object, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: kind.Resource}, name)
}

func uid(name string) types.UID { return types.UID("uid-" + name) }

// meta is the metadata of an object whose UID is "uid-NAME".
func metaOf(name string, owners ...metav1.OwnerReference) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: uid(name), Labels: map[string]string{"of": name}, OwnerReferences: owners,
	}
}

// ref refers to a controller whose UID is "uid-NAME".
func ref(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid(name), Controller: ptr.To(true)}
}

func podOf(owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metaOf("pod", owners...)}
}

func TestOf(t *testing.T) {
	known := source{objects: map[string]metav1.Object{
		"Deployment default/web": &appsv1.Deployment{ObjectMeta: metaOf("web"), Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](7)}},
		"Deployment default/one": &appsv1.Deployment{ObjectMeta: metaOf("one")},
		"ReplicaSet default/web-v1": &appsv1.ReplicaSet{
			ObjectMeta: metaOf("web-v1", ref("apps/v1", "Deployment", "web")), Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](3)},
		},
		"ReplicaSet default/one-v1":  &appsv1.ReplicaSet{ObjectMeta: metaOf("one-v1", ref("apps/v1", "Deployment", "one"))},
		"ReplicaSet default/lost-v1": &appsv1.ReplicaSet{ObjectMeta: metaOf("lost-v1", ref("apps/v1", "Deployment", "lost"))},
		"ReplicaSet default/forged-v1": &appsv1.ReplicaSet{
			ObjectMeta: metaOf("forged-v1", ref("apps/v9", "Deployment", "web")), Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](3)},
		},
		"ReplicaSet default/alone": &appsv1.ReplicaSet{ObjectMeta: metaOf("alone"), Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](3)}},
		"ReplicaSet default/canary": &appsv1.ReplicaSet{
			ObjectMeta: metaOf("canary", ref("argoproj.io/v1alpha1", "Rollout", "rollout")), Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](3)},
		},
		"StatefulSet default/db": &appsv1.StatefulSet{ObjectMeta: metaOf("db"), Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](4)}},
		"Job default/train":      &batchv1.Job{ObjectMeta: metaOf("train"), Spec: batchv1.JobSpec{Parallelism: ptr.To[int32](5)}},
		"ReplicationController default/old": &corev1.ReplicationController{
			ObjectMeta: metaOf("old"), Spec: corev1.ReplicationControllerSpec{Replicas: ptr.To[int32](-2)},
		},
	}}
	other := ref("apps/v1", "StatefulSet", "db")
	other.UID = "of-an-earlier-one"
	notController := ref("apps/v1", "StatefulSet", "db")
	notController.Controller = nil
	read := func(apiVersion, kind, name string, replicas int32) workload.Workload {
		return workload.Workload{
			APIVersion: apiVersion, Kind: kind, Namespace: "default", Name: name, UID: uid(name),
			Labels: map[string]string{"of": name}, Replicas: replicas, ReplicasKnown: true,
		}
	}
	bare := workload.Workload{
		APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "pod", UID: "uid-pod", Labels: map[string]string{"of": "pod"},
	}
	tests := map[string]struct {
		pod     *corev1.Pod
		want    workload.Workload
		missing string // in an error that wraps ErrOwnerNotFound
	}{
		"Deployment":                  {pod: podOf(ref("apps/v1", "ReplicaSet", "web-v1")), want: read("apps/v1", "Deployment", "web", 7)},
		"Deployment without replicas": {pod: podOf(ref("apps/v1", "ReplicaSet", "one-v1")), want: read("apps/v1", "Deployment", "one", 1)},
		"ReplicaSet by itself":        {pod: podOf(ref("apps/v1", "ReplicaSet", "alone")), want: read("apps/v1", "ReplicaSet", "alone", 3)},
		"ReplicaSet of a version that is not served": {
			pod: podOf(ref("apps/v9", "ReplicaSet", "alone")), want: cut(bare, ref("apps/v9", "ReplicaSet", "alone")),
		},
		"ReplicaSet of a Deployment of a version that is not served": {
			pod: podOf(ref("apps/v1", "ReplicaSet", "forged-v1")), want: cut(read("apps/v1", "ReplicaSet", "forged-v1", 3), ref("apps/v9", "Deployment", "web")),
		},
		"ReplicaSet of an unread controller": {
			pod: podOf(ref("apps/v1", "ReplicaSet", "canary")),
			want: workload.Workload{
				APIVersion: "argoproj.io/v1alpha1", Kind: "Rollout", Namespace: "default", Name: "rollout", UID: "uid-rollout",
				LabelsUnknown: true, Replicas: 3, ReplicasKnown: true,
			},
		},
		"StatefulSet": {pod: podOf(ref("apps/v1", "StatefulSet", "db")), want: read("apps/v1", "StatefulSet", "db", 4)},
		"Job":         {pod: podOf(ref("batch/v1", "Job", "train")), want: read("batch/v1", "Job", "train", 5)},
		"ReplicationController of a number that cannot be": {
			pod: podOf(ref("v1", "ReplicationController", "old")), want: read("v1", "ReplicationController", "old", 0),
		},
		"kind that Berth does not read": {
			pod: podOf(ref("apps.kruise.io/v1beta1", "StatefulSet", "db")),
			want: workload.Workload{
				APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Namespace: "default", Name: "db", UID: "uid-db", LabelsUnknown: true,
			},
		},
		"no owner": {
			pod: podOf(), want: bare,
		},
		"an owner that is not the controller": {
			pod: podOf(notController), want: bare,
		},
		"missing ReplicaSet":              {pod: podOf(ref("apps/v1", "ReplicaSet", "gone")), missing: "ReplicaSet default/gone"},
		"missing Deployment":              {pod: podOf(ref("apps/v1", "ReplicaSet", "lost-v1")), missing: "Deployment default/lost"},
		"missing StatefulSet":             {pod: podOf(ref("apps/v1", "StatefulSet", "gone")), missing: "StatefulSet default/gone"},
		"missing Job":                     {pod: podOf(ref("batch/v1", "Job", "gone")), missing: "Job default/gone"},
		"missing ReplicationController":   {pod: podOf(ref("v1", "ReplicationController", "gone")), missing: "ReplicationController default/gone"},
		"another object of the same name": {pod: podOf(other), missing: "of-an-earlier-one"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := workload.Of(tc.pod, known)
			if tc.missing != "" {
				if !errors.Is(err, workload.ErrOwnerNotFound) || !strings.Contains(err.Error(), tc.missing) {
					t.Errorf("got error %v, want that %s is not found", err, tc.missing)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("workload (-want +got):\n%s", diff)
			}
			selectable := policymatch.Workload{
				APIVersion: got.APIVersion, Kind: got.Kind, Namespace: got.Namespace, Name: got.Name,
				Labels: got.Labels, LabelsUnknown: got.LabelsUnknown,
			}
			if diff := cmp.Diff(&selectable, got.Selectable()); diff != "" {
				t.Errorf("what policies select (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFailedLookupIsNotAMissingOwner(t *testing.T) {
	trouble := errors.New("no connection")
	for _, owner := range []metav1.OwnerReference{
		ref("apps/v1", "ReplicaSet", "web-v1"), ref("apps/v1", "StatefulSet", "db"), ref("batch/v1", "Job", "train"),
		ref("v1", "ReplicationController", "old"),
	} {
		_, err := workload.Of(podOf(owner), source{err: trouble})
		if !errors.Is(err, trouble) || errors.Is(err, workload.ErrOwnerNotFound) {
			t.Errorf("%s: got error %v, want %v", owner.Kind, err, trouble)
		}
	}
}

func TestReplicasOfJobs(t *testing.T) {
	condition := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) []batchv1.JobCondition {
		return []batchv1.JobCondition{{Type: kind, Status: status}}
	}
	tests := map[string]struct {
		spec   batchv1.JobSpec
		status batchv1.JobStatus
		want   int32
	}{
		"neither set":               {want: 1},
		"parallelism":               {spec: batchv1.JobSpec{Parallelism: ptr.To[int32](5)}, want: 5},
		"parallelism 0":             {spec: batchv1.JobSpec{Parallelism: ptr.To[int32](0)}, want: 0},
		"fewer completions":         {spec: batchv1.JobSpec{Parallelism: ptr.To[int32](5), Completions: ptr.To[int32](3)}, want: 3},
		"some completions are done": {spec: batchv1.JobSpec{Parallelism: ptr.To[int32](5), Completions: ptr.To[int32](10)}, status: batchv1.JobStatus{Succeeded: 7}, want: 3},
		"more succeeded than asked": {spec: batchv1.JobSpec{Parallelism: ptr.To[int32](5), Completions: ptr.To[int32](3)}, status: batchv1.JobStatus{Succeeded: 4}, want: 0},
		"work queue":                {spec: batchv1.JobSpec{Parallelism: ptr.To[int32](5)}, status: batchv1.JobStatus{Succeeded: 4}, want: 5},
		"suspended":                 {spec: batchv1.JobSpec{Parallelism: ptr.To[int32](5), Suspend: ptr.To(true)}, want: 0},
		"not suspended":             {spec: batchv1.JobSpec{Parallelism: ptr.To[int32](5), Suspend: ptr.To(false)}, want: 5},
		"complete":                  {spec: batchv1.JobSpec{Parallelism: ptr.To[int32](5)}, status: batchv1.JobStatus{Conditions: condition(batchv1.JobComplete, corev1.ConditionTrue)}, want: 0},
		"failed":                    {spec: batchv1.JobSpec{Parallelism: ptr.To[int32](5)}, status: batchv1.JobStatus{Conditions: condition(batchv1.JobFailed, corev1.ConditionTrue)}, want: 0},
		"not failed":                {spec: batchv1.JobSpec{Parallelism: ptr.To[int32](5)}, status: batchv1.JobStatus{Conditions: condition(batchv1.JobFailed, corev1.ConditionFalse)}, want: 5},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, known := workload.ReplicasOf(&batchv1.Job{Spec: tc.spec, Status: tc.status}); got != tc.want || !known {
				t.Errorf("got %d, %t, want %d", got, known, tc.want)
			}
		})
	}
}

// cut is a workload whose chain ends with a reference that confirms nothing.
func cut(w workload.Workload, at metav1.OwnerReference) workload.Workload {
	w.Cut = &at
	return w
}
