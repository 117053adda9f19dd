// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// What users read in the events of their pods. These are literals on purpose: people search for
// them.
const (
	usedUp          = "node(s) whose pools of %s are used up"
	notFound        = "cluster resource %s does not exist"
	awaitingRelease = "waiting for pods that are terminating to give back what they hold"
)

// option changes a pod before it is created.
type option func(*site, *corev1.Pod)

// asking makes a pod ask for units of a ClusterResource.
func asking(name, units string) option {
	return func(s *site, pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceName(berthv1alpha1.ClusterResourceDomain+"/"+s.full(name))] =
			resource.MustParse(units)
		pod.Spec.Containers[0].Resources.Limits = pod.Spec.Containers[0].Resources.Requests
	}
}

// askingByAnnotation makes a pod ask in the other way.
func askingByAnnotation(name, units string) option {
	return func(s *site, pod *corev1.Pod) {
		pod.Annotations = map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + s.full(name): units}
	}
}

func onZone(zone string) option {
	return func(s *site, pod *corev1.Pod) { pod.Spec.NodeSelector = s.zone(zone) }
}

func withPriority(class string) option {
	return func(_ *site, pod *corev1.Pod) { pod.Spec.PriorityClassName = class }
}

func withCPU(cpu string) option {
	return func(_ *site, pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
}

func withLabels(labels map[string]string) option {
	return func(_ *site, pod *corev1.Pod) { pod.Labels = maps.Clone(labels) }
}

// endingSlowly gives a pod so long to end that somebody must remove it from a silent node.
func endingSlowly() option {
	return func(_ *site, pod *corev1.Pod) { pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](600) }
}

func ofScheduler(name string) option {
	return func(_ *site, pod *corev1.Pod) { pod.Spec.SchedulerName = name }
}

// pod returns a pod that berth-scheduler is to place on a node of the site.
func (s *site) pod(name string, options ...option) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: corev1.PodSpec{
			SchedulerName:                 schedulerproc.Name,
			AutomountServiceAccountToken:  ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](0),
			NodeSelector:                  s.zone(""),
			Containers: []corev1.Container{{
				Name: "main", Image: "nginx:1.27", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}},
			}},
		},
	}
	for _, change := range options {
		change(s, pod)
	}
	return pod
}

func (s *site) createPod(ctx context.Context, name string, options ...option) {
	GinkgoHelper()
	_, err := client.CoreV1().Pods(s.namespace).Create(ctx, s.pod(name, options...), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// deletePod begins the end of a pod.
func (s *site) deletePod(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(client.CoreV1().Pods(s.namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
}

// removePod ends a pod at once.
func (s *site) removePod(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(client.CoreV1().Pods(s.namespace).Delete(ctx, name,
		metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})).To(Succeed())
}

// completePod says that a pod has done its work.
func (s *site) completePod(ctx context.Context, name string) {
	GinkgoHelper()
	_, err := client.CoreV1().Pods(s.namespace).Patch(ctx, name, "application/merge-patch+json",
		[]byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
	Expect(err).NotTo(HaveOccurred())
}

// state tells how a pod fares.
func (s *site) state(ctx context.Context, name string) string {
	GinkgoHelper()
	pod, err := client.CoreV1().Pods(s.namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return gone
	}
	Expect(err).NotTo(HaveOccurred())
	switch {
	case pod.DeletionTimestamp != nil:
		return terminating
	case pod.Spec.NodeName == "":
		return waiting
	}
	return bound
}

// States of a pod.
const (
	bound       = "bound"
	waiting     = "waiting"
	terminating = "terminating"
	gone        = "gone"
)

// states returns the states of several pods.
func (s *site) states(ctx context.Context, names ...string) map[string]string {
	GinkgoHelper()
	states := map[string]string{}
	for _, name := range names {
		states[name] = s.state(ctx, name)
	}
	return states
}

// in returns which of the pods are in a state.
func (s *site) in(ctx context.Context, state string, names ...string) []string {
	GinkgoHelper()
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.state(ctx, name) != state })
}

// count returns how many of the pods are in a state.
func (s *site) count(ctx context.Context, state string, names ...string) int {
	GinkgoHelper()
	return len(s.in(ctx, state, names...))
}

func (s *site) get(ctx context.Context, name string) *corev1.Pod {
	GinkgoHelper()
	pod, err := client.CoreV1().Pods(s.namespace).Get(ctx, name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return pod
}

func (s *site) expectBound(ctx context.Context, names ...string) {
	GinkgoHelper()
	Eventually(s.states).WithContext(ctx).WithArguments(anys(names)...).WithTimeout(timeout).WithPolling(poll).
		Should(HaveEach(bound))
}

func anys(names []string) []any {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}

// reasons returns why a pod was not placed.
func (s *site) reasons(ctx context.Context, name string) []string {
	GinkgoHelper()
	return schedulerproc.Reasons(ctx, client, s.get(ctx, name))
}

// expectWaiting waits until a pod has been told why it is not placed, and checks that it is not.
func (s *site) expectWaiting(ctx context.Context, name, reason string) {
	GinkgoHelper()
	Eventually(s.reasons).WithContext(ctx).WithArguments(name).WithTimeout(timeout).WithPolling(poll).
		Should(ContainElement(ContainSubstring(reason)))
	Expect(s.state(ctx, name)).To(Equal(waiting), name)
}

// expectToStay checks that pods stay in a state for a while.
func (s *site) expectToStay(ctx context.Context, state string, names ...string) {
	GinkgoHelper()
	Consistently(s.states).WithContext(ctx).WithArguments(anys(names)...).WithTimeout(settle).WithPolling(poll).
		Should(HaveEach(state))
}

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
	// The API server gives a request up after a minute, in which a busy machine does not delete a
	// thousand pods.
	Eventually(func() error {
		return client.CoreV1().Pods(s.namespace).DeleteCollection(ctx,
			metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, metav1.ListOptions{})
	}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
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
