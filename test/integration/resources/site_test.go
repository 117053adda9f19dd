// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

const (
	// siteLabel on a node names the spec that it belongs to.
	siteLabel = "example.com/site"
	// zoneLabel on a node names a part of the site.
	zoneLabel = "example.com/zone"
)

// site is what a spec has to itself: a namespace, nodes, and ClusterResources that no other spec
// uses. Their names are unique within the site.
type site struct {
	namespace, suffix string
}

// newSite makes a namespace that pods can be created in, and removes it with its pods when the spec
// is over.
func newSite(ctx context.Context) *site {
	GinkgoHelper()
	ns := installation.CreateNamespace(ctx, client, "site-")
	s := &site{namespace: ns, suffix: strings.TrimPrefix(ns, "site-")}
	DeferCleanup(func(ctx SpecContext) { s.remove(ctx) })
	return s
}

func (s *site) remove(ctx context.Context) {
	GinkgoHelper()
	Expect(client.CoreV1().Pods(s.namespace).DeleteCollection(ctx,
		metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, metav1.ListOptions{})).To(Succeed())
	Expect(client.CoreV1().Namespaces().Delete(ctx, s.namespace, metav1.DeleteOptions{})).To(Succeed())
	Expect(client.CoreV1().Nodes().DeleteCollection(ctx,
		metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: siteLabel + "=" + s.suffix})).To(Succeed())
}

// full returns the name of a ClusterResource or a node in the API.
func (s *site) full(name string) string { return name + "-" + s.suffix }

// zone returns the labels that nodes of a zone carry, those of all zones if it is empty.
func (s *site) zone(zone string) map[string]string {
	labels := map[string]string{siteLabel: s.suffix}
	if zone != "" {
		labels[zoneLabel] = zone
	}
	return labels
}

// createNode makes a node on which pods run and end at once.
func (s *site) createNode(ctx context.Context, name, zone, cpu string) {
	GinkgoHelper()
	s.create(ctx, s.node(name, zone, cpu))
}

// createSilentNode makes a node on which nothing happens: pods that are deleted are terminating
// until somebody removes them.
func (s *site) createSilentNode(ctx context.Context, name, zone string) {
	GinkgoHelper()
	node := s.node(name, zone, "32")
	delete(node.Annotations, localplane.NodeAnnotation)
	s.create(ctx, node)
}

func (s *site) node(name, zone, cpu string) *corev1.Node {
	return localplane.FakeNode(s.full(name), s.zone(zone), corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods: resource.MustParse("2000"),
	})
}

func (*site) create(ctx context.Context, node *corev1.Node) {
	GinkgoHelper()
	_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// capacity is a pool for the nodes of a zone, for those of the site if that is empty.
func (s *site) capacity(zone, quantity string) berthv1alpha1.ClusterResourceQuantity {
	p := berthv1alpha1.ClusterResourceQuantity{
		Name: "default", Quantity: resource.MustParse(quantity), NodeSelector: s.zone(zone),
	}
	if zone != "" {
		p.Name = zone
	}
	return p
}

// createResource declares a ClusterResource, and removes it when the spec is over.
func (s *site) createResource(ctx context.Context, name string, pools ...berthv1alpha1.ClusterResourceQuantity) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().ClusterResources().Create(ctx, &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: s.full(name)}, Spec: berthv1alpha1.ClusterResourceSpec{Capacity: pools},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(berth.BerthV1alpha1().ClusterResources().Delete(ctx, s.full(name), metav1.DeleteOptions{})).To(Succeed())
	})
}

// setCapacity changes the pools of a ClusterResource.
func (s *site) setCapacity(ctx context.Context, name string, pools ...berthv1alpha1.ClusterResourceQuantity) {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"capacity": pools}})
	Expect(err).NotTo(HaveOccurred())
	_, err = berth.BerthV1alpha1().ClusterResources().Patch(ctx, s.full(name), types.MergePatchType, patch, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// resource returns a ClusterResource.
func (s *site) resource(ctx context.Context, name string) *berthv1alpha1.ClusterResource {
	GinkgoHelper()
	object, err := berth.BerthV1alpha1().ClusterResources().Get(ctx, s.full(name), metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return object
}
