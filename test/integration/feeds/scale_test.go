// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/testsize"
)

var _ = Describe("Fifty feeds over twenty clusters of five hundred nodes", Ordered, func() {
	const sites, nodesEach, count = 20, 500, 50
	// divided is how long a first division of all feeds may take on a slow machine.
	const divided = 5 * time.Minute

	BeforeAll(func(ctx SpecContext) {
		if !testsize.Full() {
			Skip("making ten thousand nodes takes minutes: set " + testsize.FullEnv)
		}
		group, ctx2 := errgroup.WithContext(ctx)
		group.SetLimit(32)
		for i := range sites * nodesEach {
			group.Go(func() error {
				labels := map[string]string{"site": fmt.Sprintf("scale-%02d", i/nodesEach)}
				_, err := client.CoreV1().Nodes().Create(ctx2, localplane.FakeNode(fmt.Sprintf("scale-%05d", i), labels, corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"), corev1.ResourcePods: resource.MustParse("110"),
				}), metav1.CreateOptions{})
				return err
			})
		}
		Expect(group.Wait()).To(Succeed())
		for i := range sites {
			name := fmt.Sprintf("scale-%02d", i)
			_, err := berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"scale": "yes"}},
				Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{"site": name}},
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
	})

	It("have an inventory in one write and a status in one write; each change is one write", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		var feeds []berthv1alpha1.Feed
		var want []string
		for i := range count {
			name := fmt.Sprintf("web-%02d", i)
			deploy(ctx, namespace, name, 100)
			feeds = append(feeds, feed("Deployment", name))
			want = append(want, "Deployment "+name+" 100 Parsed")
		}
		writes := countWrites(ctx, namespace)
		start := time.Now()
		subscribe(ctx, namespace, feeds...)
		untilLines(ctx, namespace, want...)
		AddReportEntry("inventory complete after", time.Since(start).String())
		Eventually(ctx, func(ctx context.Context) bool {
			s, err := berth.BerthV1alpha1().Subscriptions(namespace).Get(ctx, name, metav1.GetOptions{})
			return err == nil && apimeta.IsStatusConditionTrue(s.Status.Conditions, berthv1alpha1.SubscriptionScheduled)
		}).WithTimeout(divided).WithPolling(poll).Should(BeTrue())
		AddReportEntry("all feeds divided after", time.Since(start).String())
		Expect(writes()).To(BeNumerically("<=", 2), "the object and its status")

		before := writes()
		start = time.Now()
		scale(ctx, namespace, "web-07", 101)
		want[7] = "Deployment web-07 101 Parsed"
		untilLines(ctx, namespace, want...)
		AddReportEntry("a change is in the inventory after", time.Since(start).String())
		Consistently(writes).WithTimeout(settle).WithPolling(poll).Should(BeNumerically("<=", before+1))
	})
})
