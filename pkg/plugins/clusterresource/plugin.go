// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clusterresource is the scheduler plugin that gives out ClusterResources: licences,
// addresses, bandwidth and whatever else belongs to no node. Which pool is charged is decided in
// pkg/placement/pool, and what pods hold is known to the ledger; this package gathers the input and
// answers the scheduling framework.
package clusterresource

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"

	"berth.dev/berth/apis/config"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/plugins/clusterresource/internal/preemption"
	"berth.dev/berth/pkg/plugins/clusterresource/internal/spending"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/cyclestate"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/narrow"
	"berth.dev/berth/pkg/plugins/internal/takeover"
	"berth.dev/berth/pkg/plugins/internal/view"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// Name is the name of the plugin in a KubeSchedulerConfiguration.
const Name = "ClusterResource"

const (
	// errReasonUsedUp and the name of a ClusterResource, in "node(s) whose pools of %s are used
	// up", is the reason for nodes whose pools have not enough left.
	errReasonUsedUp = "node(s) whose pools of %s are used up"

	// errReasonUngranted is the reason for nodes whose pools have enough left, which other
	// schedulers were granted.
	errReasonUngranted = "node(s) whose pools of %s have enough left only for other schedulers"

	// errReasonTooSmall is the reason for nodes whose pools are smaller than what the pod asks for.
	errReasonTooSmall = "node(s) whose pools of %s are too small"

	// errReasonNoPool is the reason for nodes that no pool of the ClusterResource selects.
	errReasonNoPool = "node(s) in no pool of %s"

	// errReasonNotFound rejects a pod that asks for a ClusterResource that does not exist.
	errReasonNotFound = "cluster resource %s does not exist"

	// errReasonDeleting rejects a pod that asks for a ClusterResource that is going to be gone.
	errReasonDeleting = "cluster resource %s is being deleted"

	// errReasonInvalid rejects the pods that ask for a ClusterResource whose pools cannot be used.
	errReasonInvalid = "the pools of cluster resource %s cannot be used, see its condition Ready"

	// errReasonTooFine rejects a pod that asks for a part of a unit.
	errReasonTooFine = "the request for cluster resource %s is no multiple of its unit"

	// errReasonUnreadable rejects pods that ask for ClusterResources while these have never been
	// read.
	errReasonUnreadable = "ClusterResources cannot be read"

	// errReasonNotRead holds such pods back until ClusterResources have been read for the first
	// time.
	errReasonNotRead = "ClusterResources have not been read yet"

	// errReasonUncounted rejects such pods while a new leader cannot find out what pods hold.
	errReasonUncounted = "what pods hold of ClusterResources cannot be read"

	// errReasonNotCounted holds such pods back until a new leader has found out what pods hold.
	errReasonNotCounted = "what pods hold of ClusterResources has not been read yet"

	// errReasonUnsettled holds a pod back for a moment while the leader before may have given away
	// all that is free of what it asks for.
	errReasonUnsettled = "what the leader before may have given to pods is being settled"

	// errReasonBound rejects a pod that a leader before has bound, of which the informer does not
	// know that yet. To charge it again would lose sight of what it holds.
	errReasonBound = "the pod has been bound by the leader before"

	// errReasonEvicting holds a pod back while the pods that make way for it are being deleted.
	errReasonEvicting = "pods that make way for it are being deleted"

	// errReasonAwaitingRelease is told when a pod waits for holders that are on their way out
	// already.
	errReasonAwaitingRelease = "waiting for pods that are terminating to give back what they hold"

	// errReasonLookFurther is told when a pod is about to be tried on all nodes whose pools have
	// enough, after some of them.
	errReasonLookFurther = "no node of a first selection could take the pod, trying all nodes whose pools have enough"

	// errReasonNoVictims is told when preemption cannot help.
	errReasonNoVictims = "no pods of lower priority hold what is missing"
)

// skip is the answer for pods that the plugin does not concern. The framework only reads it.
var skip = fwk.NewStatus(fwk.Skip)

// Shared is what the instances of the plugin, one for each profile, have in common.
type Shared struct {
	// Clock is the time that the plugin goes by.
	Clock clock.WithTickerAndDelayedExecution
	// Catalog knows ClusterResources.
	Catalog *catalog.ResourceCatalog
	// Membership returns which node lies in which cluster, for the view; nil while that is not
	// known.
	Membership func() view.Membership
	// View drives the ledger. Both are used inside scheduling cycles only.
	View *view.View
	// Ledger knows what pods hold.
	Ledger *ledger.Ledger
	// Pending remembers the charges of pods that are being bound.
	Pending *ledger.Pending
	// Seed tells whether the charges of pods that another process bound are known.
	Seed *takeover.Seed
	// Early lets pods into the queue while that is being filled.
	Early *takeover.Early
	// Late knows what the process before may still give out.
	Late *spending.LateUnits
	// Grants limit what this process may give out.
	Grants *spending.Grants
	// Ahead are the pods of other schedulers that come before some of this one.
	Ahead *spending.Ahead
	// Waiting knows which pods wait for what.
	Waiting *waitlist.Units
	// Earmarks keep what was freed for a pod.
	Earmarks *preemption.Earmarks
	// Retries remembers which pods are to be tried on all nodes instead of a sample.
	Retries narrow.Thorough
	// Restricted reports whether another plugin leaves only some nodes to the pod of a cycle.
	Restricted func(cycle fwk.CycleState) bool
	// Left returns what reports of a node whether other plugins leave it to the pod of a cycle, nil
	// if they leave all nodes to it.
	Left func(cycle fwk.CycleState) func(node string) bool
	// Preempted is told of pods that would have to make way, which are deleted if it is nil.
	Preempted func(victims []*corev1.Pod)
	// Removes is told of each pod before it is deleted so that another can run, nil for nobody.
	Removes func(victim *corev1.Pod)
	// Removed is told of each pod that was deleted so that another can run, nil for nobody.
	Removed func(pod, victim *corev1.Pod)

	names siteNames
}

// NewShared returns what belongs to the plugin alone. The other fields are the caller's to set.
// Self is the name of the Scheduler of this process, empty for none. Waits reports whether a pod
// still is there and has no node.
func NewShared(clock clock.WithTickerAndDelayedExecution, self string, waits func(*corev1.Pod) bool) *Shared {
	s := &Shared{
		Clock: clock, Late: spending.NewLate(), Grants: spending.NewGrants(self),
		Ahead: spending.NewAhead(clock), Earmarks: preemption.NewEarmarks(clock),
	}
	s.Waiting = waitlist.NewUnits(clock, kept{s}, s.Grants.Mine, waits)
	return s
}

// kept is what is kept for pods that others make way for, and for those of other schedulers that
// come first.
type kept struct{ shared *Shared }

// Kept returns it, the highest priority first.
func (k kept) Kept() []waitlist.Mark {
	marks, ahead := k.shared.Earmarks.Kept(), k.shared.Ahead.Marks(k.shared.unitOf)
	if len(ahead) == 0 {
		return marks
	}
	marks = append(marks, ahead...)
	slices.SortStableFunc(marks, func(a, b waitlist.Mark) int { return cmp.Compare(b.Priority, a.Priority) })
	return marks
}

// unitOf returns the unit of a ClusterResource, false if its pools are not known.
func (s *Shared) unitOf(name string) (unit resource.Quantity, known bool) {
	resources := s.Catalog.Snapshot()
	if resources == nil {
		return unit, false
	}
	if r := resources.Get(name); r != nil && r.Pools != nil {
		return r.Pools.Unit(), true
	}
	return unit, false
}

// ClusterResource is a plugin that admits pods where the pools have enough left for them.
type ClusterResource struct {
	handle    fwk.Handle
	shared    *Shared
	preemptor *preemption.Preemptor
	strategy  config.ScoringStrategy
	sampling  bool
	// holds reports whether a pod that gave something back held it still when the cycle began.
	holds func(types.UID) bool
	kept  cyclestate.Kept
}

var (
	_ fwk.PreEnqueuePlugin  = &ClusterResource{}
	_ fwk.EnqueueExtensions = &ClusterResource{}
	_ fwk.SignPlugin        = &ClusterResource{}
	_ fwk.PreFilterPlugin   = &ClusterResource{}
	_ fwk.FilterPlugin      = &ClusterResource{}
	_ fwk.PostFilterPlugin  = &ClusterResource{}
	_ fwk.PreScorePlugin    = &ClusterResource{}
	_ fwk.ScorePlugin       = &ClusterResource{}
	_ fwk.ReservePlugin     = &ClusterResource{}
)

// RegisterMetrics makes the metrics of the plugin visible. It may be called more than once.
func RegisterMetrics() {
	preemption.RegisterMetrics()
}

// New returns the plugin for one profile. In a profile that sets percentageOfNodesToScore, as many
// nodes as that are looked at; otherwise about a hundred of those whose pools have enough.
func New(handle fwk.Handle, shared *Shared, args *config.ClusterResourceArgs) *ClusterResource {
	return &ClusterResource{
		handle: handle, shared: shared, strategy: args.ScoringStrategy, sampling: narrow.Samples(handle),
		holds: shared.Ledger.Lingers,
		preemptor: &preemption.Preemptor{
			Plugin: Name, Handle: handle, Clock: shared.Clock, Holders: shared.Ledger, Mine: shared.Grants.Mine,
			Earmarks: shared.Earmarks, Report: func() func([]*corev1.Pod) { return shared.Preempted },
			Removes: shared.Removes, Removed: shared.Removed,
			Claims: func(cycle fwk.CycleState) preemption.Claims { return cyclestate.Read[*state](cycle, stateKey) },
		},
	}
}

// Name returns the name of the plugin.
func (*ClusterResource) Name() string {
	return Name
}

// PreEnqueue holds pods that ask for ClusterResources back until it is known what there is and who
// holds it, for a moment while the leader before may have given away all of it, and while pods are
// being deleted for them.
func (p *ClusterResource) PreEnqueue(ctx context.Context, pod *corev1.Pod) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PreEnqueue", &status)
	if !demand.Asks(pod) {
		return nil
	}
	switch {
	case p.shared.Early.Lets(pod):
		return nil
	case p.shared.Catalog.Snapshot() == nil && p.shared.Catalog.Unreadable() == nil:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonNotRead)
	case !p.shared.Seed.Done() && p.shared.Seed.Failure() == nil:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonNotCounted)
	case p.shared.Late.Hold(pod, p.shared.usablePools):
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonUnsettled)
	case p.shared.Earmarks.Evicting(pod.UID):
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonEvicting)
	}
	return nil
}

// SignPod lets pods that ask for no ClusterResource be scheduled in batches. The others are not
// signed, because what one takes the next one does not get.
func (p *ClusterResource) SignPod(ctx context.Context, pod *corev1.Pod) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "SignPod", &status)
	if demand.Asks(pod) {
		return nil, fwk.NewStatus(fwk.Unschedulable, "pods that ask for cluster resources are placed one by one")
	}
	return nil, nil
}
