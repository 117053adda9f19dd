// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

var _ = Describe("A cluster that is drained", func() {
	It("loses an Application to another cluster, and gets none while it is cordoned", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.2, "madrid": 0.1})
		berthctl(ctx, "cordon", "cluster", s.full("berlin"))
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
			spec.RescheduleAfter = &metav1.Duration{Duration: time.Hour} // A drain does not wait for the review.
		})
		s.runsIn(ctx, "madrid")
		berthctl(ctx, "uncordon", "cluster", s.full("berlin"))
		berthctl(ctx, "drain", "cluster", s.full("madrid"), "--timeout="+timeout.String())
		s.runsIn(ctx, "berlin")
		Expect(s.running(ctx)).To(Equal(map[string]int{"berlin": replicas}))
	})

	It("gives its shares to the others, as fast as a PodDisruptionBudget allows", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.2, "madrid": 0.1})
		s.share(ctx, 4, "berlin", "madrid")
		Eventually(s.running).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"berlin": 2, "madrid": 2}))

		berthctl(ctx, "cordon", "cluster", s.full("berlin"))
		s.scale(ctx, 6)
		Eventually(s.running).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"berlin": 2, "madrid": 4}))
		Consistently(s.running).WithContext(ctx).WithTimeout(settle).WithPolling(poll).
			Should(Equal(map[string]int{"berlin": 2, "madrid": 4}))

		w := s.watch(ctx)
		output := drain(ctx, s.full("berlin"))
		Expect(output).To(And(
			ContainSubstring("cluster/"+s.full("berlin")+" already cordoned\n"),
			ContainSubstring("2 pods left: 2 that policies move\n"),
			HaveSuffix("cluster/"+s.full("berlin")+" drained\n"),
		))
		Eventually(s.running).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal(map[string]int{"madrid": 6}))
		Expect(w.fewest()).To(BeNumerically(">=", 5), "pods that were ready at a time")

		berthctl(ctx, "uncordon", "cluster", s.full("berlin"))
		Eventually(s.running).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"berlin": 3, "madrid": 3}))
	})
})

// drain drains a cluster and returns what berthctl printed.
func drain(ctx context.Context, cluster string) string {
	GinkgoHelper()
	binDir, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	output, err := exec.CommandContext(ctx, filepath.Join(binDir, "berthctl"), "--kubeconfig="+plane.AdminKubeconfig(),
		"drain", "cluster", cluster, "--timeout="+timeout.String()).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(output))
	return string(output)
}

// running counts the pods that are ready by the first part of the name of their cluster, and those
// that are not under "not ready".
func (s *site) running(ctx context.Context) map[string]int {
	GinkgoHelper()
	pods, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	counts := map[string]int{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		switch {
		case pod.DeletionTimestamp != nil:
		case !isReady(pod):
			counts["not ready"]++
		default:
			node := pod.Spec.NodeName
			counts[node[:len(node)-len("-"+s.namespace+"-0")]]++
		}
	}
	return counts
}

// share makes a Deployment, a policy that shares it out evenly and moves pods without delay, and a
// budget that lets one pod go at a time.
func (s *site) share(ctx context.Context, count int32, clusters ...string) {
	GinkgoHelper()
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shared"}}
	policy := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "shared", Namespace: s.namespace},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "shared"}},
			Rebalance: berthv1alpha1.Rebalance{
				MaxUnavailable: ptr.To(intstr.FromString("100%")), Cooldown: &metav1.Duration{}, MinPodAge: &metav1.Duration{},
			},
		},
	}
	for _, name := range clusters {
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{s.full(name)}, Weight: 1})
	}
	_, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Create(ctx, policy, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	one := intstr.FromInt32(1)
	_, err = client.PolicyV1().PodDisruptionBudgets(s.namespace).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "shared"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: selector},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = client.AppsV1().Deployments(s.namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "shared"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &count, Selector: selector,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: selector.MatchLabels},
				Spec: corev1.PodSpec{
					SchedulerName: schedulerproc.Name, Containers: []corev1.Container{{Name: "pause", Image: "pause"}},
				},
			},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func (s *site) scale(ctx context.Context, count int) {
	GinkgoHelper()
	_, err := client.AppsV1().Deployments(s.namespace).Patch(ctx, "shared", types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, count), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}
