// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

// sources are where the plugins of a process learn of Berth's kinds: by watching an API server, or
// from objects at hand.
type sources interface {
	definitions(patience time.Duration, changed func(before, after *catalog.Snapshot)) (*catalog.Catalog, error)
	resources(patience time.Duration, changed func(before, after *catalog.Resources)) (*catalog.ResourceCatalog, error)
	subscriptions(
		patience time.Duration, changed func(before, after *catalog.Subscriptions),
	) (*catalog.SubscriptionCatalog, error)
	schedulers(patience time.Duration, changed func(before, after *catalog.Homes)) (*catalog.HomeCatalog, error)
	// fixed reports whether the objects are at hand, so that there is nothing to wait for, and no
	// API server to ask.
	fixed() bool
	// owners looks up owners of operators' kinds where the objects are at hand.
	owners() workload.FurtherSource
}

// live watches an API server.
type live struct {
	*State
}

func (l *live) definitions(
	patience time.Duration, changed func(before, after *catalog.Snapshot),
) (*catalog.Catalog, error) {
	return catalog.New(l.client, l.Clock, patience, changed)
}

func (l *live) resources(
	patience time.Duration, changed func(before, after *catalog.Resources),
) (*catalog.ResourceCatalog, error) {
	return catalog.NewResourceCatalog(l.client, l.Clock, patience, changed)
}

func (l *live) subscriptions(
	patience time.Duration, changed func(before, after *catalog.Subscriptions),
) (*catalog.SubscriptionCatalog, error) {
	return catalog.NewSubscriptionCatalog(l.client, l.Clock, patience, changed)
}

func (l *live) schedulers(
	patience time.Duration, changed func(before, after *catalog.Homes),
) (*catalog.HomeCatalog, error) {
	return catalog.NewHomeCatalog(l.client, l.homes.name, l.Clock, patience, changed)
}

func (*live) fixed() bool { return false }

func (*live) owners() workload.FurtherSource { return workload.NotRead{} }

// Objects are Berth's objects for a State that watches nothing. They must not be changed
// afterwards.
type Objects = catalog.Objects

// Offline is a State that decides on objects at hand. Nothing is watched, bound or woken, and Run
// must not be called.
type Offline struct {
	*State

	catalogs *offline
}

// NewOffline returns a State without objects; Set gives it some. It is for one profile of one
// simulated scheduler.
func NewOffline(clk clock.WithTickerAndDelayedExecution) *Offline {
	leader := fence.New()
	leader.KeepOpen()
	s := NewState(leader, nil)
	s.Clock = still{clk}
	catalogs := &offline{Fixed: catalog.NewFixed(clk), further: &exchangeable{workload.NotRead{}}}
	s.sources = catalogs
	s.seed.Skip()
	s.late.Skip()
	return &Offline{State: s, catalogs: catalogs}
}

// Registry returns the plugins that need no API server of their own.
func (o *Offline) Registry() frameworkruntime.Registry {
	registry := o.State.Registry()
	if gangsNeedServer {
		for name := range gangs() {
			delete(registry, name)
		}
	}
	return registry
}

// still is a clock by which nothing happens later: what the plugins of a scheduler put off wakes
// pods, and here nobody sleeps. It would run beside what is decided meanwhile.
type still struct {
	clock.WithTickerAndDelayedExecution
}

// AfterFunc returns a timer that has been stopped.
func (s still) AfterFunc(d time.Duration, _ func()) clock.Timer {
	timer := s.NewTimer(d)
	timer.Stop()
	return timer
}

// Set replaces the objects. It must not be called while the plugins decide.
func (o *Offline) Set(objects *Objects) {
	o.catalogs.Set(objects)
	if o.catalogs.further.FurtherSource = objects.Further; objects.Further == nil {
		o.catalogs.further.FurtherSource = workload.NotRead{}
	}
}

// ActAs lets the plugins give out only what the Scheduler of the name was granted of
// ClusterResources, until it is called with an empty name. It must not be called while the plugins
// decide.
func (o *Offline) ActAs(scheduler string) {
	if o.State.resources != nil {
		o.State.resources.ActAs(scheduler)
	}
}

// OnPreemption lets the function be told of pods that would have to make way for another one.
// Before it is called for the first time PostFilter must not be. It must not be called while the
// plugins decide.
func (o *Offline) OnPreemption(report func(victims []*corev1.Pod)) {
	if o.State.resources != nil {
		o.State.resources.Preempted = report
	}
}

// ClusterOf returns the name of the Cluster that a node belongs to, empty for none.
func (o *Offline) ClusterOf(node *corev1.Node) string {
	snapshot := o.catalogs.Definitions.Snapshot()
	if snapshot == nil {
		return ""
	}
	if claimants := snapshot.Membership.Claimants(node.Name, node.Labels); len(claimants) > 0 {
		return claimants[0]
	}
	return ""
}

// offline are catalogs of objects at hand.
type offline struct {
	*catalog.Fixed

	further *exchangeable
}

// exchangeable is another source from time to time.
type exchangeable struct{ workload.FurtherSource }

func (o *offline) definitions(time.Duration, func(before, after *catalog.Snapshot)) (*catalog.Catalog, error) {
	return o.Definitions, nil
}

func (o *offline) resources(time.Duration, func(before, after *catalog.Resources)) (*catalog.ResourceCatalog, error) {
	return o.Resources, nil
}

func (o *offline) subscriptions(
	time.Duration, func(before, after *catalog.Subscriptions),
) (*catalog.SubscriptionCatalog, error) {
	return o.Subscriptions, nil
}

func (o *offline) schedulers(time.Duration, func(before, after *catalog.Homes)) (*catalog.HomeCatalog, error) {
	return o.Homes, nil
}

func (*offline) fixed() bool { return true }

func (o *offline) owners() workload.FurtherSource { return o.further }
