// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"berth.dev/berth/pkg/model/workload"
)

const namespace = "ns"

// ownedBy refers to a controller whose UID is its name.
func ownedBy(apiVersion, kind, name string) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(name), Controller: new(true)}
}

// meta makes the metadata of an object whose UID is its name.
func meta(name string, owner *metav1.OwnerReference) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), Labels: map[string]string{"app": "web"}}
	if owner != nil {
		m.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return m
}

// object makes an object of a kind that wants one pod. It goes by way of JSON, so that a new kind
// needs no code here.
func object(tb testing.TB, kind *workload.Kind, name string, owner *metav1.OwnerReference) workload.Object {
	tb.Helper()
	var selector any = metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	if kind.Kind == "ReplicationController" {
		selector = map[string]string{"app": "web"}
	}
	data, err := json.Marshal(map[string]any{
		"metadata": meta(name, owner), "spec": map[string]any{"replicas": 1, "selector": selector},
	})
	if err != nil {
		tb.Fatal(err)
	}
	o := kind.NewObject()
	if err := json.Unmarshal(data, o); err != nil {
		tb.Fatal(err)
	}
	return o
}

// pod is a bound pod.
func pod(name string, owner *metav1.OwnerReference) corev1.Pod {
	return corev1.Pod{ObjectMeta: meta(name, owner), Spec: corev1.PodSpec{NodeName: "node"}}
}

// everyKind is a workload of each kind that wants pods, and a Rollout, with one pod each.
func everyKind(tb testing.TB) *workload.Objects {
	tb.Helper()
	objects := &workload.Objects{}
	add := func(kind *workload.Kind, name string, owner *metav1.OwnerReference) {
		objects.Owners = append(objects.Owners, object(tb, kind, name, owner))
	}
	run := func(kind *workload.Kind, name string) {
		objects.Pods = append(objects.Pods, pod("pod-of-"+name, ownedBy(kind.GroupVersion().String(), kind.Kind, name)))
	}
	for _, kind := range workload.Kinds() {
		if !kind.WantsPods() {
			continue
		}
		add(kind, kind.Resource, nil)
		run(kind, kind.Resource)
		if kind.IsRevision() {
			add(kind, "foreign", ownedBy("argoproj.io/v1alpha1", "Rollout", "ro"))
			run(kind, "foreign")
			add(kind, "revision", ownedBy("apps/v1", "Deployment", "deployments"))
			run(kind, "revision")
		}
	}
	return objects
}

func clientOf(objects *workload.Objects, funcs interceptor.Funcs) client.Client {
	b := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithInterceptorFuncs(funcs)
	for _, owner := range objects.Owners {
		b.WithObjects(owner)
	}
	return b.WithLists(&corev1.PodList{Items: objects.Pods}).Build()
}
