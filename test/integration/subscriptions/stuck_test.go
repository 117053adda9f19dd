// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscriptions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// refuse says of a pod what a scheduler says that finds no node for it.
func (s *site) refuse(ctx context.Context, pod string) {
	GinkgoHelper()
	condition, err := json.Marshal(corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/2 nodes are available: 2 node(s) were out of luck.", LastTransitionTime: metav1.Now(),
	})
	Expect(err).NotTo(HaveOccurred())
	_, err = client.CoreV1().Pods(s.namespace).Patch(ctx, pod, types.StrategicMergePatchType,
		fmt.Appendf(nil, `{"status":{"conditions":[%s]}}`, condition), metav1.PatchOptions{}, "status")
	Expect(err).NotTo(HaveOccurred())
}

var _ = Describe("What finds no node", func() {
	It("goes to another Cluster", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "4")
		s.cluster(ctx, "b", "4")
		s.subscribe(ctx, "shop", []string{"web"}, func(spec *berthv1alpha1.SubscriptionSpec) {
			spec.DividingScheduling.DynamicDividing = &berthv1alpha1.DynamicDividing{GiveUpAfter: &metav1.Duration{Duration: time.Second}}
		})
		// The spec is the scheduler, and has reasons of its own.
		s.deployWith(ctx, "web", 4, func(template *corev1.PodTemplateSpec) { template.Spec.SchedulerName = "moody" })
		until(ctx, s.placement("shop"), "web a=2 b=2")
		until(ctx, s.where("web"), "-=4")
		for i, pod := range s.pods(ctx, "web") {
			if i >= 2 {
				s.refuse(ctx, pod.Name)
				continue
			}
			Expect(client.CoreV1().Pods(s.namespace).Bind(ctx, &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "a-" + s.suffix},
			}, metav1.CreateOptions{})).To(Succeed())
		}
		until(ctx, s.placement("shop"), "web a=4 b=0")
		Expect(s.limitedBy("shop", "b")(ctx)).To(Equal("0/2 nodes are available: 2 node(s) were out of luck."))
	})

	It("is told of a division by weight, which stays", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "8")
		s.cluster(ctx, "b", "2")
		s.subscribe(ctx, "shop", []string{"web"}, s.byWeight(map[string]int32{"a": 2, "b": 3}))
		s.deploy(ctx, "web", 5)
		until(ctx, s.where("web"), "-=1 a=2 b=2")
		Eventually(ctx, s.limitedBy("shop", "b")).WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring("Insufficient cpu"))
		Expect(s.placement("shop")(ctx)).To(Equal("web a=2 b=3"))
		Expect(s.where("web")(ctx)).To(Equal("-=1 a=2 b=2"))
	})
})
