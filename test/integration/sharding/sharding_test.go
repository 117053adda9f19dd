// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package sharding_test

import (
	"fmt"
	"maps"
	"slices"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/testsize"
)

const clusterCount = 60

// wantShares returns what the policy of spread gives to the clusters.
func wantShares(replicas int64) map[string]int {
	GinkgoHelper()
	clusters := make([]apportion.Cluster, clusterCount)
	for i := range clusters {
		clusters[i] = apportion.Cluster{Name: fmt.Sprint("c", i), Weight: int64(1 + i%3)}
	}
	order, err := apportion.NewOrder(clusters)
	Expect(err).NotTo(HaveOccurred())
	want := map[string]int{}
	numbers, _ := order.Shares(replicas)
	for i, n := range numbers {
		if n > 0 {
			want[fmt.Sprint("c", i)] = int(n)
		}
	}
	return want
}

var _ = Describe("several schedulers", Ordered, func() {
	var ns string

	BeforeAll(func(ctx SpecContext) {
		createClusters(ctx, 0, clusterCount)
		ns = installation.CreateNamespace(ctx, client, "sharding-")
	})

	It("binds all clusters to the first one, which writes nothing to pods", func(ctx SpecContext) {
		instances.Start(ctx, plane, "a", election...)
		settle(ctx, "a")
		deploy(ctx, ns, "plain", 0, 1, 20)
		Eventually(bound(ctx, ns), timeout, poll).Should(Equal(20))
		pods, err := client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: berthv1alpha1.HomeSchedulerLabel})
		Expect(err).NotTo(HaveOccurred())
		Expect(pods.Items).To(BeEmpty())
	})

	It("shares the clusters out when others come", func(ctx SpecContext) {
		instances.Start(ctx, plane, "b", election...)
		instances.Start(ctx, plane, "c", election...)
		byHome := settle(ctx, "a", "b", "c")
		Eventually(func(g Gomega) {
			s, err := berth.BerthV1alpha1().Schedulers().Get(ctx, "b", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(int(s.Status.ClusterCount)).To(Equal(len(byHome["b"])))
			g.Expect(s.Status.CPUCapacity.Total).To(Equal(int64(10 * len(byHome["b"]))))
			g.Expect(s.Status.Regions).NotTo(BeEmpty())
		}, timeout, poll).Should(Succeed())
	})

	It("keeps shares exact in a burst while one is killed, one comes, and one is paused", func(ctx SpecContext) {
		const deployments = 6
		replicas := testsize.Of(500, 200)
		before, _ := homes(ctx)
		w := watchPods(ctx, ns)
		defer w.stop()
		spread(ctx, ns, "burst", clusterCount)
		for _, instance := range instances {
			instance.UntilKnows(ctx, berth)
		}
		const others = 20
		deploy(ctx, ns, "burst", 0, deployments/2, int32(replicas))
		Eventually(bound(ctx, ns), longTimeout, poll).Should(BeNumerically(">", others+replicas/2))

		By("pausing one, killing one and starting one")
		Expect(instances["c"].Kill(syscall.SIGSTOP)).To(Succeed())
		instances.Kill("b")
		instances.Start(ctx, plane, "d", election...)
		deploy(ctx, ns, "burst", deployments/2, deployments, int32(replicas))
		By("waiting until those that are left have all clusters")
		settle(ctx, "a", "d")
		By("letting the paused one go on")
		instances["c"].ExpectEnd()
		Expect(instances["c"].Kill(syscall.SIGCONT)).To(Succeed())

		Eventually(bound(ctx, ns), longTimeout, poll).Should(Equal(others + deployments*replicas))
		By("comparing the shares")
		Expect(w.seen()).To(BeEmpty())
		want := wantShares(int64(replicas))
		got, _, err := shares(ctx, ns)
		Expect(err).NotTo(HaveOccurred())
		for i := range deployments {
			Expect(got[fmt.Sprint("burst", i)]).To(Equal(want), "Deployment burst%d", i)
		}
		// Whoever was paused has lost its lease, and with it its process; started again it gets its
		// clusters back.
		Eventually(instances["c"].Done(), timeout, poll).Should(BeClosed())
		instances.Start(ctx, plane, "c", election...)
		after := homeByCluster(settle(ctx, "a", "c", "d"))
		moved := 0
		for cluster, h := range homeByCluster(before) {
			if h != after[cluster] && h != "b" {
				moved++
			}
		}
		Expect(moved).To(BeNumerically("<=", clusterCount/3), "clusters that moved although their scheduler is there")
	})

	It("gives out no more of a ClusterResource than there is, whoever gives it out", func(ctx SpecContext) {
		licensed := installation.CreateNamespace(ctx, client, "sharding-")
		_, err := berth.BerthV1alpha1().ClusterResources().Create(ctx, &berthv1alpha1.ClusterResource{
			ObjectMeta: metav1.ObjectMeta{Name: "licences"},
			Spec: berthv1alpha1.ClusterResourceSpec{
				Capacity: []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("5")}},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		deployLicensed(ctx, licensed, "licensed", 12)
		Eventually(bound(ctx, licensed), timeout, poll).Should(Equal(5))

		var keeper string
		Eventually(func() string {
			keeper = keeperOfCommons(ctx)
			return keeper
		}, timeout, poll).Should(BeKeyOf(instances))
		instances.Kill(keeper)
		Eventually(func() string { return keeperOfCommons(ctx) }, timeout, poll).ShouldNot(Or(BeEmpty(), Equal(keeper)))
		deployLicensed(ctx, licensed, "further", 3)
		Consistently(bound(ctx, licensed), "3s", poll).Should(Equal(5))
		Expect(client.AppsV1().Deployments(licensed).Delete(ctx, "licensed", metav1.DeleteOptions{})).To(Succeed())
		Eventually(bound(ctx, licensed), timeout, poll).Should(Equal(3))
		instances.Start(ctx, plane, keeper, election...)
		settle(ctx, "a", "c", "d")
	})

	It("drains a scheduler that is deleted", func(ctx SpecContext) {
		Expect(berth.BerthV1alpha1().Schedulers().Delete(ctx, "b", metav1.DeleteOptions{})).To(Succeed())
		Expect(berth.BerthV1alpha1().Schedulers().Delete(ctx, "d", metav1.DeleteOptions{})).To(Succeed())
		settle(ctx, "a", "c")
		Eventually(func() []string {
			list, err := berth.BerthV1alpha1().Schedulers().List(ctx, metav1.ListOptions{})
			Expect(err).NotTo(HaveOccurred())
			names := map[string]bool{}
			for i := range list.Items {
				names[list.Items[i].Name] = true
			}
			return slices.Sorted(maps.Keys(names))
		}, timeout, poll).Should(Equal([]string{"a", "c"}))
	})

	It("gives nodes in no cluster a home, and takes a deleted cluster back", func(ctx SpecContext) {
		Expect(localplane.CreateNodes(ctx, client, "loose", 1, map[string]string{placeLabel: "loose"}, nil)).To(Succeed())
		pinned := installation.CreateNamespace(ctx, client, "sharding-")
		deployTo(ctx, pinned, "loose", 3)
		Eventually(bound(ctx, pinned), timeout, poll).Should(Equal(3))

		Expect(berth.BerthV1alpha1().Clusters().Delete(ctx, "c59", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() error {
			_, err := berth.BerthV1alpha1().Clusters().Get(ctx, "c59", metav1.GetOptions{})
			return err
		}, timeout, poll).ShouldNot(Succeed())
		deployTo(ctx, pinned, "c59", 3)
		Eventually(bound(ctx, pinned), timeout, poll).Should(Equal(6))
	})
})
