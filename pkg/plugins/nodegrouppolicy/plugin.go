// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodegrouppolicy is the scheduler plugin that shares the replicas of a workload out over
// clusters of nodes as its PropagationPolicy wants. What the shares are is decided in
// pkg/placement/apportion; this package gathers the input and answers the scheduling framework.
package nodegrouppolicy

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/cyclestate"
	"berth.dev/berth/pkg/plugins/internal/narrow"
	"berth.dev/berth/pkg/plugins/internal/takeover"
	"berth.dev/berth/pkg/plugins/internal/view"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// Name is the name of the plugin in a KubeSchedulerConfiguration.
const Name = "NodeGroupPolicy"

const (
	// errReasonNoCluster is the reason for nodes that lie in no cluster the policy names.
	errReasonNoCluster = "node(s) in no cluster of the policy"

	// errReasonShareUsedUp is the reason for nodes of clusters that hold all replicas that the
	// policy grants them.
	errReasonShareUsedUp = "node(s) in clusters that have their share of replicas"

	// errReasonOtherSeat is the reason for nodes of clusters to which the ordinal or completion
	// index of the pod does not belong.
	errReasonOtherSeat = "node(s) in clusters that do not hold the seat of the pod"

	// errReasonLaterTurn is the reason for nodes of clusters whose turn comes after that of another
	// cluster with room, for workloads whose number of replicas is not known.
	errReasonLaterTurn = "node(s) in clusters whose turn comes later"

	// errReasonCordoned is the reason for nodes of clusters that are cordoned.
	errReasonCordoned = "node(s) in cordoned clusters"

	// errReasonPolicyNotFound rejects a pod that asks by annotation for a policy that does not exist.
	errReasonPolicyNotFound = "the policy that the pod asks for does not exist"

	// errReasonPolicyInvalid rejects the pods of a policy that cannot be carried out.
	errReasonPolicyInvalid = "the policy of the pod cannot be carried out, see its condition Accepted"

	// errReasonOwnerNotFound rejects a pod whose controller is not known, so that nobody can tell
	// which policy is in force.
	errReasonOwnerNotFound = "the owner of the pod does not exist or is not known yet"

	// errReasonUnreadable rejects pods while Clusters and PropagationPolicies have never been read.
	errReasonUnreadable = "Clusters and PropagationPolicies cannot be read"

	// errReasonContended rejects a pod after a change of the leader, until it is certain that the
	// leader before gives the seat of the pod to no other pod of the workload.
	errReasonContended = "the scheduler that led before may still be placing other pods of the workload"

	// errReasonNotListed holds the pods of policies back until a new leader has listed the pods that
	// others have bound.
	errReasonNotListed = "the pods that other schedulers have bound have not been listed yet"

	// errReasonNotRead holds pods back until Clusters and PropagationPolicies have been read for
	// the first time.
	errReasonNotRead = "Clusters and PropagationPolicies have not been read yet"

	// errReasonBeyondShare is told when a pod is about to be tried beyond the shares of its policy.
	errReasonBeyondShare = "no cluster with a free place could take the pod, trying the others"

	// errReasonLookFurther is told when a pod is about to be tried on all nodes of its clusters,
	// after some of them.
	errReasonLookFurther = "no node of a first selection could take the pod, trying all nodes of its clusters"
)

// skip is the answer for pods that the plugin does not concern. The framework only reads it.
var skip = fwk.NewStatus(fwk.Skip)

// Shared is what the instances of the plugin, one for each profile, have in common.
type Shared struct {
	// Clock is the time that recounts go by.
	Clock clock.PassiveClock
	// Catalog knows Clusters and policies.
	Catalog *catalog.Catalog
	// Owners finds the workload of a pod.
	Owners workload.Source
	// View counts who runs where. It is used inside scheduling cycles only.
	View *view.View
	// Reservations remembers the stamps of pods that are being bound.
	Reservations *view.Reservations
	// Elsewhere knows which seats others have given to pods a moment ago.
	Elsewhere *view.Elsewhere
	// Retries remembers which pods are to be tried beyond the shares of their policy.
	Retries *Retries
	// Waiting chooses who is woken when a replica gives up its place.
	Waiting *waitlist.List
	// Pod returns a pod that the informer knows, nil if it does not.
	Pod func(namespace, name string) *corev1.Pod
	// Early lets pods into the queue while that is being filled.
	Early *takeover.Early
	// Seed tells whether it is known which pods other processes have bound, and Late which pods the
	// process before may still bind.
	Seed *takeover.Seed
	Late *takeover.LateSeats
	// Own returns the clusters of this process, by their ID in the view, if it shares the clusters
	// with other schedulers; nil for never.
	Own func(cycle fwk.CycleState) (own []bool, shared bool)

	names narrow.Sets
	told  told
}

// NodeGroupPolicy is a plugin that admits pods to clusters that are below their share of the
// replicas.
type NodeGroupPolicy struct {
	handle   fwk.Handle
	shared   *Shared
	sampling bool
	kept     cyclestate.Kept
}

var (
	_ fwk.PreEnqueuePlugin  = &NodeGroupPolicy{}
	_ fwk.EnqueueExtensions = &NodeGroupPolicy{}
	_ fwk.SignPlugin        = &NodeGroupPolicy{}
	_ fwk.PreFilterPlugin   = &NodeGroupPolicy{}
	_ fwk.FilterPlugin      = &NodeGroupPolicy{}
	_ fwk.PostFilterPlugin  = &NodeGroupPolicy{}
	_ fwk.PreScorePlugin    = &NodeGroupPolicy{}
	_ fwk.ScorePlugin       = &NodeGroupPolicy{}
	_ fwk.ReservePlugin     = &NodeGroupPolicy{}
)

// New returns the plugin for one profile. In a profile that sets percentageOfNodesToScore, as many
// nodes as that are looked at for a pod of a policy; otherwise about a hundred.
func New(handle fwk.Handle, shared *Shared) *NodeGroupPolicy {
	return &NodeGroupPolicy{handle: handle, shared: shared, sampling: narrow.Samples(handle)}
}

// Name returns the name of the plugin.
func (*NodeGroupPolicy) Name() string {
	return Name
}

// PreEnqueue holds every pod back until the policies have been read once: a pod that was bound
// before its policy was seen cannot be called back. It holds those that a policy may concern until
// a new leader knows what others have bound. If something cannot be read the pod passes, and
// PreFilter tells why it waits.
func (p *NodeGroupPolicy) PreEnqueue(_ context.Context, pod *corev1.Pod) *fwk.Status {
	snapshot := p.shared.Catalog.Snapshot()
	switch {
	case p.shared.Early.Lets(pod):
		return nil
	case snapshot == nil && p.shared.Catalog.Unreadable() == nil:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonNotRead)
	case snapshot != nil && !p.shared.Seed.Done() && p.shared.Seed.Failure() == nil && !unconcerned(snapshot, pod):
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonNotListed)
	}
	return nil
}

// unconcerned is the quick answer for pods that the plugin does not concern: no policy can, and no
// cluster is cordoned.
func unconcerned(snapshot *catalog.Snapshot, pod *corev1.Pod) bool {
	return len(snapshot.Cordoned) == 0 && Policyless(snapshot, pod)
}

// Policyless reports whether it is plain that no policy can be in force for a pod.
func Policyless(snapshot *catalog.Snapshot, pod *corev1.Pod) bool {
	return pod.Annotations[berthv1alpha1.PolicyAnnotation] == "" && !snapshot.Matcher.Any(pod.Namespace) ||
		pod.Annotations[berthv1alpha1.PolicyAnnotation] == berthv1alpha1.PolicyNone
}

// rejection turns an error of policyOf into the reason that the user sees.
func rejection(err error) *fwk.Status {
	switch {
	case errors.Is(err, policymatch.ErrNotFound):
		return reject(reasonPolicyNotFound)
	case errors.Is(err, workload.ErrOwnerNotFound):
		return reject(reasonOwnerNotFound)
	default:
		return fwk.AsStatus(err)
	}
}
