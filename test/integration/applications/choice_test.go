// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
)

// answersLate is how long the provider of slowCluster takes for an answer, which is within what is
// granted to a provider and longer than everything else takes.
const answersLate = 4 * time.Second

// slowCluster makes a Cluster with a metric whose provider takes its time.
func (s *site) slowCluster(ctx context.Context, name, value string) {
	GinkgoHelper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(answersLate):
			vector(value)(w, r)
		}
	}))
	DeferCleanup(server.CloseClientConnections)
	slow, kinds := s.full(name), berth.BerthV1alpha1()
	provider := &berthv1alpha1.GlobalMetricsProvider{ObjectMeta: metav1.ObjectMeta{Name: slow}}
	provider.Spec.Type, provider.Spec.AllowPlainHTTP = berthv1alpha1.PrometheusMetrics, true
	provider.Spec.Prometheus = &berthv1alpha1.PrometheusProvider{URL: berthv1alpha1.ProviderURL(server.URL)}
	_, err := kinds.GlobalMetricsProviders().Create(ctx, provider, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	s.addCluster(ctx, slow)
	_, err = kinds.GlobalMetrics().Patch(ctx, slow, types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"provider":{"name":%q}}}`, slow), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(kinds.GlobalMetrics().Delete(ctx, slow, metav1.DeleteOptions{})).To(Succeed())
	})
}

var _ = Describe("The first choice after a start of the controllers", func() {
	restart := func(ctx SpecContext, between func(), args ...string) {
		Expect(controllers.Stop(timeout)).To(Succeed())
		between()
		startControllers(ctx, args...)
	}

	It("waits for what is not known yet, and is not taken back then", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5})
		restart(ctx, func() {
			s.slowCluster(ctx, "madrid", "0.9")
			s.apply(ctx, nil)
		})
		s.runsIn(ctx, "madrid")
		Expect(s.app(ctx).Status.Decisions).To(ConsistOf(And(
			HaveField("To", s.full("madrid")), HaveField("Reason", berthv1alpha1.DecisionFirstChoice))))
		Expect(s.scheduled(ctx)).NotTo(ContainSubstring("without knowing"))
	})

	It("waits no longer than it is to, and tells what it did without", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5})
		restart(ctx, func() {
			s.slowCluster(ctx, "madrid", "0.9")
			s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
				spec.RescheduleAfter = &metav1.Duration{Duration: time.Hour}
			})
		}, "--settle-timeout=0s")
		DeferCleanup(func(ctx SpecContext) { restart(ctx, func() {}) })
		s.runsIn(ctx, "berlin")
		Expect(s.scheduled(ctx)).To(And(HavePrefix("True ClusterChosen: "),
			ContainSubstring("; chosen without knowing "), ContainSubstring(s.full("madrid")+": ")))
	})
})

var _ = Describe("A metric constraint", func() {
	It("is compared with a value that has hardly changed", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.4999, "madrid": 0.1})
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
			spec.Constraints.ClusterMetrics = []string{s.full("berlin") + " < 0.5"}
		})
		s.runsIn(ctx, "berlin")
		s.measure(ctx, "berlin", 0.5)
		Eventually(s.scheduled).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(And(
			HavePrefix("False NoClusterMatches: "), ContainSubstring("not meeting")))
	})
})

var _ = Describe("A value out of the range of its metric", func() {
	// outside is beyond what the metric of a site may have.
	const outside = 1.5
	tell := func(s *site, name string) func(context.Context) string {
		return func(ctx context.Context) string {
			for _, place := range s.app(ctx).Status.Ranking {
				if place.Name == s.full(name) {
					return fmt.Sprint(place.Eligible, " ", place.Reasons)
				}
			}
			return ""
		}
	}

	It("does not move what runs there, and is told; elsewhere the metric counts as missing", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3})
		s.apply(ctx, nil)
		s.runsIn(ctx, "berlin")
		s.provide(ctx, "berlin", outside)
		Eventually(tell(s, "berlin")).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(And(HavePrefix("true"), ContainSubstring("metric "+s.full("berlin")+": OutOfRange")))
		Eventually(func(g Gomega) {
			cluster, err := berth.BerthV1alpha1().Clusters().Get(ctx, s.full("berlin"), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cluster.Status.Conditions).To(ContainElement(And(HaveField("Type", berthv1alpha1.MetricsAvailable),
				HaveField("Status", metav1.ConditionFalse), HaveField("Message", ContainSubstring(s.full("berlin"))))))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		Consistently(func() string { return s.app(ctx).Status.ScheduledTo }).WithTimeout(settle).WithPolling(poll).Should(Equal(s.full("berlin")))

		s.provide(ctx, "madrid", outside)
		s.provide(ctx, "berlin", 0.1)
		Eventually(tell(s, "madrid")).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(ContainSubstring("metric " + s.full("madrid") + ": OutOfRange"))
		Consistently(func() string { return s.app(ctx).Status.ScheduledTo }).WithTimeout(settle).WithPolling(poll).Should(Equal(s.full("berlin")))
	})

	It("counts as the nearest bound if the metric says so", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.8, "madrid": 0.3})
		s.apply(ctx, nil)
		s.runsIn(ctx, "berlin")
		_, err := berth.BerthV1alpha1().GlobalMetrics().Patch(ctx, s.full("madrid"), types.MergePatchType,
			[]byte(`{"spec":{"outOfRange":"Clamp"}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.provide(ctx, "madrid", outside)
		s.runsIn(ctx, "madrid")
	})
})

var _ = Describe("Invalid manifests", func() {
	invalid := berthv1alpha1.Manifest{}
	invalid.Raw = []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"other"}}`)

	It("block before anything is chosen or written", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5})
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) { spec.Manifests = append(spec.Manifests, invalid) })
		Eventually(s.ready).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(
			HavePrefix("InvalidManifests: manifests[2]: namespace other is in no namespace"))
		Consistently(func() string { return s.app(ctx).Status.ScheduledTo }).WithTimeout(settle).WithPolling(poll).Should(BeEmpty())
		s.expectNothing(ctx)
	})

	It("block a move to a better cluster", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3})
		s.apply(ctx, nil)
		s.runsIn(ctx, "berlin")
		s.setManifests(ctx, append(s.app(ctx).Spec.Manifests, invalid))
		s.measure(ctx, "madrid", 0.9)
		Eventually(s.ready).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(HavePrefix("InvalidManifests: "))
		Consistently(func() string { return s.app(ctx).Status.ScheduledTo }).WithTimeout(settle).WithPolling(poll).Should(Equal(s.full("berlin")))
		s.setManifests(ctx, s.app(ctx).Spec.Manifests[:2])
		s.runsIn(ctx, "madrid")
	})
})

// crontabs are a kind of custom resources, and the right of Applications to make some.
const crontabs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {kind: CronTab, plural: crontabs}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: berth-application-writer-crontabs
  labels: {berth.dev/aggregate-to-application-writer: "true"}
rules: [{apiGroups: [stable.example.com], resources: [crontabs], verbs: [get, create, patch, delete]}]
`

var _ = Describe("What has no pods", func() {
	It("is made once a cluster is chosen, and not told to run before", func(ctx SpecContext) {
		var objects []*unstructured.Unstructured
		for text := range strings.SplitSeq(crontabs, "\n---\n") {
			object := &unstructured.Unstructured{}
			Expect(yaml.Unmarshal([]byte(text), &object.Object)).To(Succeed())
			objects = append(objects, object)
		}
		Expect(localplane.ApplyObjects(ctx, plane.Config(), objects)).To(Succeed())
		made, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		s := newSite(ctx, map[string]float64{"berlin": 0.2})
		get := func() error {
			kind := schema.GroupVersionResource{Group: "stable.example.com", Version: "v1", Resource: "crontabs"}
			_, err := made.Resource(kind).Namespace(s.namespace).Get(ctx, "nightly", metav1.GetOptions{})
			return err
		}
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
			spec.Constraints.ClusterMetrics = []string{s.full("berlin") + " > 0.5"}
			spec.Manifests = spec.Manifests[:1]
			spec.Manifests[0].Raw = []byte(`{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"nightly"},"spec":{}}`)
		})
		Eventually(s.ready).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(
			Equal("WaitingForCluster: no cluster is chosen yet, so nothing is made"))
		Expect(get()).To(MatchError(apierrors.IsNotFound, "IsNotFound"))
		s.measure(ctx, "berlin", 0.6)
		Eventually(s.ready).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(
			Equal("Running: everything runs in cluster " + s.full("berlin")))
		Expect(get()).To(Succeed())
	})
})
