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
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

// columns returns what "kubectl get bapp" shows of the Application, by the names of the columns.
func (s *site) columns(ctx context.Context) map[string]any {
	GinkgoHelper()
	raw, err := berth.BerthV1alpha1().RESTClient().Get().Namespace(s.namespace).Resource("applications").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	var table metav1.Table
	Expect(json.Unmarshal(raw, &table)).To(Succeed())
	Expect(table.Rows).To(HaveLen(1))
	shown := map[string]any{}
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			shown[column.Name] = table.Rows[0].Cells[i]
		}
	}
	return shown
}

// seconds is an age of less than two minutes as it is shown.
var seconds = MatchRegexp(`^(\d+|1m\d*)s$`)

var _ = Describe("The list of Applications", func() {
	It("shows the cluster, its score, how much is ready, and how far a move is and since when", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3})
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
			editFront(spec, func(d *appsv1.DeploymentSpec) { d.MinReadySeconds = 5 })
		})
		s.runsIn(ctx, "berlin")
		score := func() string {
			GinkgoHelper()
			app := s.app(ctx)
			Expect(app.Status.Score).NotTo(BeNil())
			return rank.Digits(*app.Status.Score)
		}
		Eventually(func() map[string]any { return s.columns(ctx) }).WithTimeout(timeout).WithPolling(poll).Should(And(
			HaveLen(7), HaveKeyWithValue("Name", "web"), HaveKeyWithValue("Cluster", s.full("berlin")),
			HaveKeyWithValue("Ready", fmt.Sprintf("%d/%d", replicas, replicas)), HaveKeyWithValue("Moving", Or(BeNil(), BeEmpty())),
			HaveKeyWithValue("Age", Not(BeEmpty())),
		))
		Expect(s.columns(ctx)).To(HaveKeyWithValue("Score", score()))

		By("moving, for as long as its new pods are not available")
		began := time.Now()
		s.measure(ctx, "madrid", 0.9)
		Eventually(func() map[string]any { return s.columns(ctx) }).WithTimeout(timeout).WithPolling(poll).Should(And(
			HaveKeyWithValue("Cluster", s.full("madrid")), HaveKeyWithValue("Moving", string(berthv1alpha1.MoveAvailable)),
			HaveKeyWithValue("Since", seconds),
		))
		Eventually(func() map[string]any { return s.columns(ctx) }).WithTimeout(timeout).WithPolling(poll).Should(And(
			HaveKeyWithValue("Cluster", s.full("madrid")), HaveKeyWithValue("Moving", berthv1alpha1.ReasonMoved),
			HaveKeyWithValue("Ready", fmt.Sprintf("%d/%d", replicas, replicas)),
		))
		Expect(s.columns(ctx)).To(HaveKeyWithValue("Score", score()))
		since, err := time.ParseDuration(s.columns(ctx)["Since"].(string))
		Expect(err).NotTo(HaveOccurred())
		Expect(since).To(BeNumerically("<=", time.Since(began)+time.Second))
	})
})
