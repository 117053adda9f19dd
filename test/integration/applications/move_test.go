// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// leastAvailable follows the Deployment of a site, and looks at its pods ten times a second, until
// the function that it returns is called, which returns the least number of available replicas that
// were seen meanwhile: what the status of the Deployment said, and the pods.
func (s *site) leastAvailable(ctx context.Context) (end func() (told, seen int32)) {
	GinkgoHelper()
	known, err := client.AppsV1().Deployments(s.namespace).Get(ctx, "front", metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	stream, err := client.AppsV1().Deployments(s.namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: known.ResourceVersion})
	Expect(err).NotTo(HaveOccurred())
	told, seen := known.Status.AvailableReplicas, known.Status.AvailableReplicas
	ended := follow(stream, func(event watch.Event) {
		if deployment, ok := event.Object.(*appsv1.Deployment); ok {
			told = min(told, deployment.Status.AvailableReplicas)
		}
	})
	looking, stop := context.WithCancel(ctx)
	var looks sync.WaitGroup
	looks.Go(func() {
		ticker := time.NewTicker(poll)
		defer ticker.Stop()
		for {
			if count, err := s.available(looking, known); err == nil {
				seen = min(seen, count)
			}
			select {
			case <-looking.Done():
				return
			case <-ticker.C:
			}
		}
	})
	return func() (int32, int32) {
		ended()
		stop()
		looks.Wait()
		return told, seen
	}
}

// available counts the pods of a Deployment that have been ready for long enough.
func (s *site) available(ctx context.Context, d *appsv1.Deployment) (count int32, err error) {
	pods, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(d.Spec.Selector)})
	if err != nil {
		return 0, err
	}
	enough := time.Now().Add(-time.Duration(d.Spec.MinReadySeconds) * time.Second)
	for i := range pods.Items {
		for _, c := range pods.Items[i].Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && pods.Items[i].DeletionTimestamp == nil &&
				!c.LastTransitionTime.After(enough) {
				count++
			}
		}
	}
	return count, nil
}

// availableAll waits until all replicas of a site are available.
func (s *site) availableAll(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		deployment, err := client.AppsV1().Deployments(s.namespace).Get(ctx, "front", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(deployment.Status.AvailableReplicas).To(Equal(*deployment.Spec.Replicas))
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// scaleFront gives the Deployment as many replicas as it is to have, as an autoscaler does.
func (s *site) scaleFront(ctx context.Context) {
	GinkgoHelper()
	Eventually(func() error {
		_, err := client.AppsV1().Deployments(s.namespace).Patch(ctx, "front", types.MergePatchType,
			fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{}, "scale")
		return err
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// editFront changes the Deployment among the manifests of an Application.
func editFront(spec *berthv1alpha1.ApplicationSpec, change func(*appsv1.DeploymentSpec)) {
	GinkgoHelper()
	deployment := &appsv1.Deployment{}
	Expect(json.Unmarshal(spec.Manifests[0].Raw, deployment)).To(Succeed())
	change(&deployment.Spec)
	spec.Manifests[0] = manifest(deployment)
}

// moving returns status, reason and message of the condition that reports on a move.
func moving(app *berthv1alpha1.Application) string {
	told := apimeta.FindStatusCondition(app.Status.Conditions, berthv1alpha1.ApplicationMoving)
	if told == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", told.Status, told.Reason, told.Message)
}

var _ = Describe("A move", func() {
	recreate := func(d *appsv1.DeploymentSpec) {
		d.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	careless := func(d *appsv1.DeploymentSpec) {
		d.Strategy = appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: ptr.To(intstr.FromString("100%"))},
		}
	}
	slow := func(d *appsv1.DeploymentSpec) { d.MinReadySeconds = 4 }
	DescribeTable("never shows fewer available pods than wanted",
		func(ctx SpecContext, move *berthv1alpha1.ApplicationMove, changes ...func(*appsv1.DeploymentSpec)) {
			s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3})
			s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
				spec.Move = move
				for _, change := range changes {
					editFront(spec, change)
				}
			})
			s.runsIn(ctx, "berlin")
			s.availableAll(ctx)
			ended := s.leastAvailable(ctx)
			s.measure(ctx, "madrid", 0.9)
			s.runsIn(ctx, "madrid")
			Eventually(func() string { return moving(s.app(ctx)) }).WithTimeout(timeout).WithPolling(poll).
				Should(HavePrefix("False " + berthv1alpha1.ReasonMoved))
			told, seen := ended()
			Expect(told).To(Equal(int32(replicas)), "by the status of the Deployment")
			Expect(seen).To(Equal(int32(replicas)), "by its pods")
		},
		Entry("of what is available only some time after it is ready", nil, slow),
		Entry("of what is recreated for an update", nil, recreate),
		Entry("of what may be unavailable for an update", nil, careless),
		Entry("of all of this, in steps", &berthv1alpha1.ApplicationMove{MaxSurge: ptr.To(intstr.FromInt32(1))}, slow, careless),
	)

	It("leaves what is available when an autoscaler lowers the replicas before the new ones are", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3})
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
			editFront(spec, func(d *appsv1.DeploymentSpec) { d.Replicas, d.MinReadySeconds = nil, 4 })
		})
		s.scaleFront(ctx)
		s.runsIn(ctx, "berlin")
		s.availableAll(ctx)
		ended := s.leastAvailable(ctx)
		s.measure(ctx, "madrid", 0.9)
		Eventually(func(g Gomega) {
			d, err := client.AppsV1().Deployments(s.namespace).Get(ctx, "front", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect([]int32{d.Status.ReadyReplicas, d.Status.AvailableReplicas}).To(Equal([]int32{2 * replicas, replicas}))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		s.scaleFront(ctx)
		s.runsIn(ctx, "madrid")
		Eventually(func() string { return moving(s.app(ctx)) }).WithTimeout(timeout).WithPolling(poll).
			Should(HavePrefix("False " + berthv1alpha1.ReasonMoved))
		told, seen := ended()
		Expect(told).To(Equal(int32(replicas)), "by the status of the Deployment")
		Expect(seen).To(Equal(int32(replicas)), "by its pods")
	})
})
