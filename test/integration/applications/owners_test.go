// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// front is a Deployment as a user writes it who does not know of the Application "web".
func (s *site) front(replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "front"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					SchedulerName: "berth-scheduler", Containers: []corev1.Container{{Name: "pause", Image: "pause"}},
				},
			},
		},
	}
}

// policyForMadrid is a policy of a user's for that Deployment, which moves misplaced pods at once.
func (s *site) policyForMadrid() *berthv1alpha1.PropagationPolicy {
	return &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "mine"},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "front"}},
			Placement: berthv1alpha1.Placement{StaticWeightList: []berthv1alpha1.StaticClusterWeight{
				{ClusterNames: []string{s.full("madrid")}, Weight: 1},
			}},
			Rebalance: berthv1alpha1.Rebalance{Cooldown: &metav1.Duration{}, MinPodAge: &metav1.Duration{}},
		},
	}
}

// places returns the pods and the Cluster of each, "" for those that do not run.
func (s *site) places(ctx context.Context) (map[types.UID]string, error) {
	pods, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	places := map[types.UID]string{}
	for i := range pods.Items {
		p := &pods.Items[i]
		if places[p.UID] = ""; p.Status.Phase == corev1.PodRunning {
			places[p.UID] = p.Annotations[berthv1alpha1.PlacedClusterAnnotation]
		}
	}
	return places, nil
}

// readyOf returns the condition Ready of an Application, with reason and message.
func (s *site) readyOf(name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		app, err := berth.BerthV1alpha1().Applications(s.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		ready := apimeta.FindStatusCondition(app.Status.Conditions, berthv1alpha1.ApplicationReady)
		if ready == nil {
			return "", nil
		}
		return fmt.Sprintf("%s %s: %s", ready.Status, ready.Reason, ready.Message), nil
	}
}

var _ = Describe("An object that is not the Application's", func() {
	DescribeTable("stays as it is, and its pods where they are, until it is handed over", func(ctx SpecContext, named *int32) {
		s := newSite(ctx, map[string]float64{"berlin": 0.9, "madrid": 0.1})
		_, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Create(ctx, s.policyForMadrid(), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = client.AppsV1().Deployments(s.namespace).Create(ctx, s.front(replicas), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		var before map[types.UID]string
		Eventually(func(g Gomega) {
			before, err = s.places(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(before).To(And(HaveLen(replicas), HaveEach(s.full("madrid"))))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())

		front := s.front(0)
		front.TypeMeta, front.Spec.Replicas = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, named
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) { spec.Manifests[0] = manifest(front) })
		Eventually(ctx, s.readyOf("web")).WithTimeout(timeout).WithPolling(poll).Should(And(
			HavePrefix("False "+berthv1alpha1.ReasonManifestRefused), ContainSubstring("front"), ContainSubstring("written by"),
			ContainSubstring("the label berth.dev/application=web on it hands it over")))
		Consistently(func(g Gomega) {
			policies, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(policies.Items).To(HaveLen(1), "the user's")
			g.Expect(s.places(ctx)).To(Equal(before))
			deployment, err := client.AppsV1().Deployments(s.namespace).Get(ctx, "front", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(deployment.Spec.Replicas).To(HaveValue(BeEquivalentTo(replicas)))
			g.Expect(deployment.OwnerReferences).To(BeEmpty())
		}).WithTimeout(settle).WithPolling(poll).Should(Succeed())

		By("handing it over")
		_, err = client.AppsV1().Deployments(s.namespace).Patch(ctx, "front", types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"berth.dev/application":"web"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		if named != nil {
			s.runsIn(ctx, "berlin")
		}
	},
		Entry("with replicas in the manifest", ptr.To[int32](replicas)),
		Entry("without", nil),
	)

	It("is the older Application's, and the younger one's after that", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.9})
		s.apply(ctx, nil)
		s.runsIn(ctx, "berlin")
		deployments := client.AppsV1().Deployments(s.namespace)
		made, err := deployments.Get(ctx, "front", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())

		late := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Spec: *s.app(ctx).Spec.DeepCopy()}
		late.Spec.Manifests = late.Spec.Manifests[:1]
		_, err = berth.BerthV1alpha1().Applications(s.namespace).Create(ctx, late, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(ctx, s.readyOf("late")).WithTimeout(timeout).WithPolling(poll).Should(And(
			HavePrefix("False "+berthv1alpha1.ReasonManifestRefused),
			ContainSubstring("belongs to Application web, which is older; take it out of the manifests of that one")))
		still, err := deployments.Get(ctx, "front", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(still.UID).To(Equal(made.UID))
		Expect(metav1.GetControllerOf(still).Name).To(Equal("web"))
		Expect(still.Generation).To(Equal(made.Generation))

		By("taking it out of the older one")
		_, err = berth.BerthV1alpha1().Applications(s.namespace).Patch(ctx, "web", types.JSONPatchType,
			[]byte(`[{"op":"remove","path":"/spec/manifests/0"}]`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(ctx, s.readyOf("late")).WithTimeout(timeout).WithPolling(poll).Should(HavePrefix("True"))
		now, err := deployments.Get(ctx, "front", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(metav1.GetControllerOf(now).Name).To(Equal("late"))
	})
})
