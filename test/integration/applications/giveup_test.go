// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// story is what the status of an Application has told of its moves, each thing once.
type story struct {
	// told are the conditions, and moves the moves.
	told, moves []string
}

// followMoves writes down what is told of moves until the function that it returns is called. As
// soon as the first one is told, it calls begun.
func (s *site) followMoves(ctx context.Context, begun func()) (end func() story) {
	GinkgoHelper()
	known := s.app(ctx)
	stream, err := berth.BerthV1alpha1().Applications(s.namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: known.ResourceVersion})
	Expect(err).NotTo(HaveOccurred())
	var found story
	add := func(list *[]string, text string) {
		if n := len(*list); text != "" && (n == 0 || (*list)[n-1] != text) {
			*list = append(*list, text)
		}
	}
	ended := follow(stream, func(event watch.Event) {
		defer GinkgoRecover()
		app, ok := event.Object.(*berthv1alpha1.Application)
		if !ok {
			return
		}
		if move := app.Status.Move; move != nil {
			if len(found.moves) == 0 {
				begun()
			}
			add(&found.moves, fmt.Sprintf("%s to %s", move.From, move.To))
		}
		add(&found.told, moving(app))
	})
	return func() story {
		ended()
		return found
	}
}

var _ = Describe("A move into a cluster that cannot take the pods after all", func() {
	// room is how many pods the cluster took when it was chosen, for each of its two nodes.
	const wanted, room = 6, 3
	DescribeTable("is given up within a minute, costs no available pod, and the next best cluster is tried",
		func(ctx SpecContext, left int64) {
			s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3, "rome": 0.2})
			for i := range 2 {
				s.take(ctx, fmt.Sprintf("%s-%d", s.full("madrid"), i), room)
			}
			s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
				spec.RescheduleAfter = &metav1.Duration{Duration: time.Hour}
				editFront(spec, func(d *appsv1.DeploymentSpec) {
					d.Replicas = new(int32(wanted))
					d.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
				})
			})
			settled := map[string]int{"berlin": wanted, "madrid": 2}
			Eventually(s.running).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal(settled))
			s.availableAll(ctx)
			s.measure(ctx, "madrid", 0.9)
			s.measure(ctx, "rome", 0.8)

			available := s.leastAvailable(ctx)
			ended := s.followMoves(ctx, func() {
				for i := range 2 {
					s.occupy(ctx, fmt.Sprintf("%s-%d", s.full("madrid"), i), room-left)
				}
			})
			begin := time.Now()
			Expect(s.edit(ctx, map[string]any{"rescheduleAfter": "59m"})).To(Succeed()) // A change is decided about at once.
			Eventually(func() []berthv1alpha1.LeftOutCluster { return s.app(ctx).Status.LeftOut }).WithTimeout(timeout).WithPolling(poll).
				Should(ConsistOf(And(HaveField("Cluster", s.full("madrid")), HaveField("Failures", int32(1)),
					HaveField("Message", ContainSubstring("Insufficient cpu")))))
			AddReportEntry("from the decision to the end of the move", time.Since(begin).Round(time.Second).String())

			Eventually(s.running).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal(map[string]int{"rome": wanted, "madrid": 4}))
			Eventually(func() string { return moving(s.app(ctx)) }).WithTimeout(timeout).WithPolling(poll).
				Should(Equal(fmt.Sprintf("False Done: moved from cluster %s to %s", s.full("berlin"), s.full("rome"))))
			told, seen := available()
			Expect([]int32{told, seen}).To(HaveEach(BeNumerically(">=", wanted)), "available pods")
			story := ended()
			Expect(story.moves).To(Equal([]string{s.full("berlin") + " to " + s.full("madrid"), s.full("berlin") + " to " + s.full("rome")}))
			Expect(story.told).To(ContainElement(And(
				HavePrefix(fmt.Sprintf("False Unschedulable: the move from cluster %s to %s was given up: deployment front", s.full("berlin"), s.full("madrid"))),
				ContainSubstring(fmt.Sprintf("%d without a node in cluster %s", wanted-2*left, s.full("madrid"))),
			)))
		},
		Entry("where it takes none", int64(0)),
		Entry("where it takes two of six", int64(1)),
	)
})
