// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/names"
)

// Workload tells how the replicas of one workload are shared out.
type Workload struct {
	// Namespace of the workload.
	Namespace string `json:"namespace"`
	// Ref is the workload.
	Ref berthv1alpha1.WorkloadReference `json:"ref"`
	// Policy is the name of the policy in force, or the one that was asked for and does not exist.
	Policy string `json:"policy"`
	// Replicas is the number of replicas wanted; absent if Berth cannot know it.
	Replicas *int32 `json:"replicas,omitempty"`
	// Pending is the number of pods of the newest revision that are not bound.
	Pending int `json:"pending"`
	// Misplaced is the number of pods that run outside their share.
	Misplaced int `json:"misplaced"`
	// Clusters are those of the policy by name, then those in which pods run although the policy
	// does not name them.
	Clusters []Cluster `json:"clusters"`
	// Notes tell what keeps the policy from being carried out as written.
	Notes []string `json:"notes,omitempty"`
}

// Cluster tells how many replicas of a workload a cluster should have, and has.
type Cluster struct {
	// Name of the cluster; empty for pods on nodes that belong to no cluster.
	Name string `json:"name"`
	// Desired is the share of the cluster; absent if Berth cannot know it.
	Desired *int `json:"desired,omitempty"`
	// Current is the number of bound pods of the newest revision.
	Current int `json:"current"`
	// Old is the number of bound pods of older revisions.
	Old int `json:"old"`
	// Pending is the number of replicas by which the cluster is short of its share.
	Pending int `json:"pending"`
	// NodesUsed is the number of nodes on which the current replicas run.
	NodesUsed int `json:"nodesUsed"`
	// Nodes is the number of nodes of the cluster, ReadyNodes of those that are ready and not
	// cordoned.
	Nodes      int `json:"nodes"`
	ReadyNodes int `json:"readyNodes"`
}

// Title is the workload as kind/name, in the spelling of kubectl.
func (w *Workload) Title() string { return Title(w.Ref.Kind, w.Ref.Name) }

// Title is a workload as kind/name, in the spelling of kubectl.
func Title(kind, name string) string { return strings.ToLower(kind) + "/" + name }

// assess counts the replicas of a workload where they are, and compares them with the shares.
func (s *State) assess(o *workload.Observed, object *berthv1alpha1.PropagationPolicy) Workload {
	w := reference(o)
	w.Policy = object.Name
	w.Pending = o.Pending(false)
	t := s.count(o)
	inForce := policy.Compile(object, s.Topology.Sites())
	if inForce.Err != nil {
		w.Notes = append(w.Notes, fmt.Sprintf("policy %q cannot be carried out, so pods wait: %v", object.Name, inForce.Err))
		w.Clusters = t.rest()
		return w
	}
	shares := inForce.Shares(o, o.Bound(), s.Topology.ClusterOf)
	w.Misplaced = shares.Misplaced
	for i, desired := range shares.Desired {
		c := t.pop(inForce.Order.Name(i))
		if shares.Plan != nil {
			c.Desired, c.Pending = new(int(desired)), max(0, int(desired)-c.Current)
		}
		w.Clusters = append(w.Clusters, c)
	}
	slices.SortFunc(w.Clusters, func(a, b Cluster) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range t.rest() {
		if shares.Plan != nil {
			c.Desired = new(int)
		}
		w.Clusters = append(w.Clusters, c)
	}
	w.Notes = append(w.Notes, s.clusterNotes(object.Name, inForce.Order)...)
	w.Notes = append(w.Notes, limitNotes(object, &o.Workload)...)
	for _, group := range inForce.Layout.Empty {
		w.Notes = append(w.Notes, fmt.Sprintf("group %q of policy %q has no Cluster of its own", group, object.Name))
	}
	if shares.Plan != nil && shares.Plan.Unplaced() > 0 {
		w.Notes = append(w.Notes, names.Are(int(shares.Plan.Unplaced()), "replica")+" beyond the max of all clusters")
	}
	return w
}

// limitNotes names the clusters that get no more of a workload than they run and have room for.
func limitNotes(object *berthv1alpha1.PropagationPolicy, w *workload.Workload) []string {
	limited := policy.LimitedOf(object, w)
	if limited == nil {
		return nil
	}
	var notes []string
	for _, c := range limited.Clusters {
		notes = append(notes, fmt.Sprintf("cluster %q is full, so others have what exceeds %d: %s", c.Name, c.Replicas, limited.LimitedBy))
	}
	return notes
}

func reference(o *workload.Observed) Workload {
	return Workload{Namespace: o.Namespace, Ref: o.Ref(), Replicas: o.KnownReplicas()}
}

// clusterNotes names the clusters of a policy that cannot take a share.
func (s *State) clusterNotes(policy string, order *apportion.Order) []string {
	var notes []string
	for i := range order.Len() {
		switch c := s.Topology.Cluster(order.Name(i)); {
		case c == nil:
			notes = append(notes, fmt.Sprintf("cluster %q of policy %q does not exist", order.Name(i), policy))
		case len(c.Nodes) == 0:
			notes = append(notes, fmt.Sprintf("cluster %q of policy %q has no nodes", order.Name(i), policy))
		}
	}
	slices.Sort(notes)
	return notes
}

// tally holds what runs where, by the name of the cluster.
type tally struct {
	state    *State
	clusters map[string]*Cluster
	used     map[string]map[string]bool
}

func (s *State) count(o *workload.Observed) *tally {
	t := &tally{state: s, clusters: map[string]*Cluster{}, used: map[string]map[string]bool{}}
	current := o.Bound()
	for _, pod := range current {
		name := s.Topology.ClusterOf(pod)
		t.cluster(name).Current++
		if t.used[name] == nil {
			t.used[name] = map[string]bool{}
		}
		t.used[name][pod.Spec.NodeName] = true
	}
	counted := make(map[*corev1.Pod]bool, len(current))
	for _, pod := range current {
		counted[pod] = true
	}
	for _, pod := range o.Pods {
		if pod.Spec.NodeName != "" && !counted[pod] {
			t.cluster(s.Topology.ClusterOf(pod)).Old++
		}
	}
	return t
}

func (t *tally) cluster(name string) *Cluster {
	if t.clusters[name] == nil {
		t.clusters[name] = &Cluster{Name: name}
	}
	return t.clusters[name]
}

// pop removes a cluster from the tally and returns it with its nodes.
func (t *tally) pop(name string) Cluster {
	c := *t.cluster(name)
	delete(t.clusters, name)
	c.NodesUsed = len(t.used[name])
	if known := t.state.Topology.Cluster(name); known != nil {
		c.Nodes, c.ReadyNodes = len(known.Nodes), known.ReadyNodes
	}
	return c
}

// rest returns the clusters that were not taken, by name.
func (t *tally) rest() []Cluster {
	rest := make([]Cluster, 0, len(t.clusters))
	for _, name := range slices.Sorted(maps.Keys(t.clusters)) {
		rest = append(rest, t.pop(name))
	}
	return rest
}
