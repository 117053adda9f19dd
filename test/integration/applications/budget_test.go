// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// stayed returns those of some pods that have not begun to leave.
func (s *site) stayed(ctx context.Context, of []types.UID) (left []types.UID) {
	GinkgoHelper()
	pods, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=shared"})
	Expect(err).NotTo(HaveOccurred())
	there := map[types.UID]bool{}
	for i := range pods.Items {
		there[pods.Items[i].UID] = pods.Items[i].DeletionTimestamp == nil
	}
	for _, uid := range of {
		if there[uid] {
			left = append(left, uid)
		}
	}
	return left
}

// placedMessage returns what a policy says of its workloads.
func (s *site) placedMessage(ctx context.Context) string {
	GinkgoHelper()
	policy, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Get(ctx, "shared", metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	if told := apimeta.FindStatusCondition(policy.Status.Conditions, berthv1alpha1.PolicyPlaced); told != nil {
		return told.Message
	}
	return ""
}

var _ = Describe("The limit of all moves", func() {
	const (
		shared = 5
		// perMinute allows a pod every ten seconds, so that an Application takes half a minute of it.
		perMinute     = 6
		ofApplication = replicas * time.Minute / perMinute
	)

	It("is one for policies and Applications: each waits for what the other has begun", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3})
		s.apply(ctx, nil)
		s.share(ctx, shared, "berlin")
		Eventually(s.running).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"berlin": replicas + shared}))
		pods, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=shared"})
		Expect(err).NotTo(HaveOccurred())
		var first []types.UID
		for i := range pods.Items {
			first = append(first, pods.Items[i].UID)
		}
		Expect(controllers.Stop(timeout)).To(Succeed())
		startControllers(ctx, fmt.Sprintf("--max-moves-per-minute=%d", perMinute))
		DeferCleanup(func(ctx SpecContext) {
			Expect(controllers.Stop(timeout)).To(Succeed())
			startControllers(ctx)
		})

		By("letting the policy begin, and then the Application")
		_, err = berth.BerthV1alpha1().PropagationPolicies(s.namespace).Patch(ctx, "shared", types.MergePatchType, fmt.Appendf(nil,
			`{"spec":{"placement":{"staticWeightList":[{"clusterNames":[%q],"weight":1}]}}}`, s.full("madrid")), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() int { return len(s.stayed(ctx, first)) }).WithTimeout(timeout).WithPolling(poll).Should(BeNumerically("<", shared))
		s.provide(ctx, "madrid", 0.9)
		Eventually(func() string { return moving(s.app(ctx)) }).WithTimeout(timeout).WithPolling(poll).
			Should(HavePrefix("False " + berthv1alpha1.ReasonMovesLimited))

		By("letting the Application have its turn")
		var move *berthv1alpha1.ApplicationMoveStatus
		Eventually(func() *berthv1alpha1.ApplicationMoveStatus {
			move = s.app(ctx).Status.Move
			return move
		}).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeNil())
		left := s.stayed(ctx, first)
		Expect(left).NotTo(BeEmpty(), "pods of the policy that wait")
		Eventually(s.placedMessage).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(ContainSubstring("waiting for --max-moves-per-minute"))
		again := move.StartTime.Add(ofApplication - 5*time.Second)
		Consistently(func() []types.UID { return s.stayed(ctx, left) }).WithTimeout(max(poll, time.Until(again))).WithPolling(poll).
			Should(Equal(left))
		Eventually(s.running).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"madrid": replicas + shared}))
	})
})
