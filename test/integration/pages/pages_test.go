// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// hostile is a text that would leave its mark if it were anything but text.
const hostile = `<script>window.broken=1</script><img src=x onerror="window.broken=1">`

func cordon(ctx SpecContext, name string, value bool) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().Clusters().Patch(ctx, name, types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"unschedulable":%v}}`, value), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

var _ = Describe("pages", func() {
	for name, serve := range servers {
		Describe("of "+name, func() { look(serve) })
	}
})

// look has the specs of a server's pages.
func look(serve func(context.Context) *server) {
	BeforeEach(func(ctx SpecContext) {
		newSite(ctx, "beijing", func(c *berthv1alpha1.Cluster) { c.Spec.GeoLocation = &berthv1alpha1.GeoLocation{City: "Beijing"} })
		newSite(ctx, "hangzhou", nil)
		newSite(ctx, "madrid", func(c *berthv1alpha1.Cluster) { c.Spec.GeoLocation = &berthv1alpha1.GeoLocation{City: hostile} })
	})

	It("shows what the API says, and every change of it without being loaded again", func(ctx SpecContext) {
		b := serve(ctx).open(ctx, "sites")
		Expect(b.rows("sites")).To(HaveExactElements(
			HaveExactElements("beijing", "unknown", "Beijing", "2", "2", "0", "0", "0", "-", "-"),
			HaveExactElements("hangzhou", "unknown", "", "2", "2", "0", "0", "0", "-", "-"),
			HaveExactElements("madrid", "unknown", hostile, "2", "2", "0", "0", "0", "-", "-"),
		))
		b.picture("sites")
		evaluate[int](b, "window.before = 1")
		began := time.Now()
		cordon(ctx, "beijing", true)
		Eventually(b.row).WithArguments("sites", "beijing").WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(ContainElement("cordoned"))
		AddReportEntry("a change shows", time.Since(began).String())
		Expect(evaluate[int](b, "window.before")).To(Equal(1), "the page was loaded anew")
	})

	It("takes what others have written for text", func(ctx SpecContext) {
		b := serve(ctx).open(ctx, "clusters/madrid")
		Expect(b.text()).To(ContainSubstring(hostile))
		Expect(evaluate[bool](b, "window.broken === undefined && !document.querySelector('#live script, #live img')")).To(BeTrue())
	})

	It("sorts and filters by mouse and by keyboard", func(ctx SpecContext) {
		b := serve(ctx).open(ctx, "sites")
		first := func() string { return b.rows("sites")[0][0] }
		b.press(chromedp.Click(chromedp.CSS("#sort-sites-site")))
		b.press(chromedp.WaitReady(chromedp.CSS(`th[aria-sort="ascending"] #sort-sites-site`)))
		b.press(chromedp.Click(chromedp.CSS("#sort-sites-site")))
		Eventually(first).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal("madrid"))
		b.press(chromedp.Focus(chromedp.CSS("#sort-sites-site")))
		b.run(chromedp.KeyEvent(kb.Enter))
		Eventually(first).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal("beijing"))
		Expect(evaluate[string](b, "document.activeElement.id")).To(Equal("sort-sites-site"), "the focus was lost")

		b.run(chromedp.SendKeys(chromedp.CSS("#q"), "hang"))
		Eventually(b.rows).WithArguments("sites").WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(HaveLen(1))
		Expect(b.text()).To(ContainSubstring("1 shown, 2 filtered out"))
		Expect(evaluate[string](b, "location.search")).To(ContainSubstring("q=hang"))
	})

	It("says that it is outdated when its server is gone", func(ctx SpecContext) {
		s := serve(ctx)
		b := s.start(ctx)
		b.visit(s.address + "sites")
		Expect(b.text()).NotTo(ContainSubstring("Outdated"))
		s.Kill()
		Eventually(b.text).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(And(ContainSubstring("Outdated: no connection since"), ContainSubstring("beijing")))
		b.picture("outdated")
	})

	It("can be read by everybody, in light and in dark", func(ctx SpecContext) {
		s := serve(ctx)
		b := s.start(ctx)
		for _, page := range []string{"sites", "pools", "applications", "subscriptions", "waiting", "health", "clusters/beijing", "nothing/here"} {
			b.visit(s.address + page)
			for _, scheme := range []string{"light", "dark"} {
				call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
				})
				Expect(evaluate[[]string](b, unreadable)).To(BeEmpty(), "%s in %s", page, scheme)
			}
			Expect(b.nameless()).To(BeEmpty(), page)
		}
	})
}

var _ = Describe("a thousand sites", func() {
	const count = 1000

	It("are shown, found and followed", func(ctx SpecContext) {
		for i := range count {
			_, err := berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("store-%03d", i), Labels: map[string]string{"tier": "store"}},
				Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{siteLabel: fmt.Sprintf("store-%03d", i)}},
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		DeferCleanup(func(ctx SpecContext) {
			Expect(berth.BerthV1alpha1().Clusters().DeleteCollection(ctx, metav1.DeleteOptions{},
				metav1.ListOptions{LabelSelector: "tier=store"})).To(Succeed())
		})
		s := servers["berthctl ui"](ctx)
		b := s.open(ctx, "sites")
		Expect(b.rows("sites")).To(HaveLen(count))
		began := time.Now()
		b.visit(s.address + "sites")
		AddReportEntry("the view of a thousand sites", time.Since(began).String())
		b.picture("thousand")

		b.run(chromedp.SendKeys(chromedp.CSS("#q"), "store-77"))
		Eventually(b.rows).WithArguments("sites").WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(HaveLen(10))
		began = time.Now()
		cordon(ctx, "store-777", true)
		Eventually(b.row).WithArguments("sites", "store-777").WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(ContainElement("cordoned"))
		AddReportEntry("a change of one of a thousand shows", time.Since(began).String())
	})
})
