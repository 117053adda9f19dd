// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

var _ = Describe("An Application", func() {
	It("lands in the best cluster, stays for a trifle, and moves with new pods ready before old ones go", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3})
		s.apply(ctx, nil)
		s.runsIn(ctx, "berlin")

		By("measuring a value within the stickiness")
		s.measure(ctx, "madrid", 0.55)
		Consistently(func() string { return s.app(ctx).Status.ScheduledTo }).
			WithTimeout(settle).WithPolling(poll).Should(Equal(s.full("berlin")))

		By("measuring one beyond it")
		witness := s.watch(ctx)
		s.measure(ctx, "madrid", 0.9)
		s.runsIn(ctx, "madrid")
		Expect(witness.seen(s.full("berlin"))).To(Equal(replicas), "pods that went")
		Expect(witness.faults()).To(BeEmpty())
	})

	It("gets back within seconds what somebody deletes or changes", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5})
		s.apply(ctx, nil)
		s.runsIn(ctx, "berlin")
		maps := client.CoreV1().ConfigMaps(s.namespace)
		color := func(g Gomega) {
			settings, err := maps.Get(ctx, "settings", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(settings.Data).To(HaveKeyWithValue("color", "blue"))
		}
		Expect(maps.Delete(ctx, "settings", metav1.DeleteOptions{})).To(Succeed())
		Eventually(color).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		_, err := maps.Patch(ctx, "settings", "application/merge-patch+json", []byte(`{"data":{"color":"red"}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(color).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	})

	It("stays when the provider dies", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.2, "madrid": 0.1})
		s.apply(ctx, nil)
		s.runsIn(ctx, "berlin")
		Expect(berth.BerthV1alpha1().GlobalMetricsProviders().Delete(ctx, s.namespace, metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) {
			cluster, err := berth.BerthV1alpha1().Clusters().Get(ctx, s.full("berlin"), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cluster.Status.Metrics).To(HaveLen(1))
			g.Expect(cluster.Status.Metrics[0].Reason).To(Equal(berthv1alpha1.ReasonUnknownProvider))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		Consistently(func() string { return s.app(ctx).Status.ScheduledTo }).
			WithTimeout(settle).WithPolling(poll).Should(Equal(s.full("berlin")))
		s.runsIn(ctx, "berlin")
	})

	It("with migration Never stays, and waits for a cluster that matches", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.2, "madrid": 0.1})
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
			spec.Migration = berthv1alpha1.MigrationNever
			spec.Constraints.ClusterMetrics = []string{s.full("berlin") + " > 0.5"}
		})
		Eventually(func(g Gomega) {
			scheduled := apimeta.FindStatusCondition(s.app(ctx).Status.Conditions, berthv1alpha1.ApplicationScheduled)
			g.Expect(scheduled).NotTo(BeNil())
			g.Expect(scheduled.Reason).To(Equal(berthv1alpha1.ReasonNoClusterMatches))
			g.Expect(scheduled.Message).To(ContainSubstring("1 not meeting"))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		s.measure(ctx, "berlin", 0.6)
		s.runsIn(ctx, "berlin")
		s.measure(ctx, "madrid", 1)
		Consistently(func() string { return s.app(ctx).Status.ScheduledTo }).
			WithTimeout(settle).WithPolling(poll).Should(Equal(s.full("berlin")))
	})

	It("goes to the country that its constraints name, and only there", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.1, "austin": 0.9})
		s.lies(ctx, "berlin", "DE")
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
			spec.Constraints.ClusterLabels = append(spec.Constraints.ClusterLabels, "geoLocation.country is DE")
		})
		s.runsIn(ctx, "berlin")
		s.lies(ctx, "berlin", "FR")
		s.lies(ctx, "austin", "DE")
		s.runsIn(ctx, "austin")
	})

	It("loses what leaves its spec, and tells of manifests that cannot be carried out", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.2})
		s.apply(ctx, nil)
		s.runsIn(ctx, "berlin")
		s.setManifests(ctx, append(s.app(ctx).Spec.Manifests[:1], manifest(&corev1.Namespace{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "other"},
		})))
		Eventually(func(g Gomega) {
			ready := apimeta.FindStatusCondition(s.app(ctx).Status.Conditions, berthv1alpha1.ApplicationReady)
			g.Expect(ready.Reason).To(Equal(berthv1alpha1.ReasonInvalidManifests))
			g.Expect(ready.Message).To(HavePrefix("manifests[1]: namespace other is in no namespace"))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		_, err := client.CoreV1().ConfigMaps(s.namespace).Get(ctx, "settings", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.setManifests(ctx, s.app(ctx).Spec.Manifests[:1])
		Eventually(func() bool {
			_, err := client.CoreV1().ConfigMaps(s.namespace).Get(ctx, "settings", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}).WithTimeout(timeout).WithPolling(poll).Should(BeTrue())
		s.runsIn(ctx, "berlin")
	})
})

// lies says in which country a Cluster lies.
func (s *site) lies(ctx context.Context, name, country string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"spec":{"geoLocation":{"country":%q}}}`, country)
	_, err := berth.BerthV1alpha1().Clusters().Patch(ctx, s.full(name), types.MergePatchType, patch, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// setManifests changes what the Application of a site is made of.
func (s *site) setManifests(ctx context.Context, manifests []berthv1alpha1.Manifest) {
	GinkgoHelper()
	Eventually(func() error {
		app := s.app(ctx)
		app.Spec.Manifests = manifests
		_, err := berth.BerthV1alpha1().Applications(s.namespace).Update(ctx, app, metav1.UpdateOptions{})
		return err
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// witness follows the pods of a site.
type witness struct {
	mu    sync.Mutex
	pods  map[string]*corev1.Pod
	gone  map[string]int // by cluster
	least int            // of ready pods that one left when it went, -1 if none did
	notes []string
}

// watch notes whenever fewer pods are ready than the Application wants.
func (s *site) watch(ctx context.Context) *witness {
	GinkgoHelper()
	w := &witness{pods: map[string]*corev1.Pod{}, gone: map[string]int{}, least: -1}
	list, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	for i := range list.Items {
		w.pods[list.Items[i].Name] = &list.Items[i]
	}
	stream, err := client.CoreV1().Pods(s.namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(stream.Stop)
	go func() {
		for event := range stream.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok {
				w.note(pod)
			}
		}
	}()
	return w
}

func (w *witness) note(pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.pods[pod.Name]
	w.pods[pod.Name] = pod
	if pod.DeletionTimestamp == nil || before != nil && before.DeletionTimestamp != nil {
		return
	}
	w.gone[pod.Annotations[berthv1alpha1.PlacedClusterAnnotation]]++
	ready := 0
	for _, other := range w.pods {
		if other.DeletionTimestamp == nil && isReady(other) {
			ready++
		}
	}
	if w.least < 0 || ready < w.least {
		w.least = ready
	}
	if ready < replicas {
		w.notes = append(w.notes, fmt.Sprintf("pod %s goes and leaves %d ready ones", pod.Name, ready))
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget {
			w.notes = append(w.notes, fmt.Sprintf("pod %s is evicted: %s", pod.Name, condition.Reason))
		}
	}
}

// seen returns how many pods of a Cluster went.
func (w *witness) seen(cluster string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone[cluster]
}

// fewest returns how many pods were ready at the least right after one went.
func (w *witness) fewest() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.least
}

func (w *witness) faults() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.notes
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
