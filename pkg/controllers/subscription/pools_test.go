// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// licences makes a ClusterResource with a pool for each site.
func (w *world) licences(mode berthv1alpha1.PoolMode, amounts map[string]string) {
	w.t.Helper()
	r := &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: "licence", UID: "licence", Generation: 1},
		Spec:       berthv1alpha1.ClusterResourceSpec{Mode: mode},
	}
	for site, amount := range amounts {
		pool := berthv1alpha1.ClusterResourceQuantity{Name: site, Quantity: resource.MustParse(amount)}
		if site != "all" {
			pool.NodeSelector = map[string]string{"site": site}
		}
		r.Status.Allocatable = append(r.Status.Allocatable, pool)
	}
	w.create(r)
}

// asks changes the template of a Deployment, whose pods then need what Berth reads of it.
func (w *world) asks(name string, change func(*corev1.PodTemplateSpec)) {
	w.t.Helper()
	var d appsv1.Deployment
	if err := w.client.Get(w.t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, &d); err != nil {
		w.t.Fatal(err)
	}
	change(&d.Spec.Template)
	if err := w.client.Update(w.t.Context(), &d); err != nil {
		w.t.Fatal(err)
	}
}

// parsed lets an inventory show that Berth has written it.
func (w *world) parsed(name string) {
	w.t.Helper()
	var inventory berthv1alpha1.FeedInventory
	if err := w.client.Get(w.t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, &inventory); err != nil {
		w.t.Fatal(err)
	}
	inventory.Status.ObservedGeneration = 1
	if err := w.client.Status().Update(w.t.Context(), &inventory); err != nil {
		w.t.Fatal(err)
	}
}

func TestRoomCountsThePoolsOfClusterResources(t *testing.T) {
	asResource := func(p *corev1.PodTemplateSpec) {
		licence := corev1.ResourceList{"cluster-resource.berth.dev/licence": resource.MustParse("1")}
		p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: licence, Limits: licence}}}
	}
	asAnnotation := func(p *corev1.PodTemplateSpec) {
		p.Annotations = map[string]string{"pod.alpha.kubernetes.io/cluster-resource-licence": "1"}
		p.Spec.Containers = []corev1.Container{{Name: "main"}}
	}
	for name, tc := range map[string]struct {
		mode       berthv1alpha1.PoolMode
		pools      map[string]string
		replicas   int32
		want       string
		wantReason string
	}{
		"a pool at each site":          {berthv1alpha1.AnyOf, map[string]string{"a": "2", "b": "10"}, 8, "web a=1 b=7", "AllPlaced"},
		"less than is wanted":          {berthv1alpha1.AnyOf, map[string]string{"a": "2", "b": "3"}, 8, "web a=2 b=3 -3", "NoRoom"},
		"sites within a common limit":  {berthv1alpha1.AllOf, map[string]string{"all": "4", "a": "3", "b": "3"}, 6, "web a=3 b=1 -2", "NoRoom"},
		"none at one of the two sites": {berthv1alpha1.AnyOf, map[string]string{"b": "5"}, 4, "web b=4", "AllPlaced"},
	} {
		for form, asks := range map[string]func(*corev1.PodTemplateSpec){"resource": asResource, "annotation": asAnnotation} {
			t.Run(name+", as "+form, func(t *testing.T) {
				w := newWorld(t)
				w.ownInventories = true
				w.restart()
				w.site("a", 32)
				w.site("b", 32)
				w.licences(tc.mode, tc.pools)
				w.deploy("web", tc.replicas)
				w.asks("web", asks)
				w.subscribe("shop", []string{"web"})
				w.parsed("shop")
				w.pass()
				w.want("the status", w.told("shop"), tc.want)
				w.want("Scheduled", w.reason("shop", "Scheduled"), tc.wantReason)
			})
		}
	}
}

func TestRoomCountsHostPorts(t *testing.T) {
	w := newWorld(t)
	w.ownInventories = true
	w.restart()
	w.site("a", 8)
	w.site("b", 8)
	w.deploy("web", 4)
	w.asks("web", func(p *corev1.PodTemplateSpec) {
		p.Spec.Containers = []corev1.Container{{Name: "main", Ports: []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}}}
	})
	w.subscribe("shop", []string{"web"})
	w.parsed("shop")
	w.pass()
	w.want("the status, with one node at each site", w.told("shop"), "web a=1 b=1 -2")
}
