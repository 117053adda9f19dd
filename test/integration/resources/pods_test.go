// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
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
