// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"berth.dev/berth/test/integration/internal/testsize"
)

// burst is Deployments of the same size under one policy.
type burst struct {
	*site
	names    []string
	replicas int
	weights  []weight
}

// createBurst makes a policy that names the Deployments PREFIX-0 and so on, and the Deployments.
func (s *site) createBurst(ctx context.Context, prefix string, count, replicas int, weights ...weight) *burst {
	GinkgoHelper()
	b := &burst{site: s, replicas: replicas, weights: weights}
	policy := s.policy(prefix, "Deployment", weights...)
	selector := policy.Spec.ResourceSelectors[0]
	policy.Spec.ResourceSelectors = nil
	for i := range count {
		selector.Name = prefix + "-" + strconv.Itoa(i)
		b.names = append(b.names, selector.Name)
		policy.Spec.ResourceSelectors = append(policy.Spec.ResourceSelectors, selector)
	}
	s.createPolicy(ctx, policy)
	for _, name := range b.names {
		deployment := s.deployment(name, replicas)
		// So many pods are a long time going if each takes leave of its node first.
		deployment.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0)
		s.createDeployment(ctx, deployment)
	}
	return b
}

// waiting returns how many of the given number of pods do not exist yet or are not bound. It does
// not read those that are.
func (s *site) waiting(ctx context.Context, all int) int {
	GinkgoHelper()
	pods := client.CoreV1().Pods(s.namespace)
	some, err := pods.List(ctx, metav1.ListOptions{Limit: 1})
	Expect(err).NotTo(HaveOccurred())
	unbound, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName="})
	Expect(err).NotTo(HaveOccurred())
	existing := len(some.Items)
	if some.RemainingItemCount != nil {
		existing += int(*some.RemainingItemCount)
	}
	return all - existing + len(unbound.Items)
}

// bound returns how many pods of the site are bound.
func (s *site) bound(ctx context.Context) int {
	GinkgoHelper()
	bound, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName!="})
	Expect(err).NotTo(HaveOccurred())
	return len(bound.Items)
}

// expectExact waits until every pod is bound, and checks that each Deployment has exactly its
// shares, on all of its seats.
func (b *burst) expectExact(ctx context.Context) {
	GinkgoHelper()
	want := webster(b.replicas, b.weights...)
	for _, name := range b.names {
		Eventually(b.placed).WithContext(ctx).WithArguments(name).WithTimeout(longTimeout).WithPolling(poll).
			Should(Equal(want), name)
		var all []int
		for _, seats := range b.seats(ctx, name, b.policyName()) {
			all = append(all, seats...)
		}
		Expect(slices.Sorted(slices.Values(all))).To(Equal(upTo(b.replicas)), "seats of %s", name)
	}
}

func (b *burst) policyName() string {
	return b.names[0][:len(b.names[0])-len("-0")]
}

var _ = Describe("a burst", func() {
	const (
		clusters        = 50
		nodesPerCluster = 4
	)

	// 2,000 pods, or 700.
	fewEach, manyEach := testsize.Of(101, 41), testsize.Of(299, 99)
	all := 5 * (fewEach + manyEach)

	It("of many pods over 200 nodes is placed exactly, under policies over 2 clusters and over 50", func(ctx SpecContext) {
		s := newSite(ctx)
		var many []weight
		for i := range clusters {
			w := weight{cluster: fmt.Sprintf("c%02d", i), weight: int64(i%5 + 1)}
			s.createNodes(ctx, w.cluster, nodesPerCluster)
			s.createCluster(ctx, w.cluster)
			many = append(many, w)
		}
		DeferCleanup(func(ctx SpecContext) { s.deleteNodes(ctx) })
		few := []weight{{cluster: "c00", weight: 2}, {cluster: "c01", weight: 3}}
		evicted := evictions(ctx)

		began := time.Now()
		two := s.createBurst(ctx, "two", 5, fewEach, few...)
		fifty := s.createBurst(ctx, "fifty", 5, manyEach, many...)
		Eventually(s.waiting).WithContext(ctx).WithArguments(all).WithTimeout(longTimeout).WithPolling(slowPoll).Should(BeZero())
		took := time.Since(began)
		AddReportEntry("pods bound", fmt.Sprintf("%d in %.1fs, %.0f pods/s", all, took.Seconds(), float64(all)/took.Seconds()),
			ReportEntryVisibilityAlways)
		two.expectExact(ctx)
		fifty.expectExact(ctx)
		Expect(evictions(ctx)).To(Equal(evicted))
		Expect(s.pods(ctx, "")).To(HaveLen(all))
	})
})

// deleteNodes removes the nodes of a site that is so large that it would slow down the other specs.
func (s *site) deleteNodes(ctx context.Context) {
	GinkgoHelper()
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: placeLabel})
	Expect(err).NotTo(HaveOccurred())
	for i := range list.Items {
		pod := corev1.Pod{Spec: corev1.PodSpec{NodeName: list.Items[i].Name}}
		if s.place(&pod) != "elsewhere" {
			Expect(client.CoreV1().Nodes().Delete(ctx, list.Items[i].Name, metav1.DeleteOptions{})).To(Succeed())
		}
	}
}

// upTo returns 0 to n-1.
func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}
