// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rendezvous"
)

// resize gives a cluster nodes, as the cluster controller would count them.
func (h *harness) resize(name string, nodes int32) {
	h.Helper()
	c := h.cluster(name)
	c.Status.NodeCount = nodes
	if err := h.api.Status().Update(h.Context(), c); err != nil {
		h.Fatal(err)
	}
}

// owners returns the scheduler that each cluster has or is on its way to.
func (h *harness) owners() map[string]string {
	h.Helper()
	var list berthv1alpha1.ClusterList
	if err := h.api.List(h.Context(), &list); err != nil {
		h.Fatal(err)
	}
	owners := map[string]string{}
	for i := range list.Items {
		owners[list.Items[i].Name] = list.Items[i].Status.HomeScheduler
		if t := list.Items[i].Status.HomeTransfer; t != nil {
			owners[list.Items[i].Name] = t.To
		}
	}
	return owners
}

func TestNodesThatComeAndGoMoveNoCluster(t *testing.T) {
	h := newHarness(t, append(clusters(12), readyScheduler("a"), readyScheduler("b"))...)
	for name := range h.owners() {
		h.resize(name, 9)
	}
	h.passes(2)
	before := h.owners()
	for _, nodes := range []int32{7, 17, 0, 12} {
		h.resize("c3", nodes)
		h.passes(2)
		if diff := cmp.Diff(before, h.owners()); diff != "" {
			t.Fatalf("with %d nodes (-before +after):\n%s", nodes, diff)
		}
	}
}

func TestALargeClusterCountsAsMuchAsItsNodes(t *testing.T) {
	h := newHarness(t, append(clusters(13), readyScheduler("a"), readyScheduler("b"))...)
	for name := range h.owners() {
		h.resize(name, 1)
	}
	h.resize("c0", 70)
	h.passes(2)
	if large := h.owners()["c0"]; h.homes()[large] != 1 {
		t.Errorf("the scheduler with the large cluster has %d clusters, want no other", h.homes()[large])
	}
}

func TestClustersOfARegionGoTogether(t *testing.T) {
	objects := clusters(12)
	for i, object := range objects {
		object.(*berthv1alpha1.Cluster).Spec.Region = &berthv1alpha1.Region{Region: []string{"east", "west", "north"}[i%3]}
	}
	h := newHarness(t, append(objects, readyScheduler("a"), readyScheduler("b"), readyScheduler("c"))...)
	h.By = rendezvous.GroupByRegion
	h.passes(2)
	region := map[string]map[string]bool{}
	for name, owner := range h.owners() {
		r := h.cluster(name).Spec.Region.Region
		if region[r] == nil {
			region[r] = map[string]bool{}
		}
		region[r][owner] = true
	}
	for r, owners := range region {
		if len(owners) != 1 {
			t.Errorf("the clusters of %s are with %v", r, owners)
		}
	}
}
