// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"context"
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

// pods is how many pods each peer places: enough that a request that comes now and then shows.
const pods = 20

// requests are the requests of Berth's programs, by namespace, program and kind, since the start.
var requests = map[request]int{}

type request struct{ namespace, program, kind string }

// readLog adds what has been logged since the last call.
func readLog() {
	GinkgoHelper()
	logged, err := log.Next()
	Expect(err).NotTo(HaveOccurred())
	for i := range logged {
		r := &logged[i]
		for _, program := range []string{localplane.BerthScheduler, localplane.BerthControllerManager} {
			if user, _ := localplane.ServiceAccountIdentity(localplane.BerthNamespace, program); r.User == user && r.Resource != "leases" {
				requests[request{r.Namespace, program, r.Verb + " " + r.Resource}]++
			}
		}
	}
}

// ofScheduler returns the requests about one namespace by their kind.
func ofScheduler(namespace string) map[string]int {
	GinkgoHelper()
	readLog()
	kinds := map[string]int{}
	for r, count := range requests {
		if r.namespace == namespace && r.program == localplane.BerthScheduler {
			kinds[r.kind] += count
		}
	}
	return kinds
}

// ofControllers returns all requests of the controllers.
func ofControllers() map[request]int {
	GinkgoHelper()
	readLog()
	found := maps.Clone(requests)
	maps.DeleteFunc(found, func(r request, _ int) bool { return r.program != localplane.BerthControllerManager })
	return found
}

// The pod itself somebody else has created.
var _ = DescribeTable("a pod that is bound costs a binding and an event, with the stock scheduler as with Berth,",
	func(ctx SpecContext, create func(ctx context.Context, namespace string)) {
		namespace := installation.CreateNamespace(ctx, client, "writes-")
		create(ctx, namespace)
		want := map[string]int{"create pods/binding": pods, "create events": pods}
		Eventually(func() int { return ofScheduler(namespace)["create events"] }, timeout, poll).Should(BeNumerically(">=", pods))
		Consistently(func() map[string]int { return ofScheduler(namespace) }, settle, poll).Should(Equal(want))
	},
	Entry("for a pod of the stock scheduler", plainPods("default-scheduler")),
	Entry("for a pod that uses no feature", plainPods("berth-scheduler")),
	// A pod may be known before its ReplicaSet is, which comes by another watch; it is rejected
	// then, and tried again.
	Entry("for a pod of a Deployment with a policy", FlakeAttempts(3), policyPods),
	Entry("for a pod that holds some of a ClusterResource", resourcePods),
)

var _ = Describe("the controllers", func() {
	It("ask for nothing while nothing changes", func(ctx SpecContext) {
		namespace := installation.CreateNamespace(ctx, client, "writes-")
		policyPods(ctx, namespace)
		Eventually(func() int { return ofScheduler(namespace)["create events"] }, timeout, poll).Should(BeNumerically(">=", pods))
		By("waiting until they have told where the pods are")
		expectReported(ctx, namespace)
		var before map[request]int
		Eventually(func(g Gomega) {
			before = ofControllers()
			g.Consistently(ofControllers, settle, poll).Should(Equal(before))
		}, timeout, poll).Should(Succeed())
		Consistently(ofControllers, 2*settle, poll).Should(Equal(before))
	})
})
