// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/internal/visitor"
)

const (
	// perTick is what comes through a slow link in a tick: 32 kB in a second.
	perTick = 3200
	tick    = 100 * time.Millisecond
	// apart is how far one tab is behind another one: longer than the silence after which a page
	// calls itself outdated.
	apart = 20 * time.Second
)

// slowLink leads to a server at 32 kB a second, or lets nothing through.
type slowLink struct {
	net.Listener
	to      string
	stalled atomic.Bool
}

// slowly returns the server as it is seen through a slow link.
func (s *server) slowly(ctx context.Context) (*server, *slowLink) {
	GinkgoHelper()
	to, err := url.Parse(s.address)
	Expect(err).NotTo(HaveOccurred())
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	l := &slowLink{Listener: listener, to: to.Host}
	DeferCleanup(func() { _ = listener.Close() })
	go l.serve(ctx)
	through := *s
	through.address = strings.Replace(s.address, to.Host, listener.Addr().String(), 1)
	return &through, l
}

func (l *slowLink) serve(ctx context.Context) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
			go l.carry(from, to)
		}
	}
}

// carry copies what comes, a part in each tick, until one of the two ends.
func (l *slowLink) carry(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	part := make([]byte, perTick)
	for range ticker.C {
		if l.stalled.Load() {
			continue
		}
		n, err := from.Read(part)
		if err == nil {
			_, err = to.Write(part[:n])
		}
		if err != nil {
			return
		}
	}
}

var _ = Describe("pages over a slow link", func() {
	BeforeEach(func(ctx SpecContext) {
		for i := range 100 {
			name := fmt.Sprintf("shop-%02d", i)
			_, err := berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": "shop"}},
				Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{siteLabel: name}},
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		DeferCleanup(func(ctx SpecContext) {
			Expect(berth.BerthV1alpha1().Clusters().DeleteCollection(ctx, metav1.DeleteOptions{},
				metav1.ListOptions{LabelSelector: "tier=shop"})).To(Succeed())
		})
	})

	It("come, follow, and can be filtered, and nobody else waits for them", func(ctx SpecContext) {
		fast := servers["berthctl ui"](ctx)
		slow, _ := fast.slowly(ctx)
		began := time.Now()
		b := slow.open(ctx, "sites")
		AddReportEntry("a hundred sites over 32 kB a second", time.Since(began).String())
		Expect(b.rows("sites")).To(HaveLen(100))
		other := fast.open(ctx, "sites")
		for i, on := range []bool{true, false, true} {
			cordon(ctx, "shop-42", on)
			for _, at := range []*browser{other, b} {
				Eventually(func() bool { return slices.Contains(at.row("sites", "shop-42"), "cordoned") }).WithContext(ctx).
					WithTimeout(timeout).WithPolling(poll).Should(Equal(on), "change %d", i)
			}
		}
		b.run(chromedp.SendKeys(chromedp.CSS("#q"), "shop-42"))
		Eventually(b.rows).WithArguments("sites").WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(HaveLen(1))
		Expect(b.text()).NotTo(ContainSubstring("Outdated"))
	})

	It("of two tabs, one of which lags behind, come to say the same", func(ctx SpecContext) {
		s := servers["berthctl ui"](ctx)
		slow, link := s.slowly(ctx)
		late := slow.open(ctx, "sites")
		link.stalled.Store(true)
		began := time.Now()
		cordon(ctx, "shop-07", true)
		Eventually(late.text).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring("Outdated: no connection since"))
		Eventually(func() bool { return time.Since(began) > apart }).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(BeTrue())
		prompt := s.open(ctx, "sites")
		Expect(prompt.row("sites", "shop-07")).To(ContainElement("cordoned"))
		Expect(late.row("sites", "shop-07")).NotTo(ContainElement("cordoned"))
		link.stalled.Store(false)
		Eventually(late.text).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(ContainSubstring("Outdated"))
		Eventually(func() [][]string { return late.rows("sites") }).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(Equal(prompt.rows("sites")))
		late.forget() // what was asked for meanwhile came too late
	})
})

var _ = Describe("ten megabytes of conditions", func() {
	const objects, each, length = 12, 28, 32768

	It("leave the pages small, and live", func(ctx SpecContext) {
		for i := range objects {
			newSite(ctx, fmt.Sprintf("wordy-%02d", i), nil)
			site, err := berth.BerthV1alpha1().Clusters().Get(ctx, fmt.Sprintf("wordy-%02d", i), metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			for n := range each {
				site.Status.Conditions = append(site.Status.Conditions, metav1.Condition{
					Type: fmt.Sprintf("Wordy%02d", n), Status: metav1.ConditionFalse, Reason: "Wordy", LastTransitionTime: metav1.Now(),
					Message: strings.Repeat(hostile, length/len(hostile)),
				})
			}
			_, err = berth.BerthV1alpha1().Clusters().UpdateStatus(ctx, site, metav1.UpdateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		s := servers["berthctl ui"](ctx)
		b := s.open(ctx, "sites")
		Eventually(b.rows).WithArguments("sites").WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(HaveLen(objects))
		cordon(ctx, "wordy-03", true)
		Eventually(b.row).WithArguments("sites", "wordy-03").WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(ContainElement("cordoned"))
		b.visit(s.address + "clusters/wordy-03")
		Expect(b.rows("conditions")).To(HaveLen(each))
		Expect(evaluate[int](b, "document.documentElement.outerHTML.length")).To(BeNumerically("<", 256<<10))
		Expect(evaluate[bool](b, "window.broken === undefined")).To(BeTrue())
		taken, err := visitor.UsageOf(s.pid)
		Expect(err).NotTo(HaveOccurred())
		AddReportEntry("berthctl ui with ten megabytes of conditions takes", taken.String())
	})
})
