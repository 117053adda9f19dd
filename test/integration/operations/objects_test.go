// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package operations_test

import (
	"context"
	"fmt"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/promserver"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// nodes are those of the sites of testdata/world.yaml.
var nodes = []string{"quay", "reef", "pier"}

// node makes a node of the world.
func node(ctx context.Context, name string, labels map[string]string) {
	GinkgoHelper()
	_, err := plane.Client.CoreV1().Nodes().Create(ctx, localplane.FakeNode(name, labels, localplane.DefaultCapacity()), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// world makes the sites of the world, which are removed after the spec with all that is planted.
func world(ctx context.Context) {
	GinkgoHelper()
	for _, name := range nodes {
		node(ctx, name, nil)
	}
	DeferCleanup(func(ctx SpecContext) {
		for _, all := range []string{
			"-n default delete applications.berth.dev,subscriptions.berth.dev,propagationpolicies.berth.dev,deployments,pdb --all",
			"delete clusters.berth.dev,clusterresources.berth.dev,globalmetrics,globalmetricsproviders --all",
			"delete validatingadmissionpolicies,validatingadmissionpolicybindings -l berth.dev/test=planted",
		} {
			kubectl(ctx, all+" --wait=false")
		}
		until(ctx, "get pods,clusters.berth.dev,clusterresources.berth.dev,applications.berth.dev,subscriptions.berth.dev -A -o name", "^$")
		kubectl(ctx, "delete nodes --all")
	})
	apply(ctx, "world")
	until(ctx, "get clusters.berth.dev -o 'jsonpath={.items[*].status.readyNodeCount}'", "^1 1 1$")
}

// settle makes the world with a Deployment, and waits until it is at rest.
func settle(ctx context.Context, schedulers ...*schedulerproc.Scheduler) {
	GinkgoHelper()
	world(ctx)
	// A pod that comes before the scheduler has read everything is held back several times, and
	// kube-scheduler takes only one of the counts back.
	until(ctx, "-n berth-system get lease berth-scheduler -o 'jsonpath={.spec.holderIdentity}'", ".")
	for _, s := range schedulers {
		s.UntilKnows(ctx, plane.Berth)
	}
	apply(ctx, "web")
	ready(ctx, "web")
}

// controllers starts berth-controller-manager for a spec, and returns the port of its metrics.
func controllers(ctx context.Context, args ...string) (*localplane.Process, int) {
	GinkgoHelper()
	port, err := localplane.FreePort()
	Expect(err).NotTo(HaveOccurred())
	process := schedulerproc.StartControllers(ctx, plane.ControlPlane,
		append([]string{"--metrics-bind-address=127.0.0.1:" + strconv.Itoa(port)}, args...)...)
	DeferCleanup(func() { Expect(process.Stop(timeout)).To(Succeed()) })
	return process, port
}

// watched starts a scheduler, and a controller manager with further flags, for a spec, and returns
// a Prometheus that scrapes them where a Deployment is at rest.
func watched(ctx context.Context, args ...string) *promserver.Server {
	GinkgoHelper()
	begins(ctx)
	scheduler := schedulerproc.Start(ctx, plane.ControlPlane, schedulerproc.Options{Args: schedulerproc.Patient}).EndAfterwards()
	_, port := controllers(ctx, args...)
	settle(ctx, scheduler)
	return promserver.StartWith(ctx, GinkgoT(), scrape(map[string][]int{
		"berth-scheduler": {scheduler.Port()}, "berth-controller-manager": {port},
	}))
}

// edit changes an object of the default namespace by a merge patch.
func edit(ctx context.Context, what, patch string) {
	GinkgoHelper()
	kubectl(ctx, fmt.Sprintf("patch %s --type=merge -p '%s'", what, patch))
}

// ready waits until a Deployment runs.
func ready(ctx context.Context, name string) {
	GinkgoHelper()
	until(ctx, "get deployment "+name+" -o 'jsonpath={.status.readyReplicas}/{.spec.replicas}'", "^(1/1|2/2)$")
}

// ofObjects are faults in what users and machines make of the objects of the API.
var ofObjects = []planted{
	{
		name: "a site is down", alert: "BerthClusterNotReady",
		plant: func(ctx context.Context) { kubectl(ctx, "delete node reef") },
		names: []string{"NAME", "island"}, cause: `island .*False`, page: "sites", shows: "not ready: ",
	},
	{
		name: "a pool is full", alert: "BerthPoolFull", plant: func(ctx context.Context) { apply(ctx, "full") },
		names: []string{"RESOURCE", "matlab"}, cause: `matlab.*\b1\b.*\b0\b`, page: "pools", shows: "matlab default ready 1 1 0 100%",
	},
	{
		name: "more is held than there is", alert: "BerthPoolOvercommitted",
		plant: func(ctx context.Context) {
			apply(ctx, "held")
			ready(ctx, "mesher")
			edit(ctx, "clusterresource ansys", `{"spec":{"capacity":[{"name":"default","quantity":"1"}]}}`)
		},
		names: []string{"RESOURCE", "ansys"}, cause: `Overcommitted`, page: "pools", shows: "ansys default overcommitted 1 2",
	},
	{
		name: "shares leave pods no place", alert: "BerthUnschedulablePods", plant: func(ctx context.Context) { apply(ctx, "lost") },
		names: []string{"pod NAME -n NAMESPACE", "pod $(kubectl get pods -o name -l app=lost | cut -d/ -f2) -n default"},
		cause: `(?s)lost-.*island`, page: "waiting", shows: "lost-",
	},
	{
		name: "a policy cannot be carried out", alert: "BerthPolicyRefused", plant: func(ctx context.Context) { apply(ctx, "refused") },
		names: []string{"POLICY", "foreign"}, cause: `foreign .*False(?s:.*)elsewhere`,
		page: "health", shows: "PropagationPolicy default/foreign: ",
	},
	{
		name: "no cluster suits an Application", alert: "BerthApplicationsUnplaced",
		plant: func(ctx context.Context) { apply(ctx, "nowhere") },
		names: []string{"NAME", "nowhere"}, cause: `harbour +false .*without label location`,
		page: "applications", shows: "NoClusterMatches",
	},
	{
		name: "a bundle waits", alert: "BerthBundlesWait",
		plant: func(ctx context.Context) {
			kubectl(ctx, "label clusters.berth.dev harbour tier=render")
			apply(ctx, "bundle")
		},
		names: []string{"NAME", "render"}, cause: `(?s)render.*(NoRoom|BundleWaits).*huge`,
		page: "subscriptions", shows: "NoRoom: no room for 1 of 1 replicas of Deployment huge",
	},
}

var _ = Describe("Faults of objects", func() {
	It("raise their alerts and no others, and can be found", func(ctx SpecContext) {
		inTurn(ctx, watched(ctx), ofObjects)
	})
})
