// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// createCluster makes a Cluster of the nodes of a zone.
func (s *site) createCluster(ctx context.Context, zone string) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: s.full(zone)}, Spec: berthv1alpha1.ClusterSpec{MatchLabels: s.zone(zone)},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(berth.BerthV1alpha1().Clusters().Delete(ctx, s.full(zone), metav1.DeleteOptions{})).To(Succeed())
	})
}

// weigh makes the policy "web" share a Deployment of that name out, or changes its weights. It
// moves pods as fast as it may.
func (s *site) weigh(ctx context.Context, weights map[string]int64) {
	GinkgoHelper()
	wanted := berthv1alpha1.PropagationPolicySpec{
		ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}},
		Rebalance: berthv1alpha1.Rebalance{
			Mode: berthv1alpha1.RebalanceEvict, MaxUnavailable: ptr.To(intstr.FromInt32(10)),
			Cooldown: &metav1.Duration{}, MinPodAge: &metav1.Duration{},
		},
	}
	for zone, weight := range weights {
		wanted.Placement.StaticWeightList = append(wanted.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{s.full(zone)}, Weight: weight})
	}
	policies := berth.BerthV1alpha1().PropagationPolicies(s.namespace)
	Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		known, err := policies.Get(ctx, "web", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = policies.Create(ctx, &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: wanted}, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		known.Spec = wanted
		_, err = policies.Update(ctx, known, metav1.UpdateOptions{})
		return err
	})).To(Succeed())
}

// deploy makes the Deployment "web" of pods like the given one.
func (s *site) deploy(ctx context.Context, replicas int32, options ...option) {
	GinkgoHelper()
	pod := s.pod("", append(options, withLabels(map[string]string{"app": "web"}))...)
	_, err := client.AppsV1().Deployments(s.namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: pod.Labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations}, Spec: pod.Spec,
			},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// zones counts the pods of the Deployment "web" by the zone of their node, those that wait under
// "".
func (s *site) zones(ctx context.Context) (map[string]int, error) {
	pods, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil {
			name := pods.Items[i].Spec.NodeName
			counts[name[:max(0, len(name)-len(s.full("")))]]++
		}
	}
	return counts, nil
}

func (s *site) untilZones(ctx context.Context, want map[string]int) {
	GinkgoHelper()
	Eventually(s.zones).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal(want))
}

// placed returns the message of the condition Placed of the policy "web".
func (s *site) placed(ctx context.Context) (string, error) {
	policy, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if c := apimeta.FindStatusCondition(policy.Status.Conditions, berthv1alpha1.PolicyPlaced); c != nil {
		return c.Message, nil
	}
	return "", nil
}

var _ = Describe("Holders of units of pools that are misplaced", func() {
	for form, asks := range map[string]func(name, units string) option{"resource": asking, "annotation": askingByAnnotation} {
		It("stay while the pool is full where they should be, and move when it has room, asking by "+form, func(ctx SpecContext) {
			s := newSite(ctx)
			for _, zone := range []string{"bj", "hz"} {
				s.createNode(ctx, zone, zone, "32")
				s.createCluster(ctx, zone)
			}
			s.createResource(ctx, "licence", s.capacity("bj", "5"), s.capacity("hz", "10"))
			s.weigh(ctx, map[string]int64{"bj": 1, "hz": 1})
			s.deploy(ctx, 10, asks("licence", "1"))
			s.untilZones(ctx, map[string]int{"bj": 5, "hz": 5})

			By("wanting three more where all units are held")
			s.weigh(ctx, map[string]int64{"bj": 4, "hz": 1})
			Eventually(s.placed).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
				Should(Equal("replicas outside their share: 3 (no cluster is short of its share and has room for the pods)"))
			Consistently(s.zones).WithContext(ctx).WithTimeout(settle).WithPolling(poll).Should(Equal(map[string]int{"bj": 5, "hz": 5}))

			By("adding units there")
			s.setCapacity(ctx, "licence", s.capacity("bj", "8"), s.capacity("hz", "10"))
			s.untilZones(ctx, map[string]int{"bj": 8, "hz": 2})
		})
	}
})
