// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/placement/apportion"
)

// ClusterInfo is what a cluster of the policy says to the pod.
type ClusterInfo struct {
	Name string `json:"name"`
	// Group is the one of the policy's groups that the cluster is in.
	Group  string `json:"group,omitempty"`
	Exists bool   `json:"exists"`
	// Desired is the share of the cluster; absent if the number of replicas is not known.
	Desired *int `json:"desired,omitempty"`
	// Current is the number of bound pods of the pod's own revision.
	Current int `json:"current"`
	// FreeSeats is the number of seats that nobody holds, NextSeat the lowest of them.
	FreeSeats int        `json:"freeSeats"`
	NextSeat  *int       `json:"nextSeat,omitempty"`
	Nodes     NodeCounts `json:"nodes"`
	// Says is the answer in words.
	Says string `json:"says"`

	// admits reports whether the policy lets the pod into the cluster at present.
	admits bool
}

// question is a pod that asks the clusters of its policy for a place.
type question struct {
	state    *placement.State
	pod      *corev1.Pod
	workload *workload.Workload
	policy   *berthv1alpha1.PropagationPolicy
	order    *apportion.Order
	// plan is nil if the number of replicas is not known.
	plan *apportion.Plan
	// admission is which clusters may take the pod if every node fits it.
	admission admit.Admission
	// seat is the number that the pod's controller gave it, if fixed.
	seat  int32
	fixed bool
	// held are the seats of the pod's revision, by the index of the cluster.
	held []*apportion.Held
}

func newQuestion(
	s *placement.State, pod *corev1.Pod, policy *berthv1alpha1.PropagationPolicy, order *apportion.Order,
	w *workload.Workload,
) *question {
	q := &question{state: s, pod: pod, workload: w, policy: policy, order: order, held: make([]*apportion.Held, order.Len())}
	q.seat, q.fixed = q.ordinal(pod)
	switch {
	case q.fixed:
		q.plan = order.Plan(max(int64(w.Replicas), int64(q.seat)+1))
	case w.ReplicasKnown:
		q.plan = order.Plan(int64(w.Replicas))
	}
	for i := range q.held {
		q.held[i] = &apportion.Held{}
	}
	for i := range s.Objects.Pods {
		if sibling := &s.Objects.Pods[i]; q.counts(sibling) {
			if cluster, named := order.Index(s.Topology.ClusterOf(sibling)); named {
				q.held[cluster].Add(q.seatOf(sibling))
			}
		}
	}
	q.admission = q.admit()
	return q
}

// admit returns which clusters may take the pod. Clusters whose turn comes later do so, too:
// whether a node of the first one fits is for the scheduler to say.
func (q *question) admit() admit.Admission {
	asked := admit.Question{
		Order: q.order, Plan: q.plan, Seat: admit.NoSeat, Held: make([]int32, len(q.held)), Strict: true, Beyond: true,
	}
	if q.fixed {
		asked.Seat = q.seat
	}
	for i := range q.held {
		asked.Held[i] = int32(q.held[i].Len())
	}
	return admit.Answer(&asked)
}

func (q *question) ordinal(pod *corev1.Pod) (int32, bool) {
	return workload.Ordinal(pod, q.workload.FirstOrdinal)
}

// counts reports whether another pod holds a seat of the same revision. A number that the
// workload's controller gave is a seat whatever the revision. Pods without an owner share the seats
// of the policy that placed them.
func (q *question) counts(pod *corev1.Pod) bool {
	if pod.Namespace != q.pod.Namespace || pod.Spec.NodeName == "" || !workload.Lives(pod) {
		return false
	}
	given, _ := stamp.Of(pod)
	mine, _ := workload.RevisionUnder(q.pod, q.policy.Name)
	theirs, _ := workload.RevisionUnder(pod, given.Policy)
	return mine == theirs || q.fixed && mine.Owner == theirs.Owner
}

func (q *question) seatOf(pod *corev1.Pod) int64 {
	if seat, fixed := q.ordinal(pod); fixed {
		return int64(seat)
	}
	if given, stamped := stamp.Of(pod); stamped {
		return int64(given.Seat)
	}
	return stamp.NoSeat
}

// clusters returns what the clusters say, by name.
func (q *question) clusters() []ClusterInfo {
	infos := make([]ClusterInfo, q.order.Len())
	for i := range infos {
		infos[i] = q.ask(i)
	}
	slices.SortFunc(infos, func(a, b ClusterInfo) int { return strings.Compare(a.Name, b.Name) })
	return infos
}

func (q *question) ask(cluster int) ClusterInfo {
	c := ClusterInfo{Name: q.order.Name(cluster), Current: q.held[cluster].Len()}
	if q.order.Groups() > 0 {
		c.Group = q.order.GroupName(q.order.GroupOf(cluster))
	}
	if known := q.state.Topology.Cluster(c.Name); known != nil {
		c.Exists = true
		c.Nodes = countNodes(q.pod, known.Nodes)
	}
	if q.plan != nil {
		share := q.plan.Share(cluster)
		c.Desired = &share
		c.FreeSeats = max(0, q.plan.Free(cluster, q.held[cluster]))
		if next, ok := q.plan.FirstFreeOf(cluster, q.held[cluster]); ok {
			c.NextSeat = &next
		}
	}
	c.admits = q.admission.Admits(int32(cluster))
	c.Says = q.answer(cluster, &c) + c.nodesSay()
	return c
}

// answer returns why the policy lets the pod into a cluster, or does not.
func (q *question) answer(cluster int, c *ClusterInfo) string {
	switch {
	case q.fixed && c.admits:
		return fmt.Sprintf("owns seat %d", q.seat)
	case q.fixed:
		return fmt.Sprintf("does not own seat %d", q.seat)
	case q.plan == nil && c.admits:
		return fmt.Sprintf("is asked as number %d", q.admission.Turn(int32(cluster)))
	case q.plan == nil:
		return "is at its max"
	case c.FreeSeats == 1:
		return "has 1 free seat"
	case c.FreeSeats > 1:
		return fmt.Sprintf("has %d free seats", c.FreeSeats)
	case c.Current > *c.Desired:
		return fmt.Sprintf("has %d more than its share", c.Current-*c.Desired)
	case *c.Desired == 0:
		return "has no share in so few replicas"
	default:
		return "has its share"
	}
}

// nodesSay says what keeps an admitted pod from the nodes of a cluster.
func (c *ClusterInfo) nodesSay() string {
	switch {
	case !c.Exists:
		return ", but does not exist"
	case c.Nodes.Total == 0:
		return ", but has no nodes"
	case c.admits && c.Nodes.Usable == 0:
		return ", but none of its nodes can take the pod"
	default:
		return ""
	}
}

// otherNodes counts the nodes in no cluster of the policy.
func (q *question) otherNodes() int {
	others := 0
	for i := range q.state.Objects.Nodes {
		_, cluster := q.state.Topology.Place(q.state.Objects.Nodes[i].Name)
		if _, named := q.order.Index(cluster); !named {
			others++
		}
	}
	return others
}
