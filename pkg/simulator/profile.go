// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkplugins "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"berth.dev/berth/apis/config/scheme"
	"berth.dev/berth/pkg/plugins"
)

// Profile is one profile of a scheduler's configuration.
type Profile struct {
	profile config.KubeSchedulerProfile
	// leftOut is what the scheduler has and a simulation has not.
	leftOut []string
}

// LeftOut names what has a say in the scheduler and none here: plugins that read the API server by
// themselves, and extenders.
func (p *Profile) LeftOut() []string { return p.leftOut }

// Enables reports whether the profile names a plugin.
func (p *Profile) Enables(plugin string) bool { return slices.Contains(named(&p.profile), plugin) }

// CheckBerths returns an error if the profile enables none of Berth's plugins: then it is that of
// another scheduler, or of none that Berth can work with.
func (p *Profile) CheckBerths() error {
	stock, here := frameworkplugins.NewInTreeRegistry(), plugins.NewOffline(clock.RealClock{}).Registry()
	if slices.ContainsFunc(named(&p.profile), func(name string) bool { return stock[name] == nil && here[name] != nil }) {
		return nil
	}
	return fmt.Errorf("the scheduler's configuration has no profile of Berth: that of %s enables none of its plugins", p.profile.SchedulerName)
}

// ParseProfile reads a KubeSchedulerConfiguration, as berth-scheduler takes it with --config, and
// returns the first profile that has one of the names as schedulerName; without names the first of
// all. The error says what is wrong with the configuration: it cannot be read, has no such profile,
// or names plugins that are not compiled in.
func ParseProfile(configuration []byte, schedulerNames ...string) (*Profile, error) {
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(configuration, nil, nil)
	switch {
	case runtime.IsMissingKind(err), runtime.IsNotRegisteredError(err):
		return nil, errors.New("reading the scheduler's configuration: it is no KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1")
	case err != nil:
		return nil, fmt.Errorf("reading the scheduler's configuration: %w", err)
	}
	c, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("reading the scheduler's configuration: it is a %T", object)
	}
	var found []string
	for _, profile := range c.Profiles {
		if len(schedulerNames) == 0 || slices.Contains(schedulerNames, profile.SchedulerName) {
			// Otherwise plugins pick out a sample of the nodes, which is not all the room there is.
			profile.PercentageOfNodesToScore = ptr.To[int32](100)
			leftOut, err := leaveOut(&profile)
			if err != nil {
				return nil, err
			}
			for i := range c.Extenders {
				leftOut = append(leftOut, "the extender "+c.Extenders[i].URLPrefix)
			}
			return &Profile{profile, leftOut}, nil
		}
		found = append(found, profile.SchedulerName)
	}
	return nil, fmt.Errorf("the scheduler's configuration has no profile %s, only %s",
		strings.Join(schedulerNames, " or "), strings.Join(found, ", "))
}

// leaveOut takes the plugins out of a profile that are compiled in, but only for schedulers, and
// returns their names. An error names those that are not compiled in.
func leaveOut(profile *config.KubeSchedulerProfile) (leftOut []string, err error) {
	offline := plugins.NewOffline(clock.RealClock{})
	stock, own, here := frameworkplugins.NewInTreeRegistry(), offline.State.Registry(), offline.Registry()
	var unknown []string
	for _, name := range named(profile) {
		switch {
		case stock[name] != nil || here[name] != nil:
		case own[name] == nil:
			unknown = append(unknown, name)
		case !slices.Contains(leftOut, name):
			leftOut = append(leftOut, name)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return nil, fmt.Errorf("the scheduler's configuration has plugins in profile %s that this program does not have: %s",
			profile.SchedulerName, strings.Join(unknown, ", "))
	}
	if len(leftOut) > 0 {
		profile.Plugins = without(profile.Plugins, leftOut)
	}
	return leftOut, nil
}

// named returns the plugins that a profile enables, some of them twice.
func named(profile *config.KubeSchedulerProfile) []string {
	names := profile.Plugins.Names()
	for _, plugin := range profile.Plugins.MultiPoint.Enabled {
		names = append(names, plugin.Name)
	}
	return names
}

// without returns the plugins of a profile without some of them.
func without(all *config.Plugins, leftOut []string) *config.Plugins {
	kept := all.DeepCopy()
	for _, point := range []*config.PluginSet{
		&kept.MultiPoint, &kept.PreEnqueue, &kept.QueueSort, &kept.PreFilter, &kept.Filter, &kept.PostFilter, &kept.PreScore,
		&kept.Score, &kept.Reserve, &kept.Permit, &kept.PreBind, &kept.Bind, &kept.PostBind,
	} {
		point.Enabled = slices.DeleteFunc(point.Enabled, func(plugin config.Plugin) bool { return slices.Contains(leftOut, plugin.Name) })
	}
	if len(kept.QueueSort.Enabled) == 0 { // In which order pods come is nothing that a simulation asks for.
		kept.QueueSort.Enabled = []config.Plugin{{Name: queuesort.Name}}
	}
	return kept
}

// start makes the framework that runs the plugins of the profile on the nodes of a snapshot, and
// what they read.
func (p *Profile) start(ctx context.Context, s *Snapshot) error {
	all := frameworkplugins.NewInTreeRegistry()
	if err := all.Merge(s.state.Registry()); err != nil {
		return fmt.Errorf("joining Berth's plugins to the stock ones: %w", err)
	}
	metrics.Register()
	// Plugins keep the client for writes, which are not simulated. The other kind of it would parse
	// the schemas of everything that there is first.
	client := kubefake.NewSimpleClientset()
	s.informers = newFactory(client)
	s.informers.Resource().V1().ResourceClaimTemplates().Informer() // No plugin reads them.
	options := []frameworkruntime.Option{
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(s.informers),
		frameworkruntime.WithSnapshotSharedLister(s.nodes),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(s.informers.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithPodNominator(nobody{}),
		frameworkruntime.WithPodActivator(&s.wakes),
		frameworkruntime.WithEventRecorder(&events.FakeRecorder{}),
		frameworkruntime.WithParallelism(1),
	}
	if utilfeature.DefaultFeatureGate.Enabled(features.DynamicResourceAllocation) {
		manager, err := deviceManager(ctx, s.informers)
		if err != nil {
			return err
		}
		s.devices = newDevices(manager)
		options = append(options, frameworkruntime.WithSharedDRAManager(s.devices))
	}
	var err error
	if s.framework, err = frameworkruntime.NewFramework(ctx, all, &p.profile, options...); err != nil {
		return fmt.Errorf("making the plugins of profile %s: %w", p.profile.SchedulerName, err)
	}
	return nil
}

// deviceManager is what the plugin DynamicResources asks, as the scheduler makes it.
func deviceManager(ctx context.Context, informers *factory) (fwk.SharedDRAManager, error) {
	resources := informers.Resource().V1()
	claims := assumecache.NewAssumeCache(klog.FromContext(ctx), resources.ResourceClaims().Informer(), "ResourceClaim", "", nil)
	slices, err := tracker.StartTracker(ctx, tracker.Options{SliceInformer: resources.ResourceSlices()})
	if err != nil {
		return nil, fmt.Errorf("following resource slices: %w", err)
	}
	return dynamicresources.NewDRAManager(ctx, claims, slices, informers), nil
}

// nobody nominates no pods.
type nobody struct{}

// AddNominatedPod does nothing.
func (nobody) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}

// DeleteNominatedPodIfExists does nothing.
func (nobody) DeleteNominatedPodIfExists(*corev1.Pod) {}

// UpdateNominatedPod does nothing.
func (nobody) UpdateNominatedPod(klog.Logger, *corev1.Pod, fwk.PodInfo) {}

// NominatedPodsForNode returns none.
func (nobody) NominatedPodsForNode(string) []fwk.PodInfo { return nil }

// wakes notes that a plugin wants a pod to be tried again at once.
type wakes struct {
	called bool
}

// Activate notes the call.
func (w *wakes) Activate(klog.Logger, map[string]*corev1.Pod) { w.called = true }
