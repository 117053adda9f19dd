// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package homescheduler is the scheduler plugin by which several schedulers share the clusters:
// each places only the pods whose home it is, and only on the nodes of clusters that are bound to
// it. While there is no other scheduler it does nothing.
//
// A cluster changes hands only after its old scheduler has acknowledged that nothing of its own is
// under way there, so pods that are being bound are counted; and the new one places nothing there
// before its snapshot has every pod that the old one bound. So what other plugins count by cluster
// is exact although several processes place pods.
package homescheduler

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/internal/cyclestate"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/narrow"
)

// Name is the name of the plugin in a KubeSchedulerConfiguration.
const Name = "HomeScheduler"

const (
	// errReasonOtherHome is the reason for nodes that other schedulers look after.
	errReasonOtherHome = "node(s) that other schedulers look after"

	// errReasonOtherPod holds the pods of other schedulers back, and those that have no home yet.
	errReasonOtherPod = "the pod is another scheduler's or has no home yet"

	// errReasonNoNodes rejects the pods of a scheduler to which no cluster with nodes is bound.
	errReasonNoNodes = "no cluster with nodes is bound to the scheduler of the pod yet"

	// errReasonNotRead holds pods back until Schedulers have been read for the first time.
	errReasonNotRead = "Schedulers have not been read yet"

	// errReasonUnreadable rejects pods while Schedulers have never been read.
	errReasonUnreadable = "Schedulers cannot be read"

	// errReasonNoneRuns rejects pods while no Scheduler runs and it is not certain yet that none of
	// them binds anything more.
	errReasonNoneRuns = "no Scheduler runs: its lease has to run out before another scheduler takes over"

	// errReasonLookFurther is told when a pod is about to be tried on all nodes of its scheduler,
	// because no node of a sample could take it.
	errReasonLookFurther = "no node of a first selection could take the pod, trying all nodes of its scheduler"

	// errReasonMoved is told if a cluster was given up while a pod was about to go there.
	errReasonMoved = "the cluster of the node is bound to another scheduler now"
)

var (
	// skip is the answer while there is no other scheduler. The framework only reads it.
	skip = fwk.NewStatus(fwk.Skip)

	otherHome = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonOtherHome)
	otherPod  = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonOtherPod)
	noneRuns  = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonNoneRuns)
	notRead   = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonNotRead)
)

// HomeScheduler is a plugin that keeps to the clusters and pods of one of several schedulers.
type HomeScheduler struct {
	handle   fwk.Handle
	shared   *Shared
	sampling bool
}

var (
	_ fwk.PreEnqueuePlugin  = &HomeScheduler{}
	_ fwk.EnqueueExtensions = &HomeScheduler{}
	_ fwk.SignPlugin        = &HomeScheduler{}
	_ fwk.PreFilterPlugin   = &HomeScheduler{}
	_ fwk.FilterPlugin      = &HomeScheduler{}
	_ fwk.PostFilterPlugin  = &HomeScheduler{}
	_ fwk.ReservePlugin     = &HomeScheduler{}
	_ fwk.PostBindPlugin    = &HomeScheduler{}
)

// New returns the plugin for one profile. In a profile that sets percentageOfNodesToScore, as many
// nodes as that are looked at for a pod that no other plugin concerns; otherwise a tenth of those
// of the scheduler, but at least about a hundred.
func New(handle fwk.Handle, shared *Shared) *HomeScheduler {
	return &HomeScheduler{handle: handle, shared: shared, sampling: narrow.Samples(handle)}
}

// Name returns the name of the plugin.
func (*HomeScheduler) Name() string {
	return Name
}

// PreEnqueue holds the pods of other schedulers back. It writes nothing about them: they are not
// waiting for this process.
func (p *HomeScheduler) PreEnqueue(_ context.Context, pod *corev1.Pod) *fwk.Status {
	homes := p.shared.Catalog.Snapshot()
	switch {
	case p.shared.Early.Lets(pod):
		return nil
	case homes == nil && p.shared.Catalog.Unreadable() == nil:
		return notRead
	case homes == nil || p.shared.owns(homes, pod):
		return nil // PreFilter tells why it waits
	default:
		return otherPod
	}
}

// SignPod adds nothing: all pods of this process have the same nodes to choose from.
func (*HomeScheduler) SignPod(context.Context, *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return nil, nil
}

// EventsToRegister names what can help a pod that this plugin rejected. A change of a binding is
// not among it: that wakes the pods it concerns directly.
func (p *HomeScheduler) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodLabel},
			QueueingHintFn: guard.Hint(Name, p.isSchedulableAfterPodChange),
		},
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel},
			QueueingHintFn: guard.Hint(Name, p.isSchedulableAfterNodeChange),
		},
	}, nil
}

// isSchedulableAfterPodChange wakes the pod when it gets this scheduler as its home.
func (p *HomeScheduler) isSchedulableAfterPodChange(_ klog.Logger, pod, before, after *corev1.Pod) fwk.QueueingHint {
	if after == nil || after.UID != pod.UID ||
		before != nil && before.Labels[berthv1alpha1.HomeSchedulerLabel] == after.Labels[berthv1alpha1.HomeSchedulerLabel] {
		return fwk.QueueSkip
	}
	if homes := p.shared.Catalog.Snapshot(); homes != nil && !p.shared.owns(homes, after) {
		return fwk.QueueSkip
	}
	return fwk.Queue
}

// isSchedulableAfterNodeChange wakes the pod when a node may have come to the clusters of this
// scheduler. Which cluster that is cannot be told here for sure, and nodes come and go rarely.
func (p *HomeScheduler) isSchedulableAfterNodeChange(_ klog.Logger, pod *corev1.Pod, _, _ *corev1.Node) fwk.QueueingHint {
	if homes := p.shared.Catalog.Snapshot(); homes != nil && !p.shared.owns(homes, pod) {
		return fwk.QueueSkip
	}
	return fwk.Queue
}

const stateKey fwk.StateKey = "PreFilter" + Name

// state is what PreFilter has found out. Sampled is true if it has named some nodes of those that
// there are.
type state struct {
	*ownNodes
	sampled bool
}

// ownNodes are the nodes of this scheduler, and its clusters by their ID in the view.
type ownNodes struct {
	nodes    sets.Set[string]
	clusters []bool
}

// OwnClusters returns the clusters to which the pod of a cycle is kept, by their ID in the view;
// shared is false if it is kept to none.
func OwnClusters(cycle fwk.CycleState) (own []bool, shared bool) {
	if s := cyclestate.Read[*state](cycle, stateKey); s != nil {
		return s.clusters, true
	}
	return nil, false
}

// OwnNodes returns the names of the nodes to which the pod of a cycle is kept, nil if it is kept to
// none. They must not be changed.
func OwnNodes(cycle fwk.CycleState) sets.Set[string] {
	if s := cyclestate.Read[*state](cycle, stateKey); s != nil {
		return s.nodes
	}
	return nil
}

// Clone returns the state itself, which never changes.
func (s *state) Clone() fwk.StateData {
	return s
}

// PreFilter names nodes of this scheduler to the framework, so that no other node is looked at: all
// of them, which the framework copies and looks up one by one for each pod, if other plugins have a
// say in it, and otherwise some that seem to have room.
func (p *HomeScheduler) PreFilter(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo,
) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PreFilter", &status)
	homes := p.shared.Catalog.Snapshot()
	switch {
	case homes == nil:
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonUnreadable)
	case !p.shared.applies(homes):
		return nil, skip
	case p.shared.waitsForFence(homes):
		return nil, noneRuns
	case !p.shared.owns(homes, pod):
		// The home has changed since the pod entered the queue, where PreEnqueue does not see that.
		return nil, otherPod
	}
	own := p.shared.nodes(homes, nodes, p.handle.SnapshotSharedLister())
	if len(own.nodes) == 0 {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonNoNodes)
	}
	s := &state{ownNodes: own}
	cycle.Write(stateKey, s)
	if p.sampling {
		if some := p.shared.sample(pod, nodes); some != nil {
			s.sampled = true
			return &fwk.PreFilterResult{NodeNames: some}, nil
		}
	}
	return &fwk.PreFilterResult{NodeNames: own.nodes}, nil
}

// PreFilterExtensions returns nil: no pod changes whose a node is.
func (*HomeScheduler) PreFilterExtensions() fwk.PreFilterExtensions {
	return nil
}

// Filter repeats what PreFilter has named, because the framework tries a nominated node without
// asking.
func (*HomeScheduler) Filter(_ context.Context, cycle fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) *fwk.Status {
	s := cyclestate.Read[*state](cycle, stateKey)
	switch {
	case s == nil:
		return cyclestate.Missing(stateKey)
	case !s.nodes.Has(node.Node().Name):
		return otherHome
	}
	return nil
}

// PostFilter keeps preemption away from pods that this plugin rejected as a whole: no pod that
// makes way could help them. It comes before other plugins that preempt, and notes for whom they
// do. A pod that was tried on a sample is tried on all nodes first.
func (p *HomeScheduler) PostFilter(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, statuses fwk.NodeToStatusReader,
) (*fwk.PostFilterResult, *fwk.Status) {
	p.shared.Failing.Store(pod)
	if s := cyclestate.Read[*state](cycle, stateKey); s != nil && s.sampled {
		p.shared.Retries.AddThorough(pod.UID)
		return nil, narrow.Retry(ctx, p.handle, pod, errReasonLookFurther)
	}
	// The name of no node stands for all nodes that Filter was not asked about.
	if statuses.Get("").Plugin() == Name {
		return framework.NewPostFilterResultWithNominatedNode(""), fwk.NewStatus(fwk.UnschedulableAndUnresolvable)
	}
	return nil, fwk.NewStatus(fwk.Unschedulable)
}

// Reserve notes that a pod is on its way to a node, unless the cluster of the node has been given
// up in the meantime.
func (p *HomeScheduler) Reserve(
	ctx context.Context, _ fwk.CycleState, pod *corev1.Pod, node string,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "Reserve", &status)
	if !p.shared.reserve(pod, node) {
		return fwk.NewStatus(fwk.Unschedulable, errReasonMoved)
	}
	if p.shared.Retries != nil {
		p.shared.Retries.Drop(pod.UID)
	}
	return nil
}

// Unreserve notes that the pod is not on its way any more.
func (p *HomeScheduler) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	p.shared.arrived(pod.UID)
}

// PostBind notes that the pod has arrived.
func (p *HomeScheduler) PostBind(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	p.shared.arrived(pod.UID)
}
