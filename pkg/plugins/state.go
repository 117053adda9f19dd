// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugins/berthbinder"
	"berth.dev/berth/pkg/plugins/clustermetrics"
	"berth.dev/berth/pkg/plugins/clusterresource"
	"berth.dev/berth/pkg/plugins/feedinventory"
	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/owners"
	"berth.dev/berth/pkg/plugins/internal/takeover"
	"berth.dev/berth/pkg/plugins/internal/trim"
	"berth.dev/berth/pkg/plugins/internal/view"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
)

// State is what the plugins of one process share. The framework makes every plugin once for each
// profile, and before the process is the leader, so nothing in here writes or blocks until Run is
// called.
type State struct {
	// Clock is the time that all plugins go by: the real one, unless a test replaces it before the
	// first plugin is made.
	Clock clock.WithTickerAndDelayedExecution

	// History remembers what is decided while Run runs, nil for nothing. It is to be set before the
	// first plugin is made.
	History *history.Background

	// sources are where the plugins learn of Berth's kinds, from the first of them on.
	sources      sources
	fence        *fence.Fence
	slots        berthbinder.Slots
	client       versioned.Interface
	reservations *view.Reservations
	pending      *ledger.Pending
	retries      *nodegrouppolicy.Retries
	seed         *takeover.Seed
	late         *takeover.LateSeats
	early        *takeover.Early
	ahead        ahead

	mu          sync.Mutex
	base        *base
	further     furtherOwners
	profiles    profile.Map
	definitions *catalog.Catalog
	groups      *nodegrouppolicy.Shared
	resources   *clusterresource.Shared
	metrics     *clustermetrics.Shared
	homes       homes
	feeds       *feedinventory.Shared
	victims     victims
}

// base is what all plugins that look at who runs where have in common.
type base struct {
	handle    fwk.Handle
	owners    *owners.Owners
	view      *view.View
	ledger    *ledger.Ledger
	podSynced cache.InformerSynced
	elsewhere *view.Elsewhere
}

// NewState returns the state of one scheduler process. The fence guards what only the leader may
// write. The client reads Berth's kinds; nil makes one from the scheduler's own kubeconfig.
func NewState(leader *fence.Fence, client versioned.Interface) *State {
	berthbinder.RegisterMetrics()
	nodegrouppolicy.RegisterMetrics()
	clusterresource.RegisterMetrics()
	guard.RegisterMetrics()
	catalog.RegisterMetrics()
	waitlist.RegisterMetrics()
	return &State{
		Clock: clock.RealClock{}, fence: leader, slots: berthbinder.NewSlots(), client: client,
		reservations: view.NewReservations(), pending: ledger.NewPending(), retries: nodegrouppolicy.NewRetries(),
		seed: takeover.NewSeed(), late: takeover.NewLate(), early: takeover.NewEarly(),
	}
}

// nodeGroups makes what the instances of NodeGroupPolicy share on the first call, and returns the
// same on every further one. The patience of the first profile counts.
func (s *State) nodeGroups(handle fwk.Handle, patience time.Duration) (*nodegrouppolicy.Shared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.groups != nil {
		return s.groups, nil
	}
	base, definitions, err := s.define(handle)
	if err != nil {
		return nil, err
	}
	definitions.SetPatience(patience)
	s.groups = &nodegrouppolicy.Shared{
		Clock: s.Clock, Catalog: definitions, Owners: base.owners, View: base.view, Reservations: s.reservations,
		Retries: s.retries, Seed: s.seed, Late: s.late, Own: homescheduler.OwnClusters, Waiting: waitlist.New(s.Clock),
		Pod: base.owners.Pod, Elsewhere: base.elsewhere, Early: s.early,
	}
	return s.groups, nil
}

// clusterMetrics is nodeGroups for ClusterMetrics.
func (s *State) clusterMetrics(handle fwk.Handle) (*clustermetrics.Shared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.metrics != nil {
		return s.metrics, nil
	}
	base, definitions, err := s.define(handle)
	if err != nil {
		return nil, err
	}
	s.metrics = &clustermetrics.Shared{Catalog: definitions, Owners: base.owners, View: base.view}
	return s.metrics, nil
}

// define makes the base and the catalog of Clusters and policies on the first call.
func (s *State) define(handle fwk.Handle) (*base, *catalog.Catalog, error) {
	base, err := s.prepare(handle)
	if err != nil || s.definitions != nil {
		return base, s.definitions, err
	}
	s.definitions, err = s.sources.definitions(defaultPatience, s.wakeConcerned)
	return base, s.definitions, err
}

// defaultPatience is that of profiles without NodeGroupPolicy, which has an argument for it.
const defaultPatience = 10 * time.Second

// clusterResources is nodeGroups for ClusterResource.
func (s *State) clusterResources(handle fwk.Handle, patience time.Duration) (*clusterresource.Shared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resources != nil {
		return s.resources, nil
	}
	base, err := s.prepare(handle)
	if err != nil {
		return nil, err
	}
	shared := clusterresource.NewShared(s.Clock, s.homes.name, base.waits)
	shared.Membership, shared.View, shared.Ledger, shared.Pending = s.membership, base.view, base.ledger, s.pending
	shared.Retries, shared.Restricted, shared.Left, shared.Seed, shared.Removed = s.retries, restricted, left, s.seed, s.preempted
	shared.Removes, shared.Early = s.removes, s.early
	shared.Catalog, err = s.sources.resources(patience,
		func(before, after *catalog.Resources) { s.wake(shared.Changed(before, after, s.asking())) })
	if err != nil {
		return nil, err
	}
	if s.sources.fixed() {
		shared.Open()
	}
	if err := base.watchNodes(s.wakeForNode); err != nil {
		return nil, err
	}
	s.resources = shared
	return shared, nil
}

// restricted reports whether the policy of a pod or its home leave only some nodes to it.
func restricted(cycle fwk.CycleState) bool {
	_, shared := homescheduler.OwnClusters(cycle)
	return shared || nodegrouppolicy.Concerns(cycle)
}

// left reports of each node whether the policy of a pod and its home leave it to the pod, nil if
// they leave it all nodes, or that is not known.
func left(cycle fwk.CycleState) func(node string) bool {
	own, admitted := homescheduler.OwnNodes(cycle), nodegrouppolicy.Left(cycle)
	if own == nil && admitted == nil {
		return nil
	}
	return func(node string) bool {
		return (own == nil || own.Has(node)) && (admitted == nil || admitted.Has(node))
	}
}

// prepare makes the base on the first call.
func (s *State) prepare(handle fwk.Handle) (*base, error) {
	if s.base != nil {
		return s.base, nil
	}
	if s.sources == nil {
		s.sources = &live{State: s}
	}
	if s.client == nil && !s.sources.fixed() {
		config := rest.CopyConfig(handle.KubeConfig())
		// Custom resources have no protobuf form.
		config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
		client, err := versioned.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("making the client of Berth's kinds: %w", err)
		}
		s.client = client
	}
	factory := handle.SharedInformerFactory()
	trim.Informer(factory.Core().V1().Nodes().Informer())
	further, err := s.lookUpOwners(handle)
	if err != nil {
		return nil, err
	}
	ownership, err := owners.New(factory, further, s.wake)
	if err != nil {
		return nil, err
	}
	elsewhere := view.NewElsewhere(s.Clock)
	pods, err := factory.Core().V1().Pods().Informer().AddEventHandler(s.forgetter(elsewhere))
	if err != nil {
		return nil, fmt.Errorf("watching pods: %w", err)
	}
	trim.InformerAndHear(factory.Core().V1().Pods().Informer(), s.hearer(elsewhere, ownership))
	holdings := ledger.New(s.pending, ownership)
	holdings.Self = s.homes.name
	if err := s.indexGrantees(factory); err != nil {
		return nil, err
	}
	s.base = &base{
		handle: handle, owners: ownership, ledger: holdings, podSynced: pods.HasSynced, elsewhere: elsewhere,
		view: view.New(s.reservations, ownership, holdings),
	}
	return s.base, nil
}

// membership returns which node lies in which cluster as far as that is known.
func (s *State) membership() view.Membership {
	if snapshot, _ := s.defined(); snapshot != nil {
		return snapshot.Membership
	}
	return nil
}

// defined returns what is known of Clusters and policies, nil while that is nothing, and whether
// anybody wants to know.
func (s *State) defined() (snapshot *catalog.Snapshot, wanted bool) {
	s.mu.Lock()
	definitions := s.definitions
	s.mu.Unlock()
	if definitions == nil {
		return nil, false
	}
	return definitions.Snapshot(), true
}

// Annotations returns what the binding of a pod must carry for what it was given, nil if that is
// nothing. It makes the State what BerthBinder wants.
func (s *State) Annotations(pod *corev1.Pod, node string) map[string]string {
	var annotations map[string]string
	if charges, charged := s.pending.Get(pod.UID); charged {
		annotations = stamp.ChargeAnnotations(pod, node, charges)
	}
	given, placed := s.reservations.Get(pod.UID)
	if !placed {
		return annotations
	}
	seat := given.Annotations(pod, node)
	maps.Copy(seat, annotations)
	return seat
}

// Contested reports whether the seat that the pod was given is another pod's by now.
func (s *State) Contested(pod *corev1.Pod) bool {
	seat, chosen := s.reservations.Chosen(pod.UID)
	return chosen && s.known().elsewhere.Taken(pod.UID, seat)
}

// known returns the base, nil while there is none.
func (s *State) known() *base {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.base
}

// Pod returns the newest copy of a pod that the informer has, nil if it has none.
func (s *State) Pod(namespace, name string) *corev1.Pod {
	if base := s.known(); base != nil {
		return base.owners.Pod(namespace, name)
	}
	return nil
}

// Run watches what users define until the context ends. It must be called after the scheduler has
// been set up, since a change wakes pods and there is no queue to wake them in before.
func (s *State) Run(ctx context.Context) {
	s.mu.Lock()
	base, definitions, groups, resources, feeds := s.base, s.definitions, s.groups, s.resources, s.feeds
	s.mu.Unlock()
	if base == nil {
		return
	}
	var running sync.WaitGroup
	defer running.Wait()
	if definitions != nil { // Every pod waits for them, so they are read while the pods are.
		running.Go(func() { definitions.Run(ctx) })
	}
	if !cache.WaitForCacheSync(ctx.Done(), base.podSynced) {
		return
	}
	if s.History.On() {
		running.Go(func() { s.History.Run(ctx) })
	}
	if groups != nil {
		running.Go(func() {
			groups.Waiting.Run(ctx, s.wake, func(pod *corev1.Pod) bool { return s.held(ctx, pod) })
		})
	}
	if feeds != nil {
		running.Go(func() { feeds.Subscriptions.Run(ctx) })
	}
	running.Go(func() { s.runHomes(ctx, base) })
	running.Go(func() { s.further.run(ctx) })
	readers := []takeover.ListReader{s.late}
	if resources != nil {
		background := &clusterresource.Background{
			Client: base.handle.ClientSet(), Pod: base.owners.Pod, Waiting: s.asking, Wake: s.wake,
			Sharing: s.sharing(base), Held: func(pod *corev1.Pod) bool { return s.held(ctx, pod) },
			LateBindings: s.lateBindings, Settled: func() { s.fence.Settle(fence.Units) },
		}
		readers = append(readers, resources.Reader(background))
		running.Go(func() { resources.Run(ctx, background) })
		running.Go(func() { s.settleAhead(ctx, base, resources) })
	}
	running.Go(func() { s.takeOver(ctx, base, readers) })
}
