// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/workload"
)

// Result is what a simulation found. Its JSON form is stable: fields may be added, none changes its
// meaning.
type Result struct {
	// Workloads are those that have or want pods, by namespace, kind and name.
	Workloads []Workload `json:"workloads"`
	// Evictions are the pods that would be evicted, in order.
	Evictions []Eviction `json:"evictions"`
	// Kept are the pods that would not leave nodes that are drained; absent if all would.
	Kept []Kept `json:"kept,omitempty"`
}

// Workload is one workload of a Result.
type Workload struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	// Replicas is how many pods it wants in the end; absent if it does not say.
	Replicas *int32 `json:"replicas,omitempty"`
	// Clusters are where its pods run, by name. The one without a name stands for the nodes that
	// are in no Cluster.
	Clusters []ClusterPods `json:"clusters"`
	// Waiting are its pods that find no place in the end.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Held says why pods that run outside of their share stay there; absent if none does.
	Held string `json:"held,omitempty"`
}

// ClusterPods is how many pods of a workload run in a Cluster.
type ClusterPods struct {
	Name   string `json:"name"`
	Before int    `json:"before"`
	After  int    `json:"after"`
}

// Waiting are pods that wait for the same reason.
type Waiting struct {
	Pods int `json:"pods"`
	// Reason is in the words of the scheduler; for pods that are not even made, in those of the API
	// server, or of what an Application says that no cluster suits.
	Reason string `json:"reason"`
	// Created is false for pods that are not made.
	Created bool `json:"created"`
}

// Eviction is a pod that would be evicted.
type Eviction struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Node      string `json:"node"`
	// Cluster is where it runs; absent if the node is in none.
	Cluster string `json:"cluster,omitempty"`
	// To is the Cluster that is short of it; absent if it is not evicted for the sake of one.
	To     string `json:"to,omitempty"`
	Reason string `json:"reason"`
}

// Kept is a pod that would not leave a node that is drained.
type Kept struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Node      string `json:"node"`
	// Cluster is where it runs; absent if the node is in none.
	Cluster string `json:"cluster,omitempty"`
	// Reason is in the words of the API server.
	Reason string `json:"reason"`
}

// orderedReason is why a StatefulSet has not made a pod.
const orderedReason = "the pod with the number before waits"

// Fits reports whether nothing would wait, neither for a node nor to leave one.
func (r *Result) Fits() bool {
	return len(r.Kept) == 0 && !slices.ContainsFunc(r.Workloads, func(w Workload) bool { return len(w.Waiting) > 0 })
}

// Shares are how many pods of each workload run in each Cluster.
type Shares map[reference]map[place]int

// reference names a workload.
type reference struct{ namespace, kind, name string }

// place is a Cluster, or a node that is in none: it may be in one later, without a pod moving.
type place struct{ cluster, node string }

// Shares returns where pods run now.
func (s *Simulation) Shares() Shares {
	shares := Shares{}
	for _, o := range s.observe() {
		shares[reference{o.Namespace, o.Kind, o.Name}] = s.sharesOf(o)
	}
	return shares
}

func (s *Simulation) sharesOf(o *workload.Observed) map[place]int {
	of := map[place]int{}
	for _, pod := range o.Pods {
		if pod.Spec.NodeName == "" {
			continue
		}
		at := place{cluster: s.clusterOf(pod)}
		if at.cluster == "" {
			at.node = pod.Spec.NodeName
		}
		of[at]++
	}
	return of
}

// Forget forgets the evictions so far: what led to the state before is nobody's question.
func (s *Simulation) Forget() { s.evicted = nil }

// Result returns what there is now, beside what was before.
func (s *Simulation) Result(before Shares) *Result {
	r := &Result{Workloads: []Workload{}, Evictions: make([]Eviction, len(s.evicted))}
	copy(r.Evictions, s.evicted)
	for _, pod := range s.sortedPods() {
		if s.draining[pod.UID] {
			r.Kept = append(r.Kept, Kept{pod.Namespace, pod.Name, pod.Spec.NodeName, s.clusterOf(pod), s.keptBy(pod)})
		}
	}
	refused := s.refusedOf()
	seen := map[reference]bool{}
	for _, o := range s.observe() {
		ref := reference{o.Namespace, o.Kind, o.Name}
		seen[ref] = true
		w := Workload{Namespace: o.Namespace, Kind: o.Kind, Name: o.Name, Replicas: o.KnownReplicas(), Held: s.held[o.UID]}
		w.Clusters = s.merge(before[ref], s.sharesOf(o))
		w.Waiting = s.waitingOf(o, refused[o.UID])
		delete(refused, o.UID)
		r.Workloads = append(r.Workloads, w)
	}
	for ref, shares := range before {
		if !seen[ref] && len(shares) > 0 {
			r.Workloads = append(r.Workloads, Workload{Namespace: ref.namespace, Kind: ref.kind, Name: ref.name, Clusters: s.merge(shares, nil)})
		}
	}
	r.Workloads = append(append(r.Workloads, s.unmade(refused)...), s.unscheduled(seen)...)
	slices.SortFunc(r.Workloads, func(a, b Workload) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return r
}

// merge compares what was with what is. Nodes that were in no Cluster count for the one that they
// are in now.
func (s *Simulation) merge(before, after map[place]int) []ClusterPods {
	byName := map[string]ClusterPods{}
	for at, n := range before {
		name := cmp.Or(at.cluster, s.clusterOfNode(at.node))
		byName[name] = ClusterPods{Name: name, Before: byName[name].Before + n}
	}
	for at, n := range after {
		c := byName[at.cluster]
		c.Name, c.After = at.cluster, c.After+n
		byName[at.cluster] = c
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b ClusterPods) int { return cmp.Compare(a.Name, b.Name) })
}

// refusedOf returns the refusals by the UID of the workload: that of a ReplicaSet is its
// Deployment's.
func (s *Simulation) refusedOf() map[types.UID][]Waiting {
	of := map[types.UID][]Waiting{}
	for _, i := range s.ids() {
		o := s.objects[i]
		refusal, found := s.refused[o.GetUID()]
		if !found {
			continue
		}
		root := o.GetUID()
		if ref := metav1.GetControllerOfNoCopy(o); ref != nil && workload.KindFor(ref.APIVersion, ref.Kind) != nil {
			root = ref.UID
		}
		of[root] = append(of[root], Waiting{Pods: refusal.missing, Reason: refusal.reason})
	}
	return of
}

// unmade returns the workloads that have no pod because all were refused, of kinds that nobody
// observes without pods.
func (s *Simulation) unmade(refused map[types.UID][]Waiting) []Workload {
	var found []Workload
	for _, i := range s.ids() {
		if waiting := refused[s.objects[i].GetUID()]; len(waiting) > 0 {
			found = append(found, Workload{Namespace: i.Namespace, Kind: i.Kind, Name: i.Name, Clusters: []ClusterPods{}, Waiting: waiting})
		}
	}
	return found
}

// waitingOf returns the pods of a workload that wait, the most first.
func (s *Simulation) waitingOf(o *workload.Observed, refused []Waiting) []Waiting {
	reasons, there := map[string]int{}, len(o.Pods)
	for _, pod := range o.Pods {
		if pod.Spec.NodeName == "" {
			reasons[s.tried[pod.UID].reasons]++
		}
	}
	waiting := make([]Waiting, 0, len(reasons)+len(refused)+1)
	for reason, pods := range reasons {
		waiting = append(waiting, Waiting{Pods: pods, Reason: reason, Created: true})
	}
	for _, r := range refused {
		there += r.Pods
	}
	waiting = append(waiting, refused...)
	if missing := int(o.Replicas) - there; o.ReplicasKnown && missing > 0 {
		waiting = append(waiting, Waiting{Pods: missing, Reason: orderedReason})
	}
	slices.SortFunc(waiting, func(a, b Waiting) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(a.Reason, b.Reason))
	})
	return waiting
}
