// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// createCronJob makes a CronJob that starts no Job itself, and returns the reference by which it
// owns those that the spec starts, as `kubectl create job --from` does.
func (s *site) createCronJob(ctx context.Context, name string) metav1.OwnerReference {
	GinkgoHelper()
	cron, err := client.BatchV1().CronJobs(s.namespace).Create(ctx, &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec: batchv1.CronJobSpec{
			Schedule: "0 0 1 1 *", Suspend: ptr.To(true),
			JobTemplate: batchv1.JobTemplateSpec{Spec: s.job(name, 1, 1).Spec},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return *metav1.NewControllerRef(cron, batchv1.SchemeGroupVersion.WithKind("CronJob"))
}

func (s *site) ownedDeployment(name string, replicas int, owner *metav1.OwnerReference) *appsv1.Deployment {
	d := s.deployment(name, replicas)
	d.OwnerReferences = []metav1.OwnerReference{*owner}
	return d
}

var _ = Describe("a policy on what is above a workload", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSiteWith(ctx, "beijing", "hangzhou")
	})

	It("shares out each Job of a CronJob for itself", func(ctx SpecContext) {
		policy := s.policy("nightly", "CronJob", twoToThree()...)
		policy.Spec.ResourceSelectors[0].LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "backup"}}
		s.createPolicy(ctx, policy)
		owner := s.createCronJob(ctx, "backup")
		for _, name := range []string{"backup-1", "backup-2"} {
			job := endless(s.job(name, 5, 5))
			job.OwnerReferences = []metav1.OwnerReference{owner}
			s.createJob(ctx, job)
		}
		for _, name := range []string{"backup-1", "backup-2"} {
			s.expectShares(ctx, name, map[string]int{"beijing": 2, "hangzhou": 3})
			Expect(s.seats(ctx, name, "nightly")).To(Equal(map[string][]int{"beijing": {1, 3}, "hangzhou": {0, 2, 4}}))
		}
	})

	It("shares out a Deployment of an operator at every size, and comes before one on the Deployment", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("operated", "Lease", twoToThree()...))
		s.createPolicy(ctx, s.policy("below", "Deployment", weight{cluster: "beijing", weight: 1}))
		owner := s.createForeignOwner(ctx, "shop")
		s.createDeployment(ctx, s.ownedDeployment("shop", 5, &owner))
		s.expectShares(ctx, "shop", map[string]int{"beijing": 2, "hangzhou": 3})
		Expect(s.seats(ctx, "shop", "operated")).To(Equal(map[string][]int{"beijing": {1, 3}, "hangzhou": {0, 2, 4}}))
		s.scale(ctx, "shop", 10)
		s.expectShares(ctx, "shop", map[string]int{"beijing": 4, "hangzhou": 6})
		s.scale(ctx, "shop", 4)
		s.expectShares(ctx, "shop", map[string]int{"beijing": 2, "hangzhou": 2})
		s.expectUnconflicted(ctx, "operated")
	})
})

// expectUnconflicted waits until a policy says that no other places what it selects.
func (s *site) expectUnconflicted(ctx context.Context, policy string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		found, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Get(ctx, policy, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Status.Conditions).To(ContainElement(And(HaveField("Type", "Conflicted"), HaveField("Status", metav1.ConditionFalse))))
		g.Expect(found.Status.Workloads).To(ConsistOf(HaveField("Ref.Kind", "Deployment")))
	}, timeout, poll).Should(Succeed())
}
