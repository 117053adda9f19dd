// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
)

// operators is the group of the kinds in testdata/operators.yaml.
const operators = "operators.example.com"

// operated makes an object of one of these kinds, and returns the reference by which it controls
// others.
func (s *site) operated(ctx context.Context, kind, name string, spec map[string]any, owners ...metav1.OwnerReference) metav1.OwnerReference {
	GinkgoHelper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": operators + "/v1", "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
	}}
	object.SetOwnerReferences(owners)
	created, err := s.objects(kind).Create(ctx, object, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return *metav1.NewControllerRef(created, schema.GroupVersionKind{Group: operators, Version: "v1", Kind: kind})
}

// objects reads and writes objects of one of these kinds.
func (s *site) objects(kind string) dynamic.ResourceInterface {
	GinkgoHelper()
	objects, err := dynamic.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	return objects.Resource(schema.GroupVersionResource{
		Group: operators, Version: "v1", Resource: strings.ToLower(kind) + "s",
	}).Namespace(s.namespace)
}

// operatorPods makes the pods from..to-1 of an object, as its operator does.
func (s *site) operatorPods(ctx context.Context, app string, from, to int, owner *metav1.OwnerReference) {
	GinkgoHelper()
	for i := from; i < to; i++ {
		pod := s.pod(app, i)
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
		s.createPod(ctx, pod)
	}
}

// shrink deletes all but so many pods, those of the lowest deletion cost first, as CloneSets and
// ReplicaSets do.
func (s *site) shrink(ctx context.Context, app string, to int) {
	GinkgoHelper()
	pods := s.pods(ctx, app)
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Compare(stamp.ParseDeletionCost(a.Annotations[corev1.PodDeletionCost]), stamp.ParseDeletionCost(b.Annotations[corev1.PodDeletionCost]))
	})
	for i := range pods[:len(pods)-to] {
		Expect(client.CoreV1().Pods(s.namespace).Delete(ctx, pods[i].Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})).To(Succeed())
	}
}

// operatorPolicy is a policy of 2:3 on one of these kinds.
func (s *site) operatorPolicy(kind string) *berthv1alpha1.PropagationPolicy {
	policy := s.policy("operated", kind, twoToThree()...)
	policy.Spec.ResourceSelectors[0].APIVersion = operators + "/v1"
	return policy
}

// told waits until a pod has been told by an event that an owner cannot be confirmed, and why.
func (s *site) told(ctx context.Context, pod, why string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		events, err := client.EventsV1().Events(s.namespace).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(events.Items).To(ContainElement(And(
			HaveField("Regarding.Name", pod), HaveField("Reason", "OwnerUnconfirmed"), HaveField("Note", ContainSubstring(why)))))
	}, timeout, poll).Should(Succeed())
}

var _ = Describe("a policy on an object of an operator", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSiteWith(ctx, "beijing", "hangzhou")
	})

	It("shares out the Job of an object of an object", func(ctx SpecContext) {
		s.createPolicy(ctx, s.operatorPolicy("Fleet"))
		fleet := s.operated(ctx, "Fleet", "train", nil)
		ring := s.operated(ctx, "Ring", "train-1", map[string]any{"size": int64(1)}, fleet)
		job := endless(s.job("train-1-a", 5, 5))
		job.OwnerReferences = []metav1.OwnerReference{ring}
		s.createJob(ctx, job)
		s.expectShares(ctx, "train-1-a", map[string]int{"beijing": 2, "hangzhou": 3})
		Expect(s.seats(ctx, "train-1-a", "operated")).To(Equal(map[string][]int{"beijing": {1, 3}, "hangzhou": {0, 2, 4}}))
	})

	It("shares out its pods at every size, which its scale subresource tells", func(ctx SpecContext) {
		s.createPolicy(ctx, s.operatorPolicy("Ring"))
		ring := s.operated(ctx, "Ring", "cache", map[string]any{"size": int64(5)})
		s.operatorPods(ctx, "cache", 0, 6, &ring)
		s.expectSixthWaits(ctx, "cache")

		By("growing: the sixth pod waited for its seat")
		s.resize(ctx, "cache", 10)
		s.operatorPods(ctx, "cache", 6, 10, &ring)
		s.expectShares(ctx, "cache", map[string]int{"beijing": 4, "hangzhou": 6})

		By("shrinking")
		s.resize(ctx, "cache", 4)
		s.shrink(ctx, "cache", 4)
		s.expectShares(ctx, "cache", map[string]int{"beijing": 2, "hangzhou": 2})
	})

	It("whose definition goes counts for nobody, and again when it is back", func(ctx SpecContext) {
		s.createPolicy(ctx, s.operatorPolicy("Dock"))
		before := s.operated(ctx, "Dock", "before", map[string]any{"size": int64(5)})
		s.operatorPods(ctx, "before", 0, 5, &before)
		s.expectShares(ctx, "before", map[string]int{"beijing": 2, "hangzhou": 3})

		definition, err := definitions().Get(ctx, "docks."+operators, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(definitions().Delete(ctx, definition.GetName(), metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() error {
			_, err := definitions().Get(ctx, definition.GetName(), metav1.GetOptions{})
			return err
		}, longTimeout, poll).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))

		By("a pod that names what is gone is told, and others are divided as ever")
		// The garbage collector may delete such a pod once it has noticed. What it was told stays.
		Eventually(func(g Gomega) {
			s.operatorPods(ctx, "late-"+rand.String(5), 0, 1, &before)
			events, err := client.EventsV1().Events(s.namespace).List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(events.Items).To(ContainElement(And(HaveField("Regarding.Name", HavePrefix("late-")), HaveField("Reason", "OwnerUnconfirmed"),
				HaveField("Note", ContainSubstring("Dock of "+operators+"/v1 is not served")))))
		}, longTimeout, time.Second).Should(Succeed())
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})

		By("it is back: the first pods of a new object belong to it")
		again := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": definition.GetAPIVersion(), "kind": definition.GetKind(), "spec": definition.Object["spec"],
			"metadata": map[string]any{"name": definition.GetName()},
		}}
		_, err = definitions().Create(ctx, again, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() error {
			_, err := s.objects("Dock").List(ctx, metav1.ListOptions{})
			return err
		}, longTimeout, poll).Should(Succeed())
		after := s.operated(ctx, "Dock", "after", map[string]any{"size": int64(5)})
		s.operatorPods(ctx, "after", 0, 5, &after)
		s.expectShares(ctx, "after", map[string]int{"beijing": 2, "hangzhou": 3})
	})

	It("that cannot be confirmed holds no pod for long, and is told", func(ctx SpecContext) {
		s.createPolicy(ctx, s.operatorPolicy("Vault"))
		vault := s.operated(ctx, "Vault", "main", nil)
		unserved := vault
		unserved.APIVersion = "nobody.example.com/v1"
		for app, tc := range map[string]struct {
			owner metav1.OwnerReference
			why   string
		}{
			"forbidden": {vault, "berth may not get vaults." + operators},
			"unserved":  {unserved, "Vault of nobody.example.com/v1 is not served"},
		} {
			s.operatorPods(ctx, app, 0, 1, &tc.owner)
			s.expectRunning(ctx, app, 1)
			s.told(ctx, app+"-0", tc.why)
			Expect(s.pods(ctx, app)[0].Annotations).NotTo(HaveKey(berthv1alpha1.PlacedPolicyAnnotation))
		}
		s.policySays(ctx, "berth may not get vaults."+operators)
	})
})

// policySays waits until the policy on a kind of an operator says something of its pods.
func (s *site) policySays(ctx context.Context, what string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		policy, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Get(ctx, "operated", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(policy.Status.Conditions).To(ContainElement(And(HaveField("Type", berthv1alpha1.PolicyPlaced),
			HaveField("Message", ContainSubstring(what)))))
	}, timeout, poll).Should(Succeed())
}

// resize changes how many pods a Ring wants.
func (s *site) resize(ctx context.Context, name string, size int) {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"size": size}})
	Expect(err).NotTo(HaveOccurred())
	_, err = s.objects("Ring").Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}
