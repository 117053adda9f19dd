// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package operations_test

import (
	"context"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/promserver"
	"berth.dev/berth/test/integration/internal/schedulerproc"
	"berth.dev/berth/test/internal/proxy"
)

// muted has nobody answer what a scheduler writes of Berth's objects.
func muted(r *http.Request) proxy.Fate {
	if r.Method == http.MethodGet || !strings.HasPrefix(r.URL.Path, "/apis/berth.dev/") {
		return proxy.Fate{}
	}
	return proxy.Fate{Lost: true}
}

// ofSchedulers are faults of Schedulers with a name, of which the link is that of c.
func ofSchedulers(link *proxy.Proxy, fleet schedulerproc.Fleet) []planted {
	return []planted{
		{
			name: "a drain is not acknowledged", alert: "BerthDrainStuck",
			plant: func(ctx context.Context) {
				link.Disturb(muted)
				edit(ctx, "clusters.berth.dev river", `{"spec":{"homeScheduler":"a"}}`)
			},
			cause: `river.*c`, page: "clusters/river", shows: "Home scheduler c",
		},
		{
			name: "a Scheduler has died", alert: "BerthNamedSchedulerNotReady",
			plant: func(context.Context) { fleet.Kill("b") },
			cause: `(?m)^b .*False`, page: "health", shows: "the Scheduler b: ",
		},
	}
}

var _ = Describe("Faults of Schedulers with a name", func() {
	It("raise their alerts and no others, and can be found", func(ctx SpecContext) {
		begins(ctx)
		_, port := controllers(ctx)
		user, groups := localplane.ServiceAccountIdentity(localplane.BerthNamespace, localplane.BerthScheduler)
		own, err := plane.UserConfig(user, groups...)
		Expect(err).NotTo(HaveOccurred())
		fleet := schedulerproc.Fleet{}
		fleet.Start(ctx, plane.ControlPlane, "a", schedulerproc.QuickElection...)
		DeferCleanup(func() { fleet["a"].End() })
		fleet.Start(ctx, plane.ControlPlane, "b", schedulerproc.QuickElection...)
		c, link := linked(ctx, "berth-scheduler-c", own, append([]string{"--scheduler-name=c"}, schedulerproc.QuickElection...)...)
		world(ctx)
		// Before the sites are deleted, of which the Schedulers have to let go.
		DeferCleanup(func(ctx SpecContext) {
			link.Disturb(nil)
			kubectl(ctx, "delete bsched --all --wait=false")
		})
		for cluster, name := range map[string]string{"harbour": "a", "island": "b", "river": "c"} {
			edit(ctx, "clusters.berth.dev "+cluster, `{"spec":{"homeScheduler":"`+name+`"}}`)
			until(ctx, "get clusters.berth.dev "+cluster+" -o 'jsonpath={.status.homeScheduler}'", "^"+name+"$")
		}
		// b has its target taken away with its Deployment.
		server := promserver.StartWith(ctx, GinkgoT(), scrape(map[string][]int{
			"berth-scheduler": {fleet["a"].Port(), c.Port()}, "berth-controller-manager": {port},
		}))
		inTurn(ctx, server, ofSchedulers(link, fleet))
	})
})
