// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscriptions_test

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// column returns what kubectl get shows of an object in a column.
func (s *site) column(plural, name, column string) func(context.Context) string {
	return func(ctx context.Context) string {
		raw, err := client.Discovery().RESTClient().Get().
			AbsPath("apis", berthv1alpha1.SchemeGroupVersion.Group, berthv1alpha1.SchemeGroupVersion.Version, "namespaces", s.namespace, plural, name).
			SetHeader("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1").DoRaw(ctx)
		if err != nil {
			return err.Error()
		}
		var table metav1.Table
		if err := json.Unmarshal(raw, &table); err != nil {
			return err.Error()
		}
		for i, c := range table.ColumnDefinitions {
			if c.Name == column && len(table.Rows) == 1 {
				text, _ := table.Rows[0].Cells[i].(string)
				return text
			}
		}
		return "no such column"
	}
}

// lonely are objects that make a pod, of a feed without a number of replicas.
var lonely = map[string]func(ctx context.Context, s *site, spec *corev1.PodSpec) error{
	"Pod": func(ctx context.Context, s *site, spec *corev1.PodSpec) error {
		_, err := client.CoreV1().Pods(s.namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "lonely"}, Spec: *spec}, metav1.CreateOptions{})
		return err
	},
	"DaemonSet": func(ctx context.Context, s *site, spec *corev1.PodSpec) error {
		labels := map[string]string{"app": "lonely"}
		_, err := client.AppsV1().DaemonSets(s.namespace).Create(ctx, &appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Name: "lonely"},
			Spec: appsv1.DaemonSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: *spec},
			},
		}, metav1.CreateOptions{})
		return err
	},
}

var _ = Describe("What a Subscription says of itself", func() {
	It("names the Cluster, the number and the scheduler's reason of what has no node", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "8")
		s.cluster(ctx, "b", "2")
		s.subscribe(ctx, "shop", []string{"web"}, s.byWeight(map[string]int32{"a": 2, "b": 3}))
		s.deploy(ctx, "web", 5)
		until(ctx, s.where("web"), "-=1 a=2 b=2")
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonAllPlaced)
		Eventually(ctx, s.told("shop", berthv1alpha1.SubscriptionAvailable)).WithTimeout(timeout).WithPolling(poll).Should(And(
			HavePrefix("False ReplicasMissing: 4 of 5 replicas of Deployment web run (1 without a node: 1 in cluster b-"+s.suffix+": 0/"),
			ContainSubstring("Insufficient cpu"),
		))
		until(ctx, s.column("subscriptions", "shop", "Ready"), "4/5")
		policies, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(policies.Items).To(HaveLen(1))
		until(ctx, s.column("propagationpolicies", policies.Items[0].Name, "Ready"), "4/5")
		s.scale(ctx, "web", 3)
		until(ctx, s.column("subscriptions", "shop", "Ready"), "3/3")
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)
	})

	for _, kind := range []string{"Pod", "DaemonSet"} {
		It("is not available while a "+kind+" of its bundle fits nowhere", func(ctx SpecContext) {
			s := newSite(ctx)
			s.cluster(ctx, "a", "4")
			s.subscribe(ctx, "shop", []string{"web"}, func(spec *berthv1alpha1.SubscriptionSpec) {
				bundled(spec)
				version := map[string]string{"Pod": "v1", "DaemonSet": "apps/v1"}[kind]
				spec.Feeds = append(spec.Feeds, berthv1alpha1.Feed{APIVersion: version, Kind: kind, Name: "lonely"})
			})
			template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				SchedulerName: "berth-scheduler", NodeSelector: map[string]string{siteLabel: s.suffix}, Containers: []corev1.Container{{Name: "a", Image: "a"}},
			}}
			cpus("64")(template)
			Expect(lonely[kind](ctx, s, &template.Spec)).To(Succeed())
			s.deploy(ctx, "web", 2)
			until(ctx, s.where("web"), "a=2")
			Eventually(ctx, s.told("shop", berthv1alpha1.SubscriptionAvailable)).WithTimeout(timeout).WithPolling(poll).Should(And(
				HavePrefix("False ReplicasMissing: 0 of 1 replicas of "+kind+" lonely run (1 without a node"), ContainSubstring("Insufficient cpu"),
			))
			Expect(s.column("subscriptions", "shop", "Ready")(ctx)).To(Equal("2/3"))
		})
	}
})
