// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/testsize"
)

// updates is how many values a minute may bring. The spec takes as little time for them as it can.
var updates = testsize.Of(1000, 300)

// noise returns a value around 0.45, within what the stickiness makes up for where the other value
// is 0.5.
func noise(i int) float64 { return 0.32 + float64(i*37%100)*0.0026 }

// flood changes the metric of a Cluster as often as a busy provider would in a minute, and returns
// how many values came as far as its status: those that follow each other quickly are skipped.
func (s *site) flood(ctx context.Context, name string) (arrived int) {
	GinkgoHelper()
	stream, err := berth.BerthV1alpha1().Clusters().Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + s.full(name)})
	Expect(err).NotTo(HaveOccurred())
	values := map[float64]struct{}{}
	ended := follow(stream, func(event watch.Event) {
		if cluster, ok := event.Object.(*berthv1alpha1.Cluster); ok && len(cluster.Status.Metrics) > 0 {
			values[*cluster.Status.Metrics[0].Value] = struct{}{}
		}
	})
	for i := range updates {
		patch, err := json.Marshal(map[string]any{"spec": map[string]any{
			"static": map[string]any{"metrics": map[string]float64{s.full(name): noise(i)}},
		}})
		Expect(err).NotTo(HaveOccurred())
		_, err = berth.BerthV1alpha1().GlobalMetricsProviders().Patch(ctx, s.namespace, types.MergePatchType, patch, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	s.measure(ctx, name, 0.45)
	ended()
	return len(values)
}

// follow handles what is watched until the function that it returns is called.
func follow(stream watch.Interface, handle func(watch.Event)) (end func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event := range stream.ResultChan() {
			handle(event)
		}
	}()
	return func() {
		stream.Stop()
		<-ended
	}
}

// versions returns what a decision writes: the version of the Application, and what its policy and
// its workload ask for.
func (s *site) versions(ctx context.Context) map[string]string {
	GinkgoHelper()
	found := map[string]string{"application": s.app(ctx).ResourceVersion}
	policies, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	for i := range policies.Items {
		found["policy "+policies.Items[i].Name] = string(policies.Items[i].UID) + policies.Items[i].Spec.Placement.StaticWeightList[0].ClusterNames[0]
	}
	deployment, err := client.AppsV1().Deployments(s.namespace).Get(ctx, "front", metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	// Its status is written by the Deployment controller, some time after its pods are ready.
	found["deployment"] = fmt.Sprint(deployment.UID, deployment.Generation)
	return found
}

var _ = Describe("Many new values of a metric within the stickiness", func() {
	It("cause no write before an Application is due for review", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.45})
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
			spec.RescheduleAfter = &metav1.Duration{Duration: time.Hour}
		})
		s.runsIn(ctx, "berlin")
		before := s.versions(ctx)
		arrived := s.flood(ctx, "madrid")
		AddReportEntry("values that came as far as the Cluster", arrived)
		Expect(arrived).To(BeNumerically(">", 2))
		Expect(s.versions(ctx)).To(Equal(before))
	})

	It("move nothing when it is reviewed all the time, and are noted once a review at most", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.45})
		s.apply(ctx, nil)
		s.runsIn(ctx, "berlin")
		before, begin := s.versions(ctx), time.Now()
		decided := s.app(ctx).Status
		stream, err := berth.BerthV1alpha1().Applications(s.namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: before["application"]})
		Expect(err).NotTo(HaveOccurred())
		writes := 0
		ended := follow(stream, func(event watch.Event) {
			if event.Type == watch.Modified {
				writes++
			}
		})
		s.flood(ctx, "madrid")
		reviews := int(time.Since(begin)/time.Second) + 2 // begun ones count
		ended()
		AddReportEntry("writes to the Application in so many reviews", []int{writes, reviews})
		Expect(writes).To(BeNumerically("<=", reviews))

		after := s.versions(ctx)
		delete(before, "application")
		delete(after, "application")
		Expect(after).To(Equal(before))
		now := s.app(ctx).Status
		Expect(now.ScheduledTo).To(Equal(s.full("berlin")))
		Expect(now.Scheduled).To(Equal(decided.Scheduled))
		Expect(now.KubeControllerTriggered).To(Equal(decided.KubeControllerTriggered))
		s.runsIn(ctx, "berlin")
	})
})
