// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscriptions_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// policy makes a policy that shares the Deployment web by weights, and moves pods at once.
func (s *site) policy(ctx context.Context, weights map[string]int64) {
	GinkgoHelper()
	p := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}},
			Rebalance:         berthv1alpha1.Rebalance{Mode: berthv1alpha1.RebalanceEvict, Cooldown: &metav1.Duration{}, MinPodAge: &metav1.Duration{}},
		},
	}
	for _, name := range []string{"a", "b"} {
		p.Spec.Placement.StaticWeightList = append(p.Spec.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{name + "-" + s.suffix}, Weight: weights[name]})
	}
	_, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Create(ctx, p, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	main.UntilKnows(ctx, berth)
}

// reweigh turns the weights of the policy round.
func (s *site) reweigh(ctx context.Context, a, b int) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Patch(ctx, "web", types.MergePatchType, fmt.Appendf(nil,
		`{"spec":{"placement":{"staticWeightList":[{"clusterNames":["a-%[1]s"],"weight":%[2]d},{"clusterNames":["b-%[1]s"],"weight":%[3]d}]}}}`,
		s.suffix, a, b), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// placed tells what the policy says of its condition Placed.
func (s *site) placed(ctx context.Context) string {
	p, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	if c := apimeta.FindStatusCondition(p.Status.Conditions, berthv1alpha1.PolicyPlaced); c != nil && c.ObservedGeneration == p.Generation {
		return string(c.Status) + " " + c.Reason + ": " + c.Message
	}
	return "not yet"
}

// names are those of the pods of a Deployment.
func (s *site) names(ctx context.Context, app string) string {
	var names []string
	for _, pod := range s.pods(ctx, app) {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

var _ = Describe("Rebalancing", func() {
	for form, asks := range forms {
		It("moves pods that hold units of a ClusterResource, asked for as "+form+", only to where there are some left", func(ctx SpecContext) {
			s := newSite(ctx)
			s.cluster(ctx, "a", "32")
			s.cluster(ctx, "b", "32")
			licence := s.pools(ctx, berthv1alpha1.AnyOf, map[string]string{"a": "4", "b": "7"})
			s.policy(ctx, map[string]int64{"a": 3, "b": 7})
			s.deployWith(ctx, "web", 10, asks(licence))
			until(ctx, s.where("web"), "a=3 b=7")
			Eventually(ctx, s.placed).WithTimeout(timeout).WithPolling(poll).Should(HavePrefix("True AsDesired"))

			By("wanting three more where one is left")
			s.reweigh(ctx, 6, 4)
			until(ctx, s.where("web"), "a=4 b=6")
			before := s.names(ctx, "web")
			Eventually(ctx, s.placed).WithTimeout(timeout).WithPolling(poll).Should(HavePrefix("False Misplaced: replicas outside their share: 2 (no cluster is short of its share and has room"))
			Consistently(ctx, func(ctx context.Context) string { return s.names(ctx, "web") }).
				WithTimeout(settle).WithPolling(poll).Should(Equal(before))

			By("adding units")
			_, err := berth.BerthV1alpha1().ClusterResources().Patch(ctx, licence, types.JSONPatchType,
				fmt.Appendf(nil, `[{"op":"replace","path":"/spec/capacity/%d/quantity","value":"6"}]`, s.poolOf(ctx, licence, "a")), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
			until(ctx, s.where("web"), "a=6 b=4")
		})
	}
})

// poolOf returns where a pool is in the list of a ClusterResource.
func (*site) poolOf(ctx context.Context, resource, pool string) int {
	GinkgoHelper()
	r, err := berth.BerthV1alpha1().ClusterResources().Get(ctx, resource, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return slices.IndexFunc(r.Spec.Capacity, func(q berthv1alpha1.ClusterResourceQuantity) bool { return q.Name == pool })
}
