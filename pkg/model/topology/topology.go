// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package topology says which node belongs to which Cluster, how many nodes of each take pods, and
// in which Cluster a pod counts. There are three answers to the last, each for those who know so
// much:
//
//	Snapshot.ClusterOf        the Cluster of its node, and of a node that is not known the one that
//	                          the stamp names
//	Snapshot.ClusterOfBehind  the same, and the stamp also if its Cluster exists and the snapshot
//	                          does not have it yet
//	stamp.Of(pod).Cluster     where Berth placed it, for those who ask what a placement came to, not
//	                          who runs where
package topology

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/grouping"
	"berth.dev/berth/pkg/placement/membership"
)

// Cluster is a Cluster with its nodes.
type Cluster struct {
	// Object is the Cluster. It is shared and must not be changed.
	Object *berthv1alpha1.Cluster
	// Nodes are the nodes that belong to the Cluster, by name. They are shared and must not be
	// changed.
	Nodes []*corev1.Node
	// ReadyNodes is the number of those nodes that are ready and not cordoned.
	ReadyNodes int
	// Lost are the nodes that the Cluster claims and another one holds, by the name of the node.
	Lost []Loss
}

// Loss is a node that another Cluster holds.
type Loss struct {
	// Node is the name of the node, Holder that of the Cluster it belongs to.
	Node, Holder string
}

// Snapshot is immutable and safe for concurrent use.
type Snapshot struct {
	clusters map[string]*Cluster
	nodes    map[string]place
	sites    *grouping.Sites
	index    *membership.Index
}

type place struct {
	node    *corev1.Node
	cluster string
}

// Cluster returns the named Cluster, nil if there is none.
func (s *Snapshot) Cluster(name string) *Cluster { return s.clusters[name] }

// Clusters returns all Clusters, in no particular order.
func (s *Snapshot) Clusters() map[string]*Cluster { return s.clusters }

// Sites returns the Clusters as the placement of policies sees them.
func (s *Snapshot) Sites() *grouping.Sites { return s.sites }

// Nodes returns all nodes, in no particular order.
func (s *Snapshot) Nodes() []*corev1.Node {
	nodes := make([]*corev1.Node, 0, len(s.nodes))
	for _, p := range s.nodes {
		nodes = append(nodes, p.node)
	}
	return nodes
}

// Place returns the named node, nil if there is none, and the name of its Cluster, empty if it
// belongs to none.
func (s *Snapshot) Place(node string) (*corev1.Node, string) {
	p := s.nodes[node]
	return p.node, p.cluster
}

// Claimants returns the names of the Clusters that claim a node of a name and labels, whether or
// not there is one. It belongs to the first.
func (s *Snapshot) Claimants(node string, labels map[string]string) []string {
	return s.index.Claimants(node, labels)
}

// ClusterOf returns the name of the Cluster that a bound pod counts in, empty for none: the one
// that its node belongs to. A pod whose node is not known, because it is gone or has not been heard
// of yet, counts where it was placed, as it does for the schedulers.
func (s *Snapshot) ClusterOf(pod *corev1.Pod) string {
	node, cluster := s.Place(pod.Spec.NodeName)
	if node == nil {
		given, _ := stamp.Of(pod)
		return given.Cluster
	}
	return cluster
}

// ClusterOfBehind is ClusterOf for a snapshot that may lag behind what the scheduler knew: caches
// of nodes and Clusters fill one by one, the more so after the API server could not be reached. A
// pod counts where it was placed also if that Cluster is not in the snapshot and exists all the
// same.
func (s *Snapshot) ClusterOfBehind(pod *corev1.Pod, exists func(cluster string) bool) string {
	name := s.ClusterOf(pod)
	given, _ := stamp.Of(pod)
	if given.Cluster == "" || given.Cluster == name || s.Cluster(given.Cluster) != nil || !exists(given.Cluster) {
		return name
	}
	return given.Cluster
}

// New returns a snapshot of the Clusters and nodes, which must not be changed afterwards.
func New(clusters []berthv1alpha1.Cluster, nodes []corev1.Node) *Snapshot {
	s := &Snapshot{clusters: make(map[string]*Cluster, len(clusters)), nodes: make(map[string]place, len(nodes))}
	objects := make([]*berthv1alpha1.Cluster, len(clusters))
	for i := range clusters {
		objects[i] = &clusters[i]
		s.clusters[clusters[i].Name] = &Cluster{Object: &clusters[i]}
	}
	s.sites = grouping.NewSites(objects, nil)
	s.index = membership.NewIndex(objects)
	for i := range nodes {
		node := &nodes[i]
		claimants := s.Claimants(node.Name, node.Labels)
		p := place{node: node}
		for k, claimant := range claimants {
			if k == 0 {
				p.cluster = claimant
				s.clusters[claimant].add(node)
				continue
			}
			loser := s.clusters[claimant]
			loser.Lost = append(loser.Lost, Loss{Node: node.Name, Holder: p.cluster})
		}
		s.nodes[node.Name] = p
	}
	for _, c := range s.clusters {
		slices.SortFunc(c.Nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
		slices.SortFunc(c.Lost, func(a, b Loss) int { return strings.Compare(a.Node, b.Node) })
	}
	return s
}

// Home returns the name of the Scheduler that the Cluster is bound to, empty for none. One on its
// way from one Scheduler to another counts for the one that gets it: the old one places nothing
// there any more.
func (c *Cluster) Home() string {
	if transfer := c.Object.Status.HomeTransfer; transfer != nil {
		return transfer.To
	}
	return c.Object.Status.HomeScheduler
}

func (c *Cluster) add(node *corev1.Node) {
	c.Nodes = append(c.Nodes, node)
	if TakesPods(node) {
		c.ReadyNodes++
	}
}

// TakesPods reports whether a Cluster exists, is not cordoned, and has a node that takes pods at
// this moment. What is about single pods asks this; whether something may be sent to a Cluster for
// good is asked of its condition Online, which does not follow every node: see rank.Unavailable.
func (c *Cluster) TakesPods() bool { return c.Runs() && !c.Object.Spec.Unschedulable }

// Runs reports whether a Cluster exists and has a node that is ready and not cordoned. A Cluster
// that is cordoned as a whole still runs what it has.
func (c *Cluster) Runs() bool { return c != nil && c.ReadyNodes > 0 }

// TakesPods reports whether a node is ready and not cordoned.
func TakesPods(node *corev1.Node) bool {
	return !node.Spec.Unschedulable && Ready(node)
}

// Ready reports whether the condition Ready of a node is true.
func Ready(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == corev1.NodeReady {
			return node.Status.Conditions[i].Status == corev1.ConditionTrue
		}
	}
	return false
}
