// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package operations_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/promserver"
	"berth.dev/berth/test/integration/internal/schedulerproc"
	"berth.dev/berth/test/internal/proxy"
)

// linked starts a scheduler that speaks to the API server through a proxy, as a config says.
func linked(ctx context.Context, name string, config *rest.Config, args ...string) (*schedulerproc.Scheduler, *proxy.Proxy) {
	GinkgoHelper()
	link, err := proxy.Start(ctx, config)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(link.Stop)
	path := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me}}]
users: [{name: me, user: {}}]
clusters: [{name: here, cluster: {server: %q}}]
`, link.Address()), 0o600)).To(Succeed())
	scheduler := schedulerproc.Start(ctx, plane.ControlPlane, schedulerproc.Options{Name: name, Args: append([]string{
		"--master=" + link.Address(), "--authentication-kubeconfig=" + path, "--authorization-kubeconfig=" + path,
	}, args...)})
	return scheduler.EndAfterwards(), link
}

// standby starts a scheduler that waits for the lease with a token of its ServiceAccount. It does
// not need that to find out who scrapes it.
func standby(ctx context.Context) *schedulerproc.Scheduler {
	GinkgoHelper()
	token, err := plane.Client.CoreV1().ServiceAccounts(localplane.BerthNamespace).
		CreateToken(ctx, localplane.BerthScheduler, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	config := rest.AnonymousClientConfig(plane.Config())
	config.BearerToken = token.Status.Token
	valid := plane.AdminKubeconfig()
	scheduler, _ := linked(ctx, "berth-scheduler-b", config,
		append([]string{"--authentication-kubeconfig=" + valid, "--authorization-kubeconfig=" + valid}, schedulerproc.Patient...)...)
	return scheduler
}

// alternate has every other request of a scheduler answered with 503, but for Bindings.
func alternate(link *proxy.Proxy) {
	var n atomic.Int64
	link.Disturb(func(r *http.Request) proxy.Fate {
		if strings.HasSuffix(r.URL.Path, "/binding") || n.Add(1)%2 == 0 {
			return proxy.Fate{}
		}
		return proxy.Fate{Lost: true, Answer: proxy.Unavailable}
	})
}

// ofLinks are faults between the scheduler and the API server.
func ofLinks(link *proxy.Proxy) []planted {
	return []planted{
		{
			name: "the API server does not answer", alert: "BerthAPIUnreachable", plant: func(context.Context) { alternate(link) },
			names: []string{"kubectl get", "kubectl --server=" + link.Address() + " get"}, cause: "ServiceUnavailable",
		},
		{
			name: "bindings are unclear", alert: "BerthUnclearBinds",
			plant: func(ctx context.Context) {
				link.Decide(func() proxy.Fate { return proxy.Fate{Answer: proxy.Cut} })
				kubectl(ctx, "scale deployment web --replicas=3")
				Eventually(link.Bindings).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(BeNumerically(">", 0))
				link.Decide(nil)
			},
			cause: `(?s)readyz check passed.*(EOF|connection reset)`,
		},
		{
			name: "a token is not accepted any more", alert: "BerthCredentialsRefused",
			plant: func(ctx context.Context) {
				kubectl(ctx, "-n berth-system get serviceaccount berth-scheduler -o yaml | kubectl replace --force -f -")
			},
			names: []string{"JOB", "berth-scheduler"}, cause: `(?s)Unauthorized.*\nberth-scheduler +\d+s\n`,
		},
	}
}

var _ = Describe("Faults of links", func() {
	It("raise their alerts and no others, and can be found", func(ctx SpecContext) {
		begins(ctx)
		user, groups := localplane.ServiceAccountIdentity(localplane.BerthNamespace, localplane.BerthScheduler)
		own, err := plane.UserConfig(user, groups...)
		Expect(err).NotTo(HaveOccurred())
		leader, link := linked(ctx, "berth-scheduler", own, schedulerproc.Patient...)
		_, port := controllers(ctx)
		settle(ctx, leader)
		DeferCleanup(func() { link.Disturb(nil) })
		second := standby(ctx)
		server := promserver.StartWith(ctx, GinkgoT(), scrape(map[string][]int{
			"berth-scheduler": {leader.Port(), second.Port()}, "berth-controller-manager": {port},
		}))
		inTurn(ctx, server, ofLinks(link))
	})
})
