// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"fmt"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// What users read in the events of their pods. These are literals on purpose: people search for
// them.
const (
	shareUsedUp    = "node(s) in clusters that have their share of replicas"
	noCluster      = "node(s) in no cluster of the policy"
	otherSeat      = "node(s) in clusters that do not hold the seat of the pod"
	policyNotFound = "the policy that the pod asks for does not exist"
	policyInvalid  = "the policy of the pod cannot be carried out, see its condition Accepted"
	ownerNotFound  = "the owner of the pod does not exist or is not known yet"
)

// expectWaiting waits until so many pods of an app are not placed and each of them has been told
// the reason.
func (s *site) expectWaiting(ctx context.Context, app string, count int, reason string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		waiting := 0
		for _, pod := range s.pods(ctx, app) {
			if pod.Spec.NodeName != "" {
				continue
			}
			waiting++
			g.Expect(schedulerproc.Reasons(ctx, client, &pod)).To(ContainElement(ContainSubstring(reason)))
		}
		g.Expect(waiting).To(Equal(count), "pods that wait")
	}, timeout, poll).Should(Succeed())
}

func (s *site) patchPolicy(ctx context.Context, name, patch string) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Patch(ctx, name,
		types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func (s *site) patchCluster(ctx context.Context, name, patch string) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().Clusters().Patch(ctx, s.full(name), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func (s *site) patchNode(ctx context.Context, cluster string, i int, patch string) {
	GinkgoHelper()
	_, err := client.CoreV1().Nodes().Patch(ctx, s.node(cluster, i), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// Without a wake-up a pod that waits is tried again after five minutes, long after the timeout of
// these specs.
var _ = Describe("a pod that waits says why and is placed once", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSite(ctx)
	})

	// fiveOf makes a Deployment with 5 replicas and a policy that gives beijing 2 of them and
	// hangzhou 3.
	fiveOf := func(ctx context.Context) {
		GinkgoHelper()
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		s.createDeployment(ctx, s.deployment("nginx", 5))
	}
	// onlyBeijing leaves the 3 replicas of hangzhou without a place.
	onlyBeijing := func(ctx context.Context) {
		GinkgoHelper()
		s.createNodes(ctx, "beijing", 2)
		s.createCluster(ctx, "beijing")
		fiveOf(ctx)
		s.expectWaiting(ctx, "nginx", 3, "2 "+shareUsedUp)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "waiting": 3})
	}
	expectAll := func(ctx context.Context) {
		GinkgoHelper()
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
	}

	It("the clusters of its policy are created", func(ctx SpecContext) {
		s.createNodes(ctx, "beijing", 1)
		s.createNodes(ctx, "hangzhou", 1)
		fiveOf(ctx)
		s.expectWaiting(ctx, "nginx", 5, noCluster)
		s.createCluster(ctx, "beijing")
		s.expectWaiting(ctx, "nginx", 3, noCluster)
		s.createCluster(ctx, "hangzhou")
		expectAll(ctx)
	})

	It("a node is added to a cluster", func(ctx SpecContext) {
		onlyBeijing(ctx)
		s.createCluster(ctx, "hangzhou")
		s.createNodes(ctx, "hangzhou", 1)
		expectAll(ctx)
	})

	It("a node is relabelled into a cluster", func(ctx SpecContext) {
		Expect(localplane.CreateNodes(ctx, client, s.full("hangzhou"), 1, nil, nil)).To(Succeed())
		s.createCluster(ctx, "hangzhou")
		onlyBeijing(ctx)
		s.patchNode(ctx, "hangzhou", 0, fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, placeLabel, s.full("hangzhou")))
		expectAll(ctx)
	})

	It("the labels that a cluster matches are changed", func(ctx SpecContext) {
		s.createNodes(ctx, "hangzhou", 1)
		s.createClusterOf(ctx, "hangzhou", berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{placeLabel: "nowhere"}})
		onlyBeijing(ctx)
		s.patchCluster(ctx, "hangzhou", fmt.Sprintf(`{"spec":{"matchLabels":{%q:%q}}}`, placeLabel, s.full("hangzhou")))
		expectAll(ctx)
	})

	It("the cluster that holds its nodes is deleted and another takes them", func(ctx SpecContext) {
		s.createNodes(ctx, "hangzhou", 1)
		s.createClusterOf(ctx, "first", berthv1alpha1.ClusterSpec{MatchLabels: s.label("hangzhou")})
		s.createCluster(ctx, "hangzhou")
		onlyBeijing(ctx)
		Expect(berth.BerthV1alpha1().Clusters().Delete(ctx, s.full("first"), metav1.DeleteOptions{})).To(Succeed())
		expectAll(ctx)
	})

	It("the workload wants more replicas, of which its cluster gets some", func(ctx SpecContext) {
		onlyBeijing(ctx)
		s.scale(ctx, "nginx", 10)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 4, "waiting": 6})
		s.expectWaiting(ctx, "nginx", 6, shareUsedUp)
	})

	It("the policy gives its cluster more weight", func(ctx SpecContext) {
		onlyBeijing(ctx)
		s.patchPolicy(ctx, "nginx", fmt.Sprintf(
			`{"spec":{"placement":{"staticWeightList":[{"clusterNames":[%q],"weight":1}]}}}`, s.full("beijing")))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 5})
	})

	It("the policy is deleted", func(ctx SpecContext) {
		onlyBeijing(ctx)
		Expect(berth.BerthV1alpha1().PropagationPolicies(s.namespace).Delete(ctx, "nginx", metav1.DeleteOptions{})).To(Succeed())
		s.expectRunning(ctx, "nginx", 5)
	})

	It("the labels of its workload no longer fall under the policy", func(ctx SpecContext) {
		s.createNodes(ctx, "beijing", 1)
		policy := s.policy("labelled", "Deployment", weight{cluster: "nowhere", weight: 1})
		policy.Spec.ResourceSelectors[0].LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "far"}}
		s.createPolicy(ctx, policy)
		deployment := s.deployment("nginx", 2)
		deployment.Labels = map[string]string{"tier": "far"}
		s.createDeployment(ctx, deployment)
		s.expectWaiting(ctx, "nginx", 2, noCluster)
		s.patchDeployment(ctx, "nginx", `{"metadata":{"labels":{"tier":"near"}}}`)
		s.expectRunning(ctx, "nginx", 2)
	})

	It("a sibling is deleted", func(ctx SpecContext) {
		s.createNodes(ctx, "beijing", 1)
		s.createCluster(ctx, "beijing")
		s.createPolicy(ctx, s.policy("bare", "Pod", weight{cluster: "beijing", weight: 1, max: 1}))
		s.createPod(ctx, s.pod("bare", 0))
		s.expectShares(ctx, "bare", map[string]int{"beijing": 1})
		s.createPod(ctx, s.pod("bare", 1))
		s.expectWaiting(ctx, "bare", 1, "1 "+shareUsedUp)
		Expect(client.CoreV1().Pods(s.namespace).Delete(ctx, "bare-0", metav1.DeleteOptions{})).To(Succeed())
		s.expectShares(ctx, "bare", map[string]int{"beijing": 1})
	})

	It("a sibling begins to end, however long that takes", func(ctx SpecContext) {
		s.createNodes(ctx, "beijing", 1)
		s.createCluster(ctx, "beijing")
		s.createPolicy(ctx, s.policy("bare", "Pod", weight{cluster: "beijing", weight: 1, max: 1}))
		lasting := s.pod("bare", 0)
		lasting.Finalizers = []string{"example.com/never"}
		s.createPod(ctx, lasting)
		DeferCleanup(func(ctx SpecContext) {
			_, err := client.CoreV1().Pods(s.namespace).Patch(ctx, "bare-0", types.MergePatchType,
				[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
		})
		s.expectShares(ctx, "bare", map[string]int{"beijing": 1})
		s.createPod(ctx, s.pod("bare", 1))
		s.expectWaiting(ctx, "bare", 1, "1 "+shareUsedUp)
		Expect(client.CoreV1().Pods(s.namespace).Delete(ctx, "bare-0", metav1.DeleteOptions{})).To(Succeed())
		s.expectShares(ctx, "bare", map[string]int{"beijing": 1})
		_, err := client.CoreV1().Pods(s.namespace).Get(ctx, "bare-0", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
	})

	It("a sibling has finished its work", func(ctx SpecContext) {
		s.createNodes(ctx, "beijing", 1)
		s.createCluster(ctx, "beijing")
		s.createPolicy(ctx, s.policy("bare", "Pod", weight{cluster: "beijing", weight: 1, max: 1}))
		s.createPod(ctx, s.pod("bare", 0))
		s.expectShares(ctx, "bare", map[string]int{"beijing": 1})
		s.createPod(ctx, s.pod("bare", 1))
		s.expectWaiting(ctx, "bare", 1, "1 "+shareUsedUp)
		_, err := client.CoreV1().Pods(s.namespace).Patch(ctx, "bare-0", types.MergePatchType,
			[]byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
		Expect(err).NotTo(HaveOccurred())
		Eventually(s.placed).WithContext(ctx).WithArguments("bare").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"beijing": 2}))
	})

	It("the cluster of its ordinal has a node", func(ctx SpecContext) {
		s.createNodes(ctx, "hangzhou", 1)
		s.createCluster(ctx, "hangzhou")
		s.createCluster(ctx, "beijing")
		s.createPolicy(ctx, s.policy("web", "StatefulSet", twoToThree()...))
		s.createStatefulSet(ctx, s.statefulSet("web", 2))
		s.expectWaiting(ctx, "web", 1, "1 "+otherSeat)
		first, err := client.CoreV1().Pods(s.namespace).Get(ctx, "web-0", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(schedulerproc.Reasons(ctx, client, first)).NotTo(ContainElement(ContainSubstring(otherSeat)))
		s.createNodes(ctx, "beijing", 1)
		s.expectOrdinals(ctx, "web", 2)
	})

	It("the policy that it asks for is created", func(ctx SpecContext) {
		s.createNodes(ctx, "beijing", 1)
		s.createCluster(ctx, "beijing")
		pod := s.pod("asking", 0)
		pod.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "later"}
		s.createPod(ctx, pod)
		s.expectWaiting(ctx, "asking", 1, policyNotFound)
		s.createPolicy(ctx, s.policy("later", "Deployment", weight{cluster: "beijing", weight: 1}))
		s.expectShares(ctx, "asking", map[string]int{"beijing": 1})
		Expect(s.seats(ctx, "asking", "later")).To(Equal(map[string][]int{"beijing": {0}}))
	})

	It("the weights of its policy can be used", func(ctx SpecContext) {
		s.createNodes(ctx, "beijing", 1)
		s.createCluster(ctx, "beijing")
		s.createPolicy(ctx, s.policy("nginx", "Deployment",
			weight{cluster: "beijing", weight: 1}, weight{cluster: "beijing", weight: 2}))
		s.createDeployment(ctx, s.deployment("nginx", 2))
		s.expectWaiting(ctx, "nginx", 2, policyInvalid)
		s.patchPolicy(ctx, "nginx", fmt.Sprintf(
			`{"spec":{"placement":{"staticWeightList":[{"clusterNames":[%q],"weight":1}]}}}`, s.full("beijing")))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2})
	})

	It("its owner is known", Serial, func(ctx SpecContext) {
		s.createNodes(ctx, "beijing", 1)
		s.createCluster(ctx, "beijing")
		s.createPolicy(ctx, s.policy("set", "ReplicaSet", weight{cluster: "beijing", weight: 1}))
		suspend(localplane.ControllerManager) // it would delete what has no owner
		absent := metav1.OwnerReference{
			APIVersion: "apps/v1", Kind: "Deployment", Name: "absent", UID: "5a0b9c8e-0000-4000-8000-000000000000", Controller: ptr.To(true),
		}
		set, err := client.AppsV1().ReplicaSets(s.namespace).Create(ctx, &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: "set", OwnerReferences: []metav1.OwnerReference{absent}},
			Spec: appsv1.ReplicaSetSpec{
				Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "set"}},
				Template: template("set"),
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		pod := s.pod("set", 0)
		pod.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "set", UID: set.UID, Controller: ptr.To(true),
		}}
		s.createPod(ctx, pod)
		s.expectWaiting(ctx, "set", 1, ownerNotFound)

		By("making the ReplicaSet stand by itself, as an orphaning delete does")
		_, err = client.AppsV1().ReplicaSets(s.namespace).Patch(ctx, "set", types.MergePatchType,
			[]byte(`{"metadata":{"ownerReferences":null}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.expectShares(ctx, "set", map[string]int{"beijing": 1})
	})

	It("its nodes are no longer cordoned", func(ctx SpecContext) {
		s.createNodes(ctx, "beijing", 2)
		s.createCluster(ctx, "beijing")
		for i := range 3 {
			node := localplane.FakeNode(s.node("hangzhou", i), s.label("hangzhou"), nil)
			node.Spec.Unschedulable = true
			_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		s.createCluster(ctx, "hangzhou")
		fiveOf(ctx)
		s.expectWaiting(ctx, "nginx", 3, "2 "+shareUsedUp)
		s.expectWaiting(ctx, "nginx", 3, "3 node(s) were unschedulable")
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "waiting": 3})
		Consistently(s.placed).WithContext(ctx).WithArguments("nginx").WithTimeout(settle).WithPolling(poll).
			Should(Equal(map[string]int{"beijing": 2, "waiting": 3}))
		s.patchNode(ctx, "hangzhou", 1, `{"spec":{"unschedulable":null}}`)
		expectAll(ctx)
	})
})

// suspend stops a program of the control plane until the spec is over.
func suspend(name string) {
	GinkgoHelper()
	for _, p := range plane.Processes() {
		if p.Name() == name {
			Expect(p.Kill(syscall.SIGSTOP)).To(Succeed())
			DeferCleanup(func() { Expect(p.Kill(syscall.SIGCONT)).To(Succeed()) })
			return
		}
	}
	Fail("no process " + name)
}
