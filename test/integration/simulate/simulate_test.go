// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/localplane"
)

// worlds is how many worlds are drawn, and firstSeed is the seed of the first of them. The next one
// has the next seed.
const (
	worlds    = "BERTH_WORLDS"
	firstSeed = "BERTH_WORLD_SEED"
)

func number(variable string, otherwise uint64) uint64 {
	n, err := strconv.ParseUint(os.Getenv(variable), 10, 32)
	if err != nil {
		return otherwise
	}
	return n
}

var _ = Describe("berthctl simulate", func() {
	It("says of files what then happens, and of the live cluster that nothing does", func(ctx SpecContext) {
		DeferCleanup(removeWorld, "shop")
		capacity := corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
		}
		for _, site := range []string{"beijing", "hangzhou"} {
			Expect(localplane.CreateNodes(ctx, client, site, 2, map[string]string{"site": site}, capacity)).To(Succeed())
		}
		tainted := localplane.FakeNode("hangzhou-gpu", map[string]string{"site": "hangzhou"}, capacity)
		tainted.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
		_, err := client.CoreV1().Nodes().Create(ctx, tainted, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		world, workloads := filepath.Join("testdata", "world.yaml"), filepath.Join("testdata", "workloads.yaml")
		said := simulate(ctx, "-f", writeNodes(ctx), "-f", world, "-f", workloads).fates("shop")
		Expect(said).To(HaveKeyWithValue("web in beijing", 8))
		Expect(said).To(HaveKeyWithValue("web in hangzhou", 8))
		Expect(said).To(HaveKeyWithValue("agent in hangzhou", 3))
		Expect(said).To(HaveKeyWithValue("db in hangzhou", 1))
		Expect(said).To(HaveKeyWithValue("cache in hangzhou", 1))
		Expect(said).To(HaveKeyWithValue("infer in beijing", 2))
		apply(ctx, world)
		Eventually(func(ctx context.Context) (corev1.ResourceList, error) {
			quota, err := client.CoreV1().ResourceQuotas("shop").Get(ctx, "batch", metav1.GetOptions{})
			return quota.Status.Hard, err
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty(), "the quota is in force")
		apply(ctx, workloads)
		expectFates(ctx, "shop", "", said)
		now := simulate(ctx, "--live")
		Expect(now.fates("shop")).To(Equal(said))
		now.expectRest("shop")
	})

	first := number(firstSeed, 1)
	for seed := first; seed < first+number(worlds, 3); seed++ {
		It(fmt.Sprintf("says of the world drawn with %s=%d what then happens", firstSeed, seed), func(ctx SpecContext) {
			drawWorld(seed).run(ctx)
		})
	}
})

// run carries the steps out, and compares each with what was said before.
func (w *world) run(ctx context.Context) {
	GinkgoHelper()
	DeferCleanup(removeWorld, w.namespace)
	for _, node := range w.nodes {
		_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	base := write("base.yaml", w.base)
	apply(ctx, base)
	nodes := writeNodes(ctx)
	for i := range w.steps {
		s := &w.steps[i]
		GinkgoWriter.Printf("step %d: %s\n", i, s)
		file := write("step.yaml", s.policies+s.workloads)
		change := []string{"-f", file}
		if s.policies == "" {
			change = []string{"--scale", fmt.Sprintf("deployment/%s/%s=%d", w.namespace, s.workload, s.replicas)}
		}
		said := simulate(ctx, append([]string{"--live"}, change...)...).fates(w.namespace)
		if i == 0 {
			Expect(simulate(ctx, "-f", nodes, "-f", base, "-f", file).fates(w.namespace)).To(Equal(said), "from files alone")
		}
		w.carryOut(ctx, s)
		expectFates(ctx, w.namespace, s.workload, said)
		now := simulate(ctx, "--live")
		now.expectRest(w.namespace)
		Expect(now.fates(w.namespace)).To(Equal(said))
	}
}

func (w *world) carryOut(ctx context.Context, s *step) {
	GinkgoHelper()
	if s.policies == "" {
		_, err := client.AppsV1().Deployments(w.namespace).Patch(ctx, s.workload, types.MergePatchType,
			fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, s.replicas), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		return
	}
	apply(ctx, write("policies.yaml", s.policies))
	if s.workloads != "" {
		apply(ctx, write("workloads.yaml", s.workloads))
	}
}
