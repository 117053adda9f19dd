// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package operations_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth.dev/berth/test/integration/internal/promserver"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// extender is somebody else's program that the scheduler asks about each pod, and that takes its
// time.
type extender struct {
	*httptest.Server
	// pause is how long an answer takes; hung is closed when those that never come may end.
	pause atomic.Int64
	hung  chan struct{}
}

func newExtender() *extender {
	e := &extender{hung: make(chan struct{})}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked extenderv1.ExtenderArgs
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		select {
		case <-time.After(time.Duration(e.pause.Load())):
		case <-e.hung:
		}
		_ = json.NewEncoder(w).Encode(extenderv1.ExtenderFilterResult{NodeNames: asked.NodeNames}) // the scheduler may have ended
	}))
	DeferCleanup(e.Close)
	return e
}

// configuration is the shipped one with the extender.
func (e *extender) configuration() []byte {
	GinkgoHelper()
	return append(bytes.TrimSpace(schedulerproc.ShippedConfiguration()), fmt.Appendf(nil, `
extenders: [{urlPrefix: %q, filterVerb: filter, httpTimeout: 1h, nodeCacheCapable: true}]
`, e.URL)...)
}

var _ = Describe("Faults of what the scheduler asks", func() {
	It("raise their alerts and no others, and can be found", func(ctx SpecContext) {
		begins(ctx)
		e := newExtender()
		scheduler := schedulerproc.Start(ctx, plane.ControlPlane, schedulerproc.Options{
			Configuration: e.configuration(), Args: schedulerproc.Patient,
		}).EndAfterwards()
		DeferCleanup(func() { close(e.hung) })
		_, port := controllers(ctx)
		settle(ctx, scheduler)
		jobs := map[string][]int{"berth-scheduler": {scheduler.Port()}, "berth-controller-manager": {port}}
		inTurn(ctx, promserver.StartWith(ctx, GinkgoT(), scrape(jobs)), []planted{{
			name: "attempts are slow", alert: "BerthSchedulingSlow",
			plant: func(ctx context.Context) {
				e.pause.Store(int64(3 * time.Second))
				kubectl(ctx, "scale deployment web --replicas=4")
			},
			cause: `Trace\[\d+\]: "Scheduling"`,
		}})
		until(ctx, "get deployment web -o 'jsonpath={.status.readyReplicas}'", "^4$")
		// Another Prometheus has not seen the attempts of before.
		inTurn(ctx, promserver.StartWith(ctx, GinkgoT(), scrape(jobs)), []planted{{
			name: "the scheduler hangs", alert: "BerthSchedulerHangs",
			plant: func(ctx context.Context) {
				e.pause.Store(int64(time.Hour))
				kubectl(ctx, "scale deployment web --replicas=8")
			},
			cause: `(?s)web-\S+ .*Pending`, page: "waiting", shows: "no scheduler has said anything about it yet",
		}})
	})
})
