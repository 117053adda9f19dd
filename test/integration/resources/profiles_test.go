// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"maps"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"berth.dev/berth/test/integration/internal/schedulerproc"
)

var _ = Describe("two profiles of one scheduler", Serial, func() {
	const other = "berth-other"

	It("share the account", func(ctx SpecContext) {
		s := newSite(ctx)
		s.createNode(ctx, "one", "", "32")
		s.createResource(ctx, "licence", s.capacity("", "5"))
		w := s.watchFrom(ctx, "licence", map[string]int{"default": 5})
		s.letAsk(ctx, other)
		replaceMain()
		schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "two-profiles", Configuration: configured(func(profile map[string]any) []any {
			second := maps.Clone(profile)
			second["schedulerName"] = other
			return []any{profile, second}
		})}).EndAfterwards()

		var names []string
		for n := range 8 {
			name := "pod-" + strconv.Itoa(n)
			names = append(names, name)
			s.createPod(ctx, name, asking("licence", "1"), ofScheduler([]string{schedulerproc.Name, other}[n%2]))
		}
		count := func(g Gomega, state string, want int) { g.Expect(s.count(ctx, state, names...)).To(Equal(want)) }
		Eventually(count).WithArguments(bound, 5).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		held := s.in(ctx, bound, names...)
		placedBy := map[string]bool{}
		for _, name := range held {
			placedBy[s.get(ctx, name).Spec.SchedulerName] = true
		}
		Expect(placedBy).To(HaveLen(2), "pods of both profiles are among those placed")

		By("giving what one profile releases to pods of the other")
		for _, name := range held[:3] {
			s.deletePod(ctx, name)
		}
		Eventually(count).WithArguments(waiting, 0).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		w.expectNoBreach()
	})
})

// letAsk lets pods of another scheduler ask for ClusterResources until the spec is over, as the
// policy tells administrators to.
func (s *site) letAsk(ctx context.Context, scheduler string) {
	GinkgoHelper()
	const name, variable = "berth-cluster-resource-requests", "schedulers"
	policies := client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	set := func(ctx context.Context, change func(before string) (after string)) {
		GinkgoHelper()
		Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
			policy, err := policies.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for i := range policy.Spec.Variables {
				if v := &policy.Spec.Variables[i]; v.Name == variable {
					before := v.Expression
					v.Expression = change(before)
					Expect(v.Expression).NotTo(Equal(before))
				}
			}
			_, err = policies.Update(ctx, policy, metav1.UpdateOptions{})
			return err
		})).To(Succeed())
	}
	addition := ", '" + scheduler + "']"
	set(ctx, func(before string) string { return strings.TrimSuffix(before, "]") + addition })
	DeferCleanup(func(ctx SpecContext) {
		set(ctx, func(before string) string { return strings.TrimSuffix(before, addition) + "]" })
	})
	// It takes the API server a moment to see the change.
	Eventually(func() error {
		_, err := client.CoreV1().Pods(s.namespace).Create(ctx,
			s.pod("probe", asking("licence", "1"), ofScheduler(scheduler)), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}, timeout, poll).Should(Succeed())
}
