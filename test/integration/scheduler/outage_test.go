// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"bytes"
	"context"
	"slices"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const unreadable = "Clusters and PropagationPolicies cannot be read"

// forbid takes the permission to read Berth's kinds from the scheduler, and returns what gives it
// back. At the latest the end of the spec does.
func forbid(ctx context.Context) (allow func(context.Context)) {
	GinkgoHelper()
	setRules := func(ctx context.Context, rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		GinkgoHelper()
		role, err := client.RbacV1().ClusterRoles().Get(ctx, schedulerproc.Name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		before := slices.Clone(role.Rules)
		if role.Rules = rules; rules == nil {
			forbidden := 0
			for i := range before {
				rule := *before[i].DeepCopy()
				rule.Resources = slices.DeleteFunc(rule.Resources, func(r string) bool { return r == "propagationpolicies" })
				forbidden += len(before[i].Resources) - len(rule.Resources)
				role.Rules = append(role.Rules, rule)
			}
			Expect(forbidden).To(Equal(1))
		}
		_, err = client.RbacV1().ClusterRoles().Update(ctx, role, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		return before
	}
	before := setRules(ctx, nil)
	DeferCleanup(func(ctx SpecContext) { setRules(ctx, before) })
	return func(ctx context.Context) { setRules(ctx, before) }
}

// crashAPIServer kills the API server and returns when that was.
func crashAPIServer() time.Time {
	GinkgoHelper()
	for _, p := range plane.Processes() {
		if p.Name() == localplane.APIServer {
			Expect(p.Kill(syscall.SIGKILL)).To(Succeed())
			Expect(p.Wait()).To(Succeed())
		}
	}
	return time.Now()
}

// scheduledAt returns when a pod was bound, the zero time if it is not.
func scheduledAt(pod corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

var _ = Describe("an outage", Serial, func() {
	It("of the API server leaves exact shares behind", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		replaceMain()
		main = schedulerproc.Start(ctx, plane, schedulerproc.Options{
			Configuration: schedulerproc.SlowConfiguration(), Args: schedulerproc.Patient,
		}).EndAfterwards()
		var crashed time.Time
		struck := s.whenBound(ctx, 20, func() { crashed = crashAPIServer() })
		b := s.createBurst(ctx, "web", 2, 101, twoToThree()...)
		Eventually(struck).WithTimeout(timeout).Should(BeClosed())
		Expect(plane.StartAPIServer(ctx)).To(Succeed())
		b.expectExact(ctx)
		Expect(main.Done()).NotTo(BeClosed())
		Expect(s.pods(ctx, "")).To(ContainElement(WithTransform(scheduledAt, BeTemporally(">", crashed))), "it came too late")

		By("working as before")
		s.scale(ctx, "web-0", 31)
		s.expectShares(ctx, "web-0", webster(31, twoToThree()...))
	})

	It("of the permission to read policies is told to the pods that wait for it", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		replaceMain()
		allow := forbid(ctx)
		impatient := bytes.Replace(schedulerproc.ShippedConfiguration(), []byte("firstReadTimeout: 10s"), []byte("firstReadTimeout: 1s"), 1)
		Expect(impatient).NotTo(Equal(schedulerproc.ShippedConfiguration()))
		schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "forbidden", Configuration: impatient}).EndAfterwards()
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.createPod(ctx, s.pod("free", 0))
		s.expectWaiting(ctx, "nginx", 5, unreadable)
		s.expectWaiting(ctx, "free", 1, unreadable)

		allow(ctx)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		s.expectRunning(ctx, "free", 1)
	})

	It("of the permission to read policies changes nothing for a scheduler that has read them", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		allow := forbid(ctx)
		// Its end is that of the watches, so that the scheduler has to list anew.
		crashAPIServer()
		Expect(plane.StartAPIServer(ctx)).To(Succeed())
		s.scale(ctx, "nginx", 10)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 4, "hangzhou": 6})

		allow(ctx)
		By("seeing policies again that are created later")
		asking := s.pod("asking", 0)
		asking.Annotations = map[string]string{"groupingpolicy.kubeedge.io": "later"}
		s.createPod(ctx, asking)
		s.createPolicy(ctx, s.policy("later", "Pod", weight{cluster: "beijing", weight: 1}))
		s.expectShares(ctx, "asking", map[string]int{"beijing": 1})
	})
})
