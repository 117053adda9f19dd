// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const (
	clustersCRD = "clusters.berth.dev"
	policiesCRD = "propagationpolicies.berth.dev"
)

func definitions() dynamic.ResourceInterface {
	GinkgoHelper()
	dynamicClient, err := dynamic.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	return dynamicClient.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
}

// uninstall deletes CRDs and waits until they are gone. They come back when the spec is over.
func uninstall(ctx context.Context, names ...string) {
	GinkgoHelper()
	DeferCleanup(install)
	for _, name := range names {
		Expect(definitions().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	}
	Eventually(func() []string {
		list, err := definitions().List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		var left []string
		for i := range list.Items {
			if name := list.Items[i].GetName(); slices.Contains(names, name) {
				left = append(left, name)
			}
		}
		return left
	}, timeout, poll).Should(BeEmpty())
}

func install(ctx context.Context) {
	GinkgoHelper()
	Expect(localplane.ApplyCRDs(ctx, plane.Config(), installation.Path("manifests", "crds"))).To(Succeed())
	// The API server may still think of a definition of before, which was about to go.
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	policy := (&site{namespace: metav1.NamespaceDefault, suffix: "x"}).policy("probe", "Deployment", twoToThree()...)
	Eventually(func(g Gomega) {
		_, err := berth.BerthV1alpha1().Clusters().Create(ctx,
			&berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, dryRun)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = berth.BerthV1alpha1().PropagationPolicies(policy.Namespace).Create(ctx, policy, dryRun)
		g.Expect(err).NotTo(HaveOccurred())
	}, longTimeout, poll).Should(Succeed())
}

var _ = Describe("the definitions of Berth's kinds", Serial, func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSite(ctx)
		s.createNodes(ctx, "beijing", 2)
		s.createNodes(ctx, "hangzhou", 3)
	})

	// ask makes a pod that asks for a policy, which does not exist without its definition.
	ask := func(ctx context.Context) {
		GinkgoHelper()
		asking := s.pod("asking", 0)
		asking.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "nginx"}
		s.createPod(ctx, asking)
		s.expectWaiting(ctx, "asking", 1, policyNotFound)
	}

	// expectPolicies checks that policies are carried out after the definitions were installed
	// again. A pod that comes before the scheduler has noticed would be placed as if there were
	// none, so it waits first for one that asks for its policy.
	expectPolicies := func(ctx context.Context) {
		GinkgoHelper()
		began := time.Now()
		s.createCluster(ctx, "beijing")
		s.createCluster(ctx, "hangzhou")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		s.expectRunning(ctx, "asking", 1)
		AddReportEntry("definitions noticed", time.Since(began).Round(time.Millisecond).String())
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
	}

	It("may be installed while the scheduler runs", func(ctx SpecContext) {
		uninstall(ctx, clustersCRD, policiesCRD)
		replaceMain()
		schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "without-definitions"}).EndAfterwards()
		s.createDeployment(ctx, s.deployment("free", 3))
		s.expectRunning(ctx, "free", 3)
		ask(ctx)

		install(ctx)
		expectPolicies(ctx)
	})

	It("may be deleted while the scheduler runs, and installed again", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("nginx", "Deployment", weight{cluster: "nowhere", weight: 1}))
		s.createDeployment(ctx, s.deployment("nginx", 3))
		s.expectWaiting(ctx, "nginx", 3, noCluster)
		uninstall(ctx, policiesCRD)
		s.expectRunning(ctx, "nginx", 3)
		s.createDeployment(ctx, s.deployment("later", 2))
		s.expectRunning(ctx, "later", 2)
		Expect(main.Done()).NotTo(BeClosed())
		ask(ctx)

		install(ctx)
		Expect(client.AppsV1().Deployments(s.namespace).Delete(ctx, "nginx", metav1.DeleteOptions{})).To(Succeed())
		Eventually(s.pods).WithContext(ctx).WithArguments("nginx").WithTimeout(timeout).WithPolling(poll).Should(BeEmpty())
		expectPolicies(ctx)
	})

	It("of clusters may be deleted: running pods stay, new pods of policies wait, others do not", func(ctx SpecContext) {
		s.createCluster(ctx, "beijing")
		s.createCluster(ctx, "hangzhou")
		s.createPolicy(ctx, s.policy("web", "ReplicationController", twoToThree()...))
		s.createReplicationController(ctx, "web", 5)
		s.expectShares(ctx, "web", map[string]int{"beijing": 2, "hangzhou": 3})
		stop := s.record(ctx, "web")

		uninstall(ctx, clustersCRD)
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectWaiting(ctx, "nginx", 5, noCluster)
		s.createPod(ctx, s.pod("free", 0))
		s.expectRunning(ctx, "free", 1)

		install(ctx)
		s.createCluster(ctx, "beijing")
		s.createCluster(ctx, "hangzhou")
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		Expect(stop().Gone).To(BeEmpty())
		Eventually(s.seatsOrNone).WithContext(ctx).WithArguments("web").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string][]string{"beijing": {"1", "3"}, "hangzhou": {"0", "2", "4"}}))
	})
})

// seatsOrNone returns what the bound pods of an app say of their seats, by cluster, in order.
func (s *site) seatsOrNone(ctx context.Context, app string) map[string][]string {
	GinkgoHelper()
	seats := map[string][]string{}
	for _, pod := range s.pods(ctx, app) {
		seats[s.place(&pod)] = append(seats[s.place(&pod)], pod.Annotations[berthv1alpha1.SeatAnnotation])
	}
	for _, list := range seats {
		slices.Sort(list)
	}
	return seats
}
