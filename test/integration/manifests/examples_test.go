// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// nodesPerCluster are more than any example fills.
const nodesPerCluster = 2

// startScheduler runs bin/berth-scheduler as the base does, with the permissions of its
// ServiceAccount.
func startScheduler(ctx context.Context) {
	GinkgoHelper()
	user, groups := localplane.ServiceAccountIdentity(systemNamespace, "berth-scheduler")
	kubeconfig, err := plane.Kubeconfig(user, groups...)
	Expect(err).NotTo(HaveOccurred())
	shipped := read(installation.Path("manifests", "base", "scheduler-config.yaml"))[0]
	Expect(unstructured.SetNestedField(shipped.Object, kubeconfig, "clientConnection", "kubeconfig")).To(Succeed())
	content, err := yaml.Marshal(shipped.Object)
	Expect(err).NotTo(HaveOccurred())
	config := filepath.Join(plane.StateDir(), "scheduler-config.yaml")
	Expect(os.WriteFile(config, content, 0o600)).To(Succeed())
	binDir, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	args := append([]string{
		"--config=" + config, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig, "--secure-port=0",
	}, schedulerproc.Patient...)
	scheduler, err := plane.StartProcess(ctx, "berth-scheduler", filepath.Join(binDir, "berth-scheduler"), args...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return scheduler.Stop(timeout) })
}

// where maps the name of each pod with the label to the region of its node, or to "" while it has
// none.
func where(ctx context.Context, selector string) map[string]string {
	GinkgoHelper()
	pods, err := client.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{LabelSelector: selector})
	Expect(err).NotTo(HaveOccurred())
	found := make(map[string]string, len(pods.Items))
	for i := range pods.Items {
		region := ""
		if node := pods.Items[i].Spec.NodeName; node != "" {
			region = node[:strings.LastIndexByte(node, '-')]
		}
		found[pods.Items[i].Name] = region
	}
	return found
}

// shares counts the pods with the label in each region.
func shares(ctx context.Context, selector string) map[string]int {
	GinkgoHelper()
	counts := map[string]int{}
	for _, region := range where(ctx, selector) {
		counts[region]++
	}
	return counts
}

// applyPolicies applies the Clusters and policies of the examples and waits until Berth has seen
// them all: an API server that has just been told of a kind may be slow to tell who watches it, and
// a pod is placed by the policies that are known.
func applyPolicies(ctx context.Context, paths []string) {
	GinkgoHelper()
	var first []*unstructured.Unstructured
	for _, path := range paths {
		for _, object := range read(path) {
			if kind := object.GetKind(); kind == "Cluster" || kind == "PropagationPolicy" {
				first = append(first, object)
			}
		}
	}
	Expect(localplane.ApplyObjects(ctx, plane.Config(), first)).To(Succeed())
	policies := objects.Resource(berthv1alpha1.SchemeGroupVersion.WithResource("propagationpolicies"))
	Eventually(func(g Gomega) {
		list, err := policies.List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(list.Items).NotTo(BeEmpty())
		for i := range list.Items {
			policy := into[berthv1alpha1.PropagationPolicy](&list.Items[i])
			g.Expect(policy.Status.Conditions).NotTo(BeEmpty(), policy.Name)
		}
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// isOfSchedulers reports whether an example is about several schedulers.
func isOfSchedulers(path string) bool {
	return filepath.Base(filepath.Dir(path)) == "schedulers"
}

var _ = Describe("The examples", Ordered, ContinueOnFailure, func() {
	var all []*unstructured.Unstructured

	BeforeAll(func(ctx SpecContext) {
		paths := filesIn(installation.Path("examples"))
		Expect(paths).NotTo(BeEmpty())
		for _, region := range []string{"beijing", "hangzhou"} {
			labels := map[string]string{corev1.LabelTopologyRegion: region}
			Expect(localplane.CreateNodes(ctx, client, region, nodesPerCluster, labels, nil)).To(Succeed())
		}
		startScheduler(ctx)
		// It publishes the pools of ClusterResources.
		manager := schedulerproc.StartControllers(ctx, plane)
		DeferCleanup(func() error { return manager.Stop(timeout) })
		applyPolicies(ctx, paths)
		for _, path := range paths {
			all = append(all, read(path)...)
			if isOfSchedulers(path) {
				continue // with several Schedulers, one without a name stands back
			}
			Expect(localplane.ApplyManifests(ctx, plane.Config(), path)).To(Succeed(), path)
		}
	})

	AfterAll(func(ctx SpecContext) {
		schedulers := slices.DeleteFunc(filesIn(installation.Path("examples")), func(path string) bool { return !isOfSchedulers(path) })
		Expect(schedulers).NotTo(BeEmpty())
		for _, path := range schedulers {
			Expect(localplane.ApplyManifests(ctx, plane.Config(), path)).To(Succeed(), path)
		}
	})

	It("are listed in the README", func() {
		readme, err := os.ReadFile(installation.Path("examples", "README.md"))
		Expect(err).NotTo(HaveOccurred())
		for _, path := range filesIn(installation.Path("examples")) {
			name, err := filepath.Rel(installation.Path("examples"), path)
			Expect(err).NotTo(HaveOccurred())
			Expect(string(readme)).To(ContainSubstring("](" + filepath.ToSlash(name) + ")"))
		}
	})

	It("hold together: clusters that exist, workloads that use Berth's scheduler, no object twice", func() {
		clusters, seen := map[string]bool{}, map[string]bool{}
		for _, object := range all {
			identity := object.GetKind() + " " + object.GetName()
			Expect(seen).NotTo(HaveKey(identity))
			seen[identity] = true
			if object.GetKind() == "Cluster" {
				clusters[object.GetName()] = true
			}
		}
		for _, object := range all {
			switch object.GetKind() {
			case "PropagationPolicy":
				for _, entry := range into[berthv1alpha1.PropagationPolicy](object).Spec.Placement.StaticWeightList {
					for _, name := range entry.ClusterNames {
						Expect(clusters).To(HaveKey(name), object.GetName())
					}
				}
			case "Deployment", "StatefulSet", "Job":
				name, _, err := unstructured.NestedString(object.Object, "spec", "template", "spec", "schedulerName")
				Expect(err).NotTo(HaveOccurred())
				Expect(name).To(Equal("berth-scheduler"), object.GetName())
			}
		}
	})

	DescribeTable("come out as they say", func(ctx SpecContext, selector string, wantBeijing, wantHangzhou int) {
		Eventually(ctx, shares).WithArguments(selector).WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"beijing": wantBeijing, "hangzhou": wantHangzhou}))
	},
		Entry("weights", "app=nginx", 2, 3),
		Entry("bounds", "app=renderer", 2, 6),
		Entry("an Indexed Job, all in all", "app=crawl", 6, 2),
		Entry("ScheduleAnyway, as long as there is room", "app=frontend", 3, 3),
		Entry("a policy by annotation", "app=reports", 1, 4),
		Entry("addresses of network scopes", "app=proxy", 3, 5),
	)

	DescribeTable("give out no more than there is", func(ctx SpecContext, selector string, wantRunning, wantWaiting int) {
		Eventually(ctx, func(ctx context.Context) []int {
			counts := shares(ctx, selector)
			return []int{counts["beijing"] + counts["hangzhou"], counts[""]}
		}).WithTimeout(timeout).WithPolling(poll).Should(Equal([]int{wantRunning, wantWaiting}))
	},
		Entry("licences", "app=solver", 4, 2),
		Entry("storage of racks", "app=transcoder", 4, 1),
		Entry("bandwidth within bandwidth", "app=stream", 3, 1),
	)

	It("come out as they say: each ordinal of a StatefulSet in its cluster", func(ctx SpecContext) {
		Eventually(ctx, where).WithArguments("app=ledger").WithTimeout(timeout).WithPolling(poll).Should(Equal(map[string]string{
			"ledger-0": "beijing", "ledger-1": "hangzhou", "ledger-2": "beijing", "ledger-3": "hangzhou",
		}))
	})

	It("come out as they say: a pod without an owner runs", func(ctx SpecContext) {
		Eventually(ctx, where).WithArguments("").WithTimeout(timeout).WithPolling(poll).
			Should(HaveKeyWithValue("one-off-report", "hangzhou"))
	})
})
