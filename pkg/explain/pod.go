// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/explain/placement"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
)

// PodState says what has become of a pod.
type PodState string

const (
	waiting     PodState = "Waiting"
	placed      PodState = "Placed"
	bound       PodState = "Bound"
	terminating PodState = "Terminating"
	finished    PodState = "Finished"
)

// PodAnswer tells why a pod runs where it does, or waits. The names of its fields are a promise to
// programs.
type PodAnswer struct {
	Namespace     string        `json:"namespace"`
	Pod           string        `json:"pod"`
	SchedulerName string        `json:"schedulerName"`
	State         PodState      `json:"state"`
	Workload      *WorkloadInfo `json:"workload,omitempty"`
	// Subscription is the one that lists the workload of a pod that waits.
	Subscription *SubscriptionInfo `json:"subscription,omitempty"`
	Policy       *PolicyInfo       `json:"policy,omitempty"`
	// Placement is where a bound pod runs.
	Placement *PlacementInfo `json:"placement,omitempty"`
	// FixedSeat is the seat of a pod that its controller numbers.
	FixedSeat *int32   `json:"fixedSeat,omitempty"`
	Reasons   []string `json:"reasons"`
	// Clusters are those of the policy, by name.
	Clusters []ClusterInfo `json:"clusters,omitempty"`
	// OtherNodes is the number of nodes in no cluster of the policy.
	OtherNodes *int `json:"otherNodes,omitempty"`
	// Resources are the ClusterResources that the pod asks for, by name.
	Resources []ResourceInfo `json:"resources,omitempty"`
	// Scheduler is what the scheduler last said about the pod.
	Scheduler *SchedulerInfo `json:"scheduler,omitempty"`
}

// WorkloadInfo is what a pod belongs to.
type WorkloadInfo struct {
	berthv1alpha1.WorkloadReference `json:",inline"`

	// Replicas is the number of replicas wanted; absent if Berth cannot know it.
	Replicas *int32 `json:"replicas,omitempty"`
}

// PolicyInfo is the policy in force and how it came to be.
type PolicyInfo struct {
	Name string `json:"name"`
	// SelectedBy is annotation, name, labels or kind.
	SelectedBy        string `json:"selectedBy"`
	WhenUnsatisfiable string `json:"whenUnsatisfiable"`
	// Over are the policies that select the workload too, and lose.
	Over []string `json:"over,omitempty"`
}

// PlacementInfo is where a bound pod runs.
type PlacementInfo struct {
	Node string `json:"node"`
	// Cluster is where the node belongs now; empty if to none.
	Cluster string `json:"cluster"`
	// PlacedBy is the policy that placed the pod, PlacedIn the cluster it chose; both absent if
	// something else bound it.
	PlacedBy string `json:"placedBy,omitempty"`
	PlacedIn string `json:"placedIn,omitempty"`
	// Seat is absent from pods beyond the share of their cluster.
	Seat *int32 `json:"seat,omitempty"`
}

// SchedulerInfo is what the scheduler last said about a pod that it could not bind.
type SchedulerInfo struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Pod works out why a pod of the state's objects runs where it does, or waits. What it asks for of
// ClusterResources is told by AddResources.
func Pod(s *placement.State, pod *corev1.Pod) *PodAnswer {
	e := &PodAnswer{
		Namespace: pod.Namespace, Pod: pod.Name, SchedulerName: pod.Spec.SchedulerName, State: stateOf(pod),
		Placement: placementOf(s, pod), Scheduler: schedulerOf(pod), Reasons: []string{},
	}
	policy, w := e.findPolicy(s, pod)
	if policy == nil {
		e.explainEnd()
		return e
	}
	compiled := modelpolicy.Compile(policy, s.Topology.Sites())
	if compiled.Err != nil {
		e.becausef("policy %q cannot be carried out, so its pods wait: %v", policy.Name, compiled.Err)
		e.explainEnd()
		return e
	}
	asked := newQuestion(s, pod, policy, compiled.For(w).Order, w)
	if asked.fixed {
		e.FixedSeat = &asked.seat
	}
	e.Clusters = asked.clusters()
	others := asked.otherNodes()
	e.OtherNodes = &others
	e.explainGroups(compiled)
	e.explainCordons(asked)
	e.explainFailover(asked)
	e.explainLimits(asked)
	switch e.State {
	case waiting:
		e.explainWaiting(asked)
	case placed, bound:
		e.explainBound(asked)
	case terminating, finished:
	}
	e.explainEnd()
	return e
}

// Waits reports whether the pod has no node yet.
func (e *PodAnswer) Waits() bool { return e.State == waiting }

func (e *PodAnswer) becausef(format string, args ...any) {
	e.Reasons = append(e.Reasons, fmt.Sprintf(format, args...))
}

// findPolicy finds the workload and the policy in force. If there is none it says why.
func (e *PodAnswer) findPolicy(
	s *placement.State, pod *corev1.Pod,
) (*berthv1alpha1.PropagationPolicy, *workload.Workload) {
	if e.State == waiting && !slices.Contains(s.Schedulers, pod.Spec.SchedulerName) {
		e.becausef("its schedulerName is %q, and Berth places only pods of %q: set it in the pod template, it cannot be "+
			"changed on a pod", pod.Spec.SchedulerName, strings.Join(s.Schedulers, `" or "`))
	}
	request := pod.Annotations[berthv1alpha1.PolicyAnnotation]
	w, err := workload.Of(pod, s.Objects.Source())
	if err != nil {
		if request != "" || s.Policies.Any(pod.Namespace) {
			e.becausef("nobody can tell which policy is in force: %v", err)
		}
		return nil, nil
	}
	e.explainWorkload(s, pod, &w)
	if e.explainSubscription(s, pod, &w) {
		return nil, nil
	}
	policy, by, err := s.InForce(pod, &w)
	switch {
	case errors.Is(err, policymatch.ErrNotFound):
		e.becausef("the annotation %s asks for policy %q, and there is none of that name in namespace %q",
			berthv1alpha1.PolicyAnnotation, request, pod.Namespace)
	case request == berthv1alpha1.PolicyNone:
		e.becausef("the annotation %s: %s keeps every policy away", berthv1alpha1.PolicyAnnotation, request)
	case policy == nil:
		e.becausef("no PropagationPolicy of namespace %q selects %s, so nothing limits where it goes",
			pod.Namespace, placement.Title(w.Kind, w.Name))
		e.explainSelectors(s, pod.Namespace)
	default:
		e.Policy = &PolicyInfo{
			Name: policy.Name, SelectedBy: by.String(), Over: losers(s, &w, policy),
			WhenUnsatisfiable: string(cmp.Or(policy.Spec.Placement.WhenUnsatisfiable, berthv1alpha1.DoNotSchedule)),
		}
	}
	return policy, &w
}

// explainWorkload names the workload of the pod, and says what nobody can tell of it.
func (e *PodAnswer) explainWorkload(s *placement.State, pod *corev1.Pod, w *workload.Workload) {
	e.Workload = &WorkloadInfo{WorkloadReference: w.Ref(), Replicas: w.KnownReplicas()}
	e.explainCut(s, pod, w.Cut)
	if why := workload.WhyUncounted(w, s.Objects.Source()); why != "" {
		e.becausef("its siblings take turns, because nobody can tell how many %s wants: %s", placement.Title(w.Kind, w.Name), why)
	}
}

// explainCut says why the chain of the controllers of the pod ends with a reference, if it does.
func (e *PodAnswer) explainCut(s *placement.State, pod *corev1.Pod, cut *metav1.OwnerReference) {
	if cut != nil {
		e.becausef("policies on %s and what is above it do not count for the pod: %s",
			placement.Title(cut.Kind, cut.Name), workload.WhyCut(pod, cut, s.Objects.Source()))
	}
}

func losers(s *placement.State, w *workload.Workload, winner *berthv1alpha1.PropagationPolicy) []string {
	var names []string
	for _, policy := range s.Policies.Claimants(w.Selectable()) {
		if policy.Name != winner.Name {
			names = append(names, policy.Name)
		}
	}
	return names
}

// maxProblems bounds how many selectors that select nothing are told.
const maxProblems = 5

// explainSelectors tells which selectors of the namespace cannot select anything: perhaps one of
// them was meant to.
func (e *PodAnswer) explainSelectors(s *placement.State, namespace string) {
	told := 0
	for i := range s.Objects.Policies {
		policy := &s.Objects.Policies[i]
		if policy.Namespace != namespace {
			continue
		}
		for _, problem := range policymatch.Problems(policy) {
			if told == maxProblems {
				return
			}
			e.becausef("policy %q has a selector that selects nothing: %s", policy.Name, problem.Message)
			told++
		}
	}
}

func stateOf(pod *corev1.Pod) PodState {
	_, stamped := stamp.Of(pod)
	switch {
	case workload.Finished(pod):
		return finished
	case pod.DeletionTimestamp != nil:
		return terminating
	case stamped:
		return placed
	case pod.Spec.NodeName != "":
		return bound
	default:
		return waiting
	}
}

func placementOf(s *placement.State, pod *corev1.Pod) *PlacementInfo {
	if pod.Spec.NodeName == "" {
		return nil
	}
	p := &PlacementInfo{Node: pod.Spec.NodeName, Cluster: s.Topology.ClusterOf(pod)}
	if given, stamped := stamp.Of(pod); stamped {
		p.PlacedBy, p.PlacedIn = given.Policy, given.Cluster
		if given.Seat != stamp.NoSeat {
			p.Seat = &given.Seat
		}
	}
	return p
}

// schedulerOf returns what the scheduler last said about a pod that it could not bind.
func schedulerOf(pod *corev1.Pod) *SchedulerInfo {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue {
			return &SchedulerInfo{Reason: c.Reason, Message: c.Message}
		}
	}
	return nil
}
