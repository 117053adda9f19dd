// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// width and height are those of the window in pixels.
const width, height = 1280, 900

// browser is a tab, and what went wrong in it.
type browser struct {
	ctx    context.Context //nolint:containedctx // a tab of chromedp is a context
	host   string
	site   string
	mutex  sync.Mutex
	faults []string
}

// open opens a page in a new browser. At the end of the spec it checks that the page asked nobody
// but its own server, and that no script failed and nothing broke the page's policy.
func (s *server) open(ctx context.Context, page string) *browser {
	GinkgoHelper()
	b := s.start(ctx)
	DeferCleanup(func() { Expect(b.found()).To(BeEmpty()) })
	b.visit(s.address + page)
	return b
}

// start starts a browser, and enters if the server asks who it is.
func (s *server) start(ctx context.Context) *browser {
	GinkgoHelper()
	b := launch(ctx, s.address)
	if s.token != "" {
		b.run(chromedp.Navigate(s.address+"enter"), chromedp.SendKeys(chromedp.CSS("#token"), s.token),
			chromedp.Submit(chromedp.CSS("#token")), chromedp.WaitReady(chromedp.CSS("#live")))
		b.forget() // the form is the page of a request that is refused
	}
	return b
}

// launch starts a browser for the pages below an address.
func launch(ctx context.Context, address string) *browser {
	GinkgoHelper()
	parsed, err := url.Parse(address)
	Expect(err).NotTo(HaveOccurred())
	b := &browser{host: parsed.Host, site: address}
	// The gateway signs its certificate itself. Tests run as root too, where Chromium has no sandbox.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.IgnoreCertErrors,
		chromedp.WindowSize(width, height))
	allocator, stop := chromedp.NewExecAllocator(ctx, options...)
	DeferCleanup(stop)
	tab, closeTab := chromedp.NewContext(allocator)
	DeferCleanup(closeTab)
	b.ctx = tab
	Expect(chromedp.Listen(tab, b.listen)).To(Succeed())
	call(b, network.Enable, network.EnableParams{})
	call(b, cdplog.Enable, cdp.Empty{})
	return b
}

// listen notes what must not happen.
func (b *browser) listen(event any) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if asked, err := url.Parse(e.Request.URL); err != nil || asked.Host != b.host {
			b.faults = append(b.faults, "it asked for "+e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "a script failed: "+e.ExceptionDetails.Text)
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError {
			b.faults = append(b.faults, "the browser says: "+e.Entry.Text)
		}
	}
}

// forget begins anew to note what must not happen.
func (b *browser) forget() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.faults = nil
}

// found returns what went wrong up to now.
func (b *browser) found() []string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return append([]string(nil), b.faults...)
}

// visit opens a page.
func (b *browser) visit(address string) {
	GinkgoHelper()
	b.run(chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("#live")))
}

// run does something in the tab.
func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(b.ctx, timeout)
	defer cancel()
	Expect(chromedp.Do(ctx, actions...)).To(Succeed())
}

// press does something to an element that the page may just be making anew.
func (b *browser) press(action chromedp.Action[chromedp.Void]) {
	GinkgoHelper()
	Eventually(func() error { return chromedp.Do(b.ctx, action) }).WithContext(b.ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// get returns what an action finds in the tab.
func get[T any](b *browser, action chromedp.Action[T]) T {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(b.ctx, timeout)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	Expect(err).NotTo(HaveOccurred())
	return result
}

// call carries out a command of the protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) R {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(b.ctx, timeout)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	Expect(err).NotTo(HaveOccurred())
	return result
}

// evaluate returns what an expression is in the page.
func evaluate[T any](b *browser, expression string) T {
	GinkgoHelper()
	return get(b, chromedp.Evaluate[T](expression))
}

// rows returns the texts of a table's cells.
func (b *browser) rows(table string) [][]string {
	GinkgoHelper()
	return evaluate[[][]string](b, `[...document.querySelectorAll("#`+table+` tbody tr")].map(r => [...r.cells].map(c => c.innerText.trim()))`)
}

// row returns the texts of the row that begins with a text, nil if there is none.
func (b *browser) row(table, first string) []string {
	GinkgoHelper()
	for _, row := range b.rows(table) {
		if row[0] == first {
			return row
		}
	}
	return nil
}

// text returns all that is shown.
func (b *browser) text() string {
	GinkgoHelper()
	return evaluate[string](b, "document.body.innerText")
}

// picture writes what is shown into the folder of the environment variable BERTH_SCREENSHOTS, if
// that is set: so the pictures of the documentation are made.
func (b *browser) picture(name string) {
	GinkgoHelper()
	folder := os.Getenv("BERTH_SCREENSHOTS")
	if folder == "" {
		return
	}
	Expect(os.WriteFile(filepath.Join(folder, name+".png"), get(b, chromedp.CaptureScreenshot()), 0o600)).To(Succeed())
}
