// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package operations_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"berth.dev/berth/test/internal/proxy"
)

// toRiver has a policy want its pods at another site.
func toRiver(ctx context.Context, policy, rebalance string) {
	GinkgoHelper()
	edit(ctx, "propagationpolicy "+policy,
		`{"spec":{"placement":{"staticWeightList":[{"clusterNames":["river"],"weight":1}]},"rebalance":`+rebalance+`}}`)
}

// forbids applies an admission policy, and waits until it refuses what is only tried.
func forbids(ctx context.Context, policy string, try func() error) {
	GinkgoHelper()
	apply(ctx, policy)
	Eventually(try).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
		Should(MatchError(ContainSubstring("ValidatingAdmissionPolicy '" + policy + "'")))
}

// tried is what changes nothing.
var tried = []string{metav1.DryRunAll}

// evict tries to evict a pod of a Deployment.
func evict(ctx context.Context, app string) error {
	pods := plane.Client.CoreV1().Pods("default")
	list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil || len(list.Items) == 0 {
		return fmt.Errorf("no pod of %s: %w", app, err)
	}
	return pods.EvictV1(ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: list.Items[0].Name}, DeleteOptions: &metav1.DeleteOptions{DryRun: tried},
	})
}

// describe tries to write the status of a Cluster.
func describe(ctx context.Context, cluster string) error {
	_, err := plane.Berth.BerthV1alpha1().Clusters().Patch(ctx, cluster, types.MergePatchType,
		[]byte(`{"status":{"nodeCount":7}}`), metav1.PatchOptions{DryRun: tried}, "status")
	return err
}

// measured lets the site harbour have a metric from a server, which it can be cut off from.
func measured(ctx context.Context, server string) *proxy.Proxy {
	GinkgoHelper()
	link, err := proxy.Start(ctx, &rest.Config{Host: server})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(link.Stop)
	kubectl(ctx, `apply -f - <<'END'
apiVersion: berth.dev/v1alpha1
kind: GlobalMetricsProvider
metadata: {name: gauge}
spec: {type: prometheus, allowPlainHTTP: true, prometheus: {url: "`+link.Address()+`"}}
---
apiVersion: berth.dev/v1alpha1
kind: GlobalMetric
metadata: {name: tide}
spec: {min: 0, max: 10, provider: {name: gauge, metric: vector(7)}}
END`)
	edit(ctx, "clusters.berth.dev harbour", `{"spec":{"metrics":[{"name":"tide","weight":1}]}}`)
	until(ctx, "get clusters.berth.dev harbour -o 'jsonpath={.status.metrics[*].value}'", "^7$")
	return link
}

// ofMoves are faults that keep pods where they are, and of which no move comes.
func ofMoves(gauge *proxy.Proxy) []planted {
	const web = "namespaces/default/workloads/deployment/web"
	return []planted{
		{
			name: "a provider of metrics is gone", alert: "BerthMetricUnread",
			plant: func(context.Context) { gauge.CutOff(true) },
			cause: `(?s)tide +gauge +7 +False +Unreachable.*gauge +prometheus +False +Unreachable`,
			page:  "clusters/harbour", shows: "metric tide: Unreachable",
		},
		{
			name: "replicas stay misplaced", alert: "BerthReplicasMisplaced",
			plant: func(ctx context.Context) { toRiver(ctx, "web", `{"mode":"Never"}`) },
			names: []string{"POLICY", "web"}, cause: `outside their share: 2 \(spec.rebalance.mode is Never\)`,
			page: web, shows: "(spec.rebalance.mode is Never)",
		},
		{
			name: "a budget blocks moves", alert: "BerthMovesBlocked", ends: []string{"BerthReplicasMisplaced"},
			plant: func(ctx context.Context) {
				apply(ctx, "budget")
				until(ctx, "get pdb web -o 'jsonpath={.status.expectedPods}/{.status.disruptionsAllowed}'", "^2/0$")
				toRiver(ctx, "web", `{"mode":"Evict","minPodAge":"0s","cooldown":"0s"}`)
			},
			cause: `(?s)web +2 +N/A +0 .*EvictionRefused .*Pod web-\S+ of Deployment web cannot be moved`,
			page:  web, shows: "(a PodDisruptionBudget does not let the pods go)",
		},
		{
			name: "evictions fail", alert: "BerthEvictionsFail",
			plant: func(ctx context.Context) {
				apply(ctx, "crew")
				ready(ctx, "crew")
				forbids(ctx, "evictions", func() error { return evict(ctx, "crew") })
				toRiver(ctx, "crew", `{}`)
			},
			cause: `(?s)evicting pod default/crew-.*the crew stays on board.*\nyes\n`,
			page:  strings.Replace(web, "web", "crew", 1), shows: "(evictions of the pods fail, and not because of a PodDisruptionBudget)",
		},
		{
			name: "a controller fails", alert: "BerthReconcileErrors",
			plant: func(ctx context.Context) {
				forbids(ctx, "status", func() error { return describe(ctx, "harbour") })
				apply(ctx, "creek")
			},
			cause: `Reconciler error.*nothing is known of the creek`, page: "clusters/creek", shows: "unknown",
		},
	}
}

var _ = Describe("Faults of moves", func() {
	It("raise their alerts and no others, and can be found", func(ctx SpecContext) {
		server := watched(ctx, "--metrics-interval=1s")
		inTurn(ctx, server, ofMoves(measured(ctx, server.URL)))
	})
})
