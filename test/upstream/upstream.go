// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package upstream runs the integration tests of kube-scheduler, those of the pinned release of
// Kubernetes, against a scheduler that has Berth's plugins in every profile: what they test must be
// the same with Berth (hack/upstream.sh compiles them with New in the place of scheduler.New).
package upstream

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"unsafe"

	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/plugins"
)

// ProfileVariable is the environment variable that names a KubeSchedulerConfiguration. What its
// first profile has of Berth's plugins is added to every profile of the tests.
const ProfileVariable = "BERTH_UPSTREAM_PROFILE"

// New is scheduler.New for a scheduler that has Berth's plugins in all its profiles, until the
// context ends. Whatever the tests put into a profile stays: a binder of theirs binds instead of
// BerthBinder.
func New(ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory,
	dynamic dynamicinformer.DynamicSharedInformerFactory, recorders profile.RecorderFactory, options ...scheduler.Option,
) (*scheduler.Scheduler, error) {
	added, err := read(os.Getenv(ProfileVariable))
	if err != nil {
		return nil, err
	}
	profiles, registry, err := chosen(options)
	if err != nil {
		return nil, err
	}
	leader := fence.New()
	leader.KeepOpen()
	state := plugins.NewState(leader, nil)
	own := state.Registry()
	for i := range profiles {
		profiles[i] = extended(profiles[i], added, own)
	}
	if err := own.Merge(registry); err != nil {
		return nil, fmt.Errorf("adding the plugins of the test to Berth's: %w", err)
	}
	options = append(slices.Clone(options), scheduler.WithProfiles(profiles...), scheduler.WithFrameworkOutOfTreeRegistry(own))
	sched, err := scheduler.New(ctx, client, factory, dynamic, recorders, options...)
	if err != nil {
		return nil, err
	}
	state.Follow(sched)
	go state.Run(ctx)
	return sched, nil
}

// read returns the first profile in a file, with what the defaults put there.
func read(path string) (*config.KubeSchedulerProfile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration that %s names: %w", ProfileVariable, err)
	}
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", path, err)
	}
	configuration, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok || len(configuration.Profiles) == 0 {
		return nil, fmt.Errorf("%s holds no profile", path)
	}
	return &configuration.Profiles[0], nil
}

// chosen returns the profiles that options ask for, those by default if none, and the plugins that
// they bring. The scheduler keeps its options to itself, so they are read from the memory of one.
func chosen(options []scheduler.Option) ([]config.KubeSchedulerProfile, frameworkruntime.Registry, error) {
	into := reflect.New(reflect.TypeFor[scheduler.Option]().In(0).Elem())
	for _, option := range options {
		reflect.ValueOf(option).Call([]reflect.Value{into})
	}
	profiles, err := field[[]config.KubeSchedulerProfile](into.Elem(), "profiles")
	if err != nil {
		return nil, nil, err
	}
	registry, err := field[frameworkruntime.Registry](into.Elem(), "frameworkOutOfTreeRegistry")
	if err != nil || len(profiles) > 0 {
		return slices.Clone(profiles), registry, err
	}
	var stock configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&stock)
	var configuration config.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&stock, &configuration, nil); err != nil {
		return nil, nil, fmt.Errorf("converting the configuration by default: %w", err)
	}
	return configuration.Profiles, registry, nil
}

// field returns a field that another package does not export, of a struct in memory.
func field[T any](of reflect.Value, name string) (T, error) {
	found := of.FieldByName(name)
	if !found.IsValid() || found.Type() != reflect.TypeFor[T]() {
		var none T
		return none, fmt.Errorf("the options of the scheduler have no field %s of type %T: see scheduler.New of this release", name, none)
	}
	return *(*T)(unsafe.Pointer(found.UnsafeAddr())), nil //nolint:gosec // the type has just been compared
}

// extended returns a profile with those plugins of added that are in the registry of Berth's, and
// their arguments, in front of its own. BerthBinder takes the place of DefaultBinder, but of no
// other binder.
func extended(of config.KubeSchedulerProfile, added *config.KubeSchedulerProfile, own frameworkruntime.Registry,
) config.KubeSchedulerProfile {
	sum := of.DeepCopy()
	if sum.Plugins == nil {
		sum.Plugins = &config.Plugins{}
	}
	for _, point := range []struct{ all, more *config.PluginSet }{
		{&sum.Plugins.MultiPoint, &added.Plugins.MultiPoint},
		{&sum.Plugins.PreFilter, &added.Plugins.PreFilter},
		{&sum.Plugins.Filter, &added.Plugins.Filter},
		{&sum.Plugins.PostFilter, &added.Plugins.PostFilter},
	} {
		point.all.Enabled = append(ofRegistry(point.more.Enabled, own), point.all.Enabled...)
	}
	if bindsByDefault(sum.Plugins) {
		sum.Plugins.Bind = *added.Plugins.Bind.DeepCopy()
	}
	for _, arguments := range added.PluginConfig {
		if _, found := own[arguments.Name]; found {
			sum.PluginConfig = append(sum.PluginConfig, *arguments.DeepCopy())
		}
	}
	return *sum
}

// ofRegistry returns those of the plugins that are in a registry.
func ofRegistry(all []config.Plugin, registry frameworkruntime.Registry) []config.Plugin {
	return slices.DeleteFunc(slices.Clone(all), func(p config.Plugin) bool {
		_, found := registry[p.Name]
		return !found
	})
}

// bindsByDefault reports whether DefaultBinder is the only binder of a profile. A test that brings
// a plugin which binds disables DefaultBinder, or names both.
func bindsByDefault(plugins *config.Plugins) bool {
	isDefault := func(p config.Plugin) bool { return p.Name == names.DefaultBinder }
	if len(plugins.Bind.Enabled) > 0 {
		return len(plugins.Bind.Enabled) == 1 && isDefault(plugins.Bind.Enabled[0])
	}
	return slices.ContainsFunc(plugins.MultiPoint.Enabled, isDefault) && !slices.ContainsFunc(plugins.Bind.Disabled, isDefault)
}
