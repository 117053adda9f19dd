// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

const (
	// siteLabel is the node label that tells the site.
	siteLabel = "example.com/site"

	// namespace is where the workload lives whose pods are placed.
	namespace = "default"

	// elsewhere is where other pods live.
	elsewhere = "bystanders"

	// chosenSites is how many sites the workload is to be shared out over.
	chosenSites = 10
)

// layout is a number of nodes in sites, with the pods that run on them. Several schedulers use one
// layout at the same time; nothing changes it.
type layout struct {
	nodes []*corev1.Node
	pods  []*corev1.Pod
	// chosen are the sites that the workload is to be shared out over.
	chosen []string
	// siteOf tells the site of a node.
	siteOf map[string]string
}

// newLayout spreads nodes evenly over sites. Of these the workload uses chosenSites, which lie
// among the others as evenly. Each node runs a number of pods of other namespaces, and a number of
// other pods of the workload's own.
func newLayout(nodes, sites, strangers, neighbours int) *layout {
	l := &layout{siteOf: make(map[string]string, nodes)}
	for s := range chosenSites {
		l.chosen = append(l.chosen, siteName(s*sites/chosenSites))
	}
	for n := range nodes {
		name, site := fmt.Sprintf("node-%05d", n), siteName(n%sites)
		l.siteOf[name] = site
		l.nodes = append(l.nodes, newNode(n, name, site))
		for p := range strangers + neighbours {
			home := elsewhere
			if p >= strangers {
				home = namespace
			}
			l.pods = append(l.pods, request(fmt.Sprintf("other-%d-%d", n, p)).Namespace(home).Label("app", "other").Node(name).Obj())
		}
	}
	return l
}

func siteName(s int) string {
	return fmt.Sprintf("site-%04d", s)
}

// request starts a pod with the requests that all pods of the benchmark have.
func request(name string) *st.PodWrapper {
	return st.MakePod().Namespace(namespace).Name(name).UID(name).
		Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "100m", corev1.ResourceMemory: "128Mi"})
}

// workloadPod starts the pod with the given number of the workload.
func workloadPod(number int) *st.PodWrapper {
	return request(fmt.Sprintf("web-%d", number)).Label("app", "web")
}

// shares returns how many of n pods each chosen site is to run: two for every three in the next
// one, as in the example of the node-group proposals. N must be a multiple of 25, so that no method
// has to round.
func (l *layout) shares(n int) map[string]int {
	shares := make(map[string]int, len(l.chosen))
	for s, site := range l.chosen {
		shares[site] = n / 25 * weightOf(s)
	}
	return shares
}

// equalShares is shares for peers that know no weights.
func (l *layout) equalShares(n int) map[string]int {
	shares := make(map[string]int, len(l.chosen))
	for _, site := range l.chosen {
		shares[site] = n / len(l.chosen)
	}
	return shares
}

// weightOf returns the weight of a chosen site.
func weightOf(s int) int {
	return 2 + s%2
}
