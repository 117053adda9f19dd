// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// contest changes the ConfigMap of a site ten times a second until the function that it returns is
// called. Restored is how often somebody has put it right.
func (s *site) contest(ctx context.Context) (restored *atomic.Int64, end func()) {
	GinkgoHelper()
	maps := client.CoreV1().ConfigMaps(s.namespace)
	stream, err := maps.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=settings"})
	Expect(err).NotTo(HaveOccurred())
	restored = &atomic.Int64{}
	seen := follow(stream, func(event watch.Event) {
		if settings, ok := event.Object.(*corev1.ConfigMap); ok && event.Type == watch.Modified && settings.Data["color"] == "blue" {
			restored.Add(1)
		}
	})
	writing, stop := context.WithCancel(ctx)
	var rival sync.WaitGroup
	rival.Go(func() {
		ticker := time.NewTicker(poll)
		defer ticker.Stop()
		for turn := 0; ; turn++ {
			color := fmt.Appendf(nil, `{"data":{"color":"red-%d"}}`, turn)
			_, _ = maps.Patch(writing, "settings", types.MergePatchType, color, metav1.PatchOptions{FieldManager: "rival"})
			select {
			case <-writing.Done():
				return
			case <-ticker.C:
			}
		}
	})
	return restored, func() {
		stop()
		rival.Wait()
		seen()
	}
}

// bad makes an Application beside that of the site, of one Deployment, which is to be told of.
func (s *site) bad(ctx context.Context, name string, change func(*berthv1alpha1.ApplicationSpec)) {
	GinkgoHelper()
	app := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}}
	app.Spec.Constraints.ClusterLabels = []string{"site is " + s.namespace}
	app.Spec.RescheduleAfter = &metav1.Duration{Duration: time.Second}
	hungry(&app.Spec, name)
	change(&app.Spec)
	_, err := berth.BerthV1alpha1().Applications(s.namespace).Create(ctx, app, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(berth.BerthV1alpha1().Applications(s.namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	})
}

var _ = Describe("Bad input", func() {
	// bad is what is wrong with an Application, and the condition that tells of it.
	type bad struct {
		change func(*berthv1alpha1.ApplicationSpec)
		told   string
	}
	wrong := map[string]bad{
		"window": {func(spec *berthv1alpha1.ApplicationSpec) {
			spec.Move = &berthv1alpha1.ApplicationMove{Windows: []berthv1alpha1.MoveWindow{
				{Schedule: "0 0 30 2 *", Duration: metav1.Duration{Duration: time.Hour}},
			}}
		}, `Moving False InvalidWindow: move.windows[0]: schedule "0 0 30 2 *": it never opens`},
		"elsewhere": {func(spec *berthv1alpha1.ApplicationSpec) {
			spec.Manifests = append(spec.Manifests, manifest(&corev1.ConfigMap{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
				ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "kube-system"},
			}))
		}, `Ready False InvalidManifests: manifests[1]: configmap settings is of namespace "kube-system"`},
		"scheduler": {func(spec *berthv1alpha1.ApplicationSpec) {
			editFront(spec, func(d *appsv1.DeploymentSpec) { d.Template.Spec.SchedulerName = "default-scheduler" })
		}, `Ready False InvalidManifests: manifests[0]: deployment scheduler: its pods ask for scheduler "default-scheduler"`},
		"typo": {func(spec *berthv1alpha1.ApplicationSpec) {
			raw := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"typo"},"dat":{}}`
			spec.Manifests = append(spec.Manifests, berthv1alpha1.Manifest{RawExtension: runtime.RawExtension{Raw: []byte(raw)}})
		}, "Ready False ManifestRefused: configmap typo: failed to create typed patch object"},
		"constraint": {func(spec *berthv1alpha1.ApplicationSpec) {
			spec.Constraints.ClusterMetrics = []string{"there-is-no-such-metric < 5"}
		}, "Scheduled False NoClusterMatches: "},
	}

	It("is told, an object that somebody else wants otherwise is not fought for, and others are not delayed", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3})
		s.apply(ctx, nil)
		s.runsIn(ctx, "berlin")
		restored, ended := s.contest(ctx)
		DeferCleanup(ended)
		for name, w := range wrong {
			s.bad(ctx, name, w.change)
		}
		for name, w := range wrong {
			Eventually(func(g Gomega) {
				app, err := berth.BerthV1alpha1().Applications(s.namespace).Get(ctx, name, metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				var told []string
				for _, c := range app.Status.Conditions {
					told = append(told, fmt.Sprintf("%s %s %s: %s", c.Type, c.Status, c.Reason, c.Message))
				}
				g.Expect(told).To(ContainElement(HavePrefix(w.told)))
			}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		}
		Eventually(s.ready).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(HavePrefix("ManifestContested: configmap settings: rival changes it again and again"))
		before := restored.Load()
		Consistently(restored.Load).WithTimeout(settle).WithPolling(poll).Should(BeNumerically("<=", before+1), "times that it was put right")

		s.bad(ctx, "good", func(*berthv1alpha1.ApplicationSpec) {})
		Eventually(s.readyOf("good")).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(HavePrefix("True Running"))
		s.measure(ctx, "madrid", 0.9)
		Eventually(s.readyOf("good")).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(Equal("True Running: everything runs in cluster " + s.full("madrid")))
	})
})
