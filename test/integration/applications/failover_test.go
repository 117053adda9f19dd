// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// schedulable sets whether the nodes of a Cluster take pods. If none does it is offline.
func (s *site) schedulable(ctx context.Context, name string, is bool) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, !is)
	for i := range 2 {
		_, err := client.CoreV1().Nodes().Patch(ctx, fmt.Sprintf("%s-%d", s.full(name), i), types.MergePatchType, patch, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}

// edit changes the spec of the Application by a merge patch.
func (s *site) edit(ctx context.Context, spec map[string]any) error {
	patch, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return err
	}
	_, err = berth.BerthV1alpha1().Applications(s.namespace).Patch(ctx, "web", types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// scheduled returns status, reason and message of the condition that reports on the choice.
func (s *site) scheduled(ctx context.Context) string {
	told := apimeta.FindStatusCondition(s.app(ctx).Status.Conditions, berthv1alpha1.ApplicationScheduled)
	if told == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", told.Status, told.Reason, told.Message)
}

var _ = Describe("A cluster that goes offline", func() {
	It("is left when the failover says, and returned to when it has been healthy", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3})
		after := berthv1alpha1.FailoverNever
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) { spec.Failover = &berthv1alpha1.Failover{After: &after} })
		s.runsIn(ctx, "berlin")
		s.schedulable(ctx, "berlin", false)
		Eventually(s.scheduled).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(And(
			HavePrefix("False ClusterOffline: cluster "+s.full("berlin")+" is offline since "), ContainSubstring("failover.after is Never")))
		Consistently(func() string { return s.app(ctx).Status.ScheduledTo }).WithTimeout(settle).WithPolling(poll).Should(Equal(s.full("berlin")))

		Expect(s.edit(ctx, map[string]any{"failover": map[string]any{"after": "1s"}})).To(Succeed())
		s.runsIn(ctx, "madrid")
		Expect(s.app(ctx).Status.FailedOver).To(ConsistOf(HaveField("Cluster", s.full("berlin"))))
		s.schedulable(ctx, "berlin", true)
		Eventually(func(g Gomega) {
			var reasons []string
			for _, place := range s.app(ctx).Status.Ranking {
				if place.Name == s.full("berlin") {
					reasons = place.Reasons
				}
			}
			g.Expect(reasons).To(ContainElement("online for too short a time after a failover"))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		Expect(s.app(ctx).Status.ScheduledTo).To(Equal(s.full("madrid")))

		Expect(s.edit(ctx, map[string]any{"failover": map[string]any{"returnAfter": "1s"}})).To(Succeed())
		s.runsIn(ctx, "berlin")
		Expect(s.app(ctx).Status.FailedOver).To(BeEmpty())
	})

	It("keeps an Application that has nowhere else to go, and tells so", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5})
		after := berthv1alpha1.FailoverAfter("0s")
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) { spec.Failover = &berthv1alpha1.Failover{After: &after} })
		s.runsIn(ctx, "berlin")
		s.schedulable(ctx, "berlin", false)
		Eventually(s.scheduled).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(And(
			HavePrefix("False NoClusterMatches: cluster "+s.full("berlin")+" is offline since "),
			ContainSubstring("it stays there, since no cluster matches")))
		Expect(s.app(ctx).Status.ScheduledTo).To(Equal(s.full("berlin")))
	})

	It("is left by a rule that the API server checks", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5})
		s.apply(ctx, nil)
		for field, message := range map[string]string{"after": "must be Never, or a duration", "returnAfter": "must be a duration"} {
			for _, bad := range []string{"never", "-1s", "200h", "5 m", "5"} {
				Expect(s.edit(ctx, map[string]any{"failover": map[string]any{field: bad}})).To(MatchError(ContainSubstring(message)), bad)
			}
		}
	})
})
