// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
)

// Bound remembers that a pod was bound to a node with the annotations of its binding.
func (s *State) Bound(pod *corev1.Pod, node string, annotations map[string]string) {
	if !s.History.On() {
		return
	}
	s.History.Note(func() history.Entry {
		e := s.entry(pod, history.Placed)
		e.Place = s.placeOf(pod, node, annotations)
		return e
	})
}

// failed remembers that an attempt to schedule a pod has failed.
func (s *State) failed(pod *corev1.Pod, status *fwk.Status, nominating *fwk.NominatingInfo) {
	if !s.History.On() {
		return
	}
	nominated := ""
	if nominating.Mode() == fwk.ModeOverride {
		nominated = nominating.NominatedNodeName
	}
	if nominated != "" {
		s.victims.nominates(pod, nominated)
	}
	s.History.NoteKeyed(s.attempt(pod, status, nominated))
}

// attempt returns what makes the entry of a failed attempt, but for what takes long, and what adds
// that.
func (s *State) attempt(pod *corev1.Pod, status *fwk.Status, nominated string) (entry func() history.Entry, complete func(*history.Entry)) {
	fit := (*framework.FitError)(nil)
	errors.As(status.AsError(), &fit)
	entry = func() history.Entry {
		e := s.entry(pod, history.Failed)
		if status.IsRejected() {
			e.Decision = history.Unschedulable
		}
		if fit != nil {
			e.Key = keyOf(fit) + nominated
		}
		return e
	}
	return entry, func(e *history.Entry) {
		if e.Message = status.Message(); nominated != "" {
			e.Message += " It is nominated to node " + nominated + "."
		}
		if fit != nil {
			e.Reasons = s.reasonsOf(fit)
		}
	}
}

// preempted remembers that a pod was deleted for another.
func (s *State) preempted(pod, victim *corev1.Pod) {
	if !s.History.On() {
		return
	}
	s.History.Note(func() history.Entry {
		e := s.entry(victim, history.Preempted)
		asked := history.Pod(pod)
		e.For, e.Message = &asked, "for units of a cluster resource that it held"
		return e
	})
}

// entry returns an entry about a pod.
func (s *State) entry(pod *corev1.Pod, decision history.Decision) history.Entry {
	e := history.Entry{About: history.Pod(pod), Decision: decision}
	if w, err := workload.Of(pod, s.base.owners); err == nil && w.UID != pod.UID {
		e.Workload = history.Named(w.APIVersion, w.Kind, w.Namespace, w.Name, w.UID)
	}
	return e
}

// placeOf returns where a pod was bound and what it was given there.
func (s *State) placeOf(pod *corev1.Pod, node string, annotations map[string]string) *history.Place {
	bound := &corev1.Pod{}
	bound.UID, bound.Annotations, bound.Spec.NodeName = pod.UID, annotations, node
	place := &history.Place{Node: node}
	if given, stamped := stamp.Of(bound); stamped {
		place.Policy, place.Cluster = given.Policy, given.Cluster
		if given.Seat != stamp.NoSeat {
			place.Seat = &given.Seat
		}
	} else {
		place.Cluster = s.clusters()(node)
	}
	charges, _ := stamp.ChargesOf(bound)
	for i := range charges {
		c := &charges[i]
		place.Charges = append(place.Charges, history.Charge{Resource: c.Resource, Pool: c.Pool, Quantity: c.Quantity.String()})
	}
	return place
}

// keyOf returns what an attempt has in common with others that end with the same message. A pod
// that waits is tried again and again, and to count what its nodes say costs a part of the message.
func keyOf(fit *framework.FitError) string {
	diagnosis := &fit.Diagnosis
	untried := ""
	var tally history.Tally
	if statuses := diagnosis.NodeToStatus; statuses != nil && diagnosis.PreFilterMsg == "" {
		statuses.ForEachExplicitNode(func(_ string, status *fwk.Status) { tally.Add("", status.Reasons()) })
		untried = statuses.AbsentNodesStatus().Message()
	}
	return fmt.Sprint(fit.NumAllNodes, tally.Reasons().Clusters, untried, diagnosis.PreFilterMsg, diagnosis.PostFilterMsg)
}

// reasonsOf returns why an attempt found no node, by cluster.
func (s *State) reasonsOf(fit *framework.FitError) *history.Reasons {
	statuses := fit.Diagnosis.NodeToStatus
	if statuses == nil || fit.Diagnosis.PreFilterMsg != "" {
		return nil // no node was looked at, and the message says why
	}
	var tally history.Tally
	clusterOf := s.clusters()
	statuses.ForEachExplicitNode(func(node string, status *fwk.Status) {
		tally.Add(clusterOf(node), status.Reasons())
	})
	reasons := tally.Reasons()
	if statuses.Len() < fit.NumAllNodes {
		reasons.Untried = statuses.AbsentNodesStatus().Message()
	}
	return reasons
}

// clusters returns what tells in which cluster a node lies now, empty for none.
func (s *State) clusters() func(node string) string {
	membership, nodes := s.membership(), s.base.handle.SharedInformerFactory().Core().V1().Nodes().Lister()
	return func(name string) string {
		node, err := nodes.Get(name)
		if err != nil || membership == nil {
			return "" // it is gone, or no Clusters are known
		}
		cluster, _ := membership.ClusterOf(node.Name, node.Labels)
		return cluster
	}
}
