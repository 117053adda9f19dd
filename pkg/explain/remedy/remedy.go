// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package remedy finds out what would have to change for a pod to run now, by trying changes on the
// scheduler's own plugins. It does not read what the scheduler has said.
package remedy

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/simulator"
)

// World is what the scheduler decides by. It is only read.
type World struct {
	// Kubernetes are the objects of Kubernetes: nodes, the pods of all namespaces, what controls the
	// pod, and what its volumes and devices need.
	Kubernetes []runtime.Object
	// Berth are Berth's own objects.
	Berth *simulator.Objects
	// Policy is the one that is in force for the pod, nil if none is.
	Policy *berthv1alpha1.PropagationPolicy
	// Shares are what the policy gives to clusters, by name.
	Shares map[string]Share
}

// Share is how many replicas of the pod's workload a cluster should have, and has.
type Share struct{ Desired, Current int }

// Answer tells what would let a pod run. The names of its fields are a promise to programs.
type Answer struct {
	// Node takes the pod as things are, Cluster is where it lies; empty if none does.
	Node    string `json:"node,omitempty"`
	Cluster string `json:"cluster,omitempty"`
	// Remedies are the least changes by which it would run, at most one for each cluster, those with
	// the fewest changes first.
	Remedies []Remedy `json:"remedies,omitempty"`
	// Helpless are clusters in which nothing helps that was tried.
	Helpless []Helpless `json:"helpless,omitempty"`
	// Untried is the number of further clusters.
	Untried int `json:"untried,omitempty"`
}

// Remedy is what would have to change together for the pod to run on a node.
type Remedy struct {
	// Cluster is empty for a node in none.
	Cluster string `json:"cluster,omitempty"`
	Node    string `json:"node"`
	// Changes are all needed; with any of them missing it would not run there.
	Changes []string `json:"changes"`
}

// Helpless is a cluster in which nothing helps that was tried, and what its node still says then.
type Helpless struct {
	Cluster string   `json:"cluster,omitempty"`
	Reasons []string `json:"reasons"`
}

const (
	// maxClusters is in how many clusters changes are tried, and maxNodes on how many of their nodes.
	maxClusters, maxNodes = 10, 3
)

// Find tries what would let the pod run, which waits.
func Find(ctx context.Context, profile *simulator.Profile, world *World, pod *corev1.Pod) (*Answer, error) {
	snapshot, err := simulator.New(profile, clock.RealClock{})
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	snapshot.SetObjects(world.Berth)
	for _, object := range world.Kubernetes {
		if err := snapshot.Put(object); err != nil {
			return nil, err
		}
	}
	f := &finder{world: world, pod: pod, snapshot: snapshot}
	answer := &Answer{}
	outcome, err := snapshot.TrySchedule(ctx, pod)
	if err != nil {
		return nil, err
	}
	sites := f.sites()
	if outcome.Node != "" {
		answer.Node = outcome.Node
		for name, site := range sites {
			if slices.ContainsFunc(site, func(n *corev1.Node) bool { return n.Name == outcome.Node }) {
				answer.Cluster = name
			}
		}
		return answer, nil
	}
	return answer, f.try(ctx, sites, answer)
}

// finder tries changes.
type finder struct {
	world    *World
	pod      *corev1.Pod
	snapshot *simulator.Snapshot
}

// sites returns the nodes of each cluster; those in none are under the empty name.
func (f *finder) sites() map[string][]*corev1.Node {
	var nodes []corev1.Node
	for _, object := range f.world.Kubernetes {
		if node, ok := object.(*corev1.Node); ok {
			nodes = append(nodes, *node)
		}
	}
	clusters := make([]berthv1alpha1.Cluster, len(f.world.Berth.Clusters))
	for i, c := range f.world.Berth.Clusters {
		clusters[i] = *c
	}
	places := topology.New(clusters, nodes)
	sites := map[string][]*corev1.Node{}
	for i := range nodes {
		_, cluster := places.Place(nodes[i].Name)
		sites[cluster] = append(sites[cluster], &nodes[i])
	}
	return sites
}

// spot is a node with what may keep the pod from it.
type spot struct {
	cluster string
	node    *corev1.Node
	changes []change
}

// try finds the remedies in the nearest clusters.
func (f *finder) try(ctx context.Context, sites map[string][]*corev1.Node, answer *Answer) error {
	nearest := make([][]spot, 0, len(sites))
	for cluster, nodes := range sites {
		spots, err := f.spots(cluster, nodes)
		if err != nil {
			return err
		}
		nearest = append(nearest, spots)
	}
	slices.SortFunc(nearest, func(a, b []spot) int {
		return cmp.Or(len(a[0].changes)-len(b[0].changes), strings.Compare(a[0].cluster, b[0].cluster))
	})
	answer.Untried = max(0, len(nearest)-maxClusters)
	for _, spots := range nearest[:min(len(nearest), maxClusters)] {
		if err := f.tryCluster(ctx, spots, answer); err != nil {
			return err
		}
	}
	slices.SortStableFunc(answer.Remedies, func(a, b Remedy) int { return len(a.Changes) - len(b.Changes) })
	return nil
}

// spots returns the nearest nodes of a cluster.
func (f *finder) spots(cluster string, nodes []*corev1.Node) ([]spot, error) {
	spots := make([]spot, len(nodes))
	for i, node := range nodes {
		changes, err := f.changes(cluster, node)
		if err != nil {
			return nil, err
		}
		spots[i] = spot{cluster, node, changes}
	}
	slices.SortFunc(spots, func(a, b spot) int {
		return cmp.Or(unready(a.node)-unready(b.node), len(a.changes)-len(b.changes), cmp.Compare(effort(a.changes), effort(b.changes)),
			strings.Compare(a.node.Name, b.node.Name))
	})
	return spots[:min(len(spots), maxNodes)], nil
}

// unready is 1 for a node that is not ready: whoever else may take the pod comes before it, also if
// the node has not been tainted yet.
func unready(node *corev1.Node) int {
	if topology.Ready(node) {
		return 0
	}
	return 1
}

// tryCluster finds the least changes by which the pod runs on one of the nodes.
func (f *finder) tryCluster(ctx context.Context, spots []spot, answer *Answer) error {
	var best *Remedy
	var reasons []string
	for i := range spots {
		s := &spots[i]
		if best != nil && unready(s.node) > 0 {
			break
		}
		changes, why, err := f.least(ctx, s)
		switch {
		case err != nil:
			return err
		case changes == nil:
			reasons = cmpReasons(reasons, why)
		case best == nil || len(changes) < len(best.Changes):
			best = &Remedy{Cluster: s.cluster, Node: s.node.Name, Changes: texts(changes)}
		}
		if best != nil && len(best.Changes) == 1 {
			break
		}
	}
	if best != nil {
		answer.Remedies = append(answer.Remedies, *best)
	} else {
		answer.Helpless = append(answer.Helpless, Helpless{Cluster: spots[0].cluster, Reasons: reasons})
	}
	return nil
}

// cmpReasons keeps the first reasons that were found.
func cmpReasons(known, found []string) []string {
	if len(known) > 0 {
		return known
	}
	return found
}

// least returns changes that let the node take the pod and of which none can be left out, nil if
// all together do not, and then why not.
func (f *finder) least(ctx context.Context, s *spot) (changes []change, why []string, err error) {
	changes = slices.Clone(s.changes)
	fits, why, err := f.fits(ctx, s.node, changes)
	if err != nil || !fits {
		return nil, why, err
	}
	for i := 0; i < len(changes); {
		rest := slices.Delete(slices.Clone(changes), i, i+1)
		fits, _, err := f.fits(ctx, s.node, rest)
		switch {
		case err != nil:
			return nil, nil, err
		case fits:
			changes = rest
		default:
			i++
		}
	}
	return changes, nil, nil
}

func texts(changes []change) []string {
	all := make([]string, len(changes))
	for i, c := range changes {
		all[i] = c.text
	}
	return all
}
