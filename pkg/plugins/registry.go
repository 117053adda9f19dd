// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plugins lists the scheduler plugins of berth-scheduler, for the program, the tests and
// the benchmarks alike.
package plugins

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"berth.dev/berth/apis/config"
	_ "berth.dev/berth/apis/config/scheme" // lets the configuration carry the arguments of the plugins
	"berth.dev/berth/apis/config/validation"
	"berth.dev/berth/pkg/plugins/berthbinder"
	"berth.dev/berth/pkg/plugins/clustermetrics"
	"berth.dev/berth/pkg/plugins/clusterresource"
	"berth.dev/berth/pkg/plugins/feedinventory"
	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
)

// Registry returns the factories of all plugins that berth-scheduler adds to the stock ones, by
// name. They share the state, because the framework makes each plugin once for every profile.
func (s *State) Registry() frameworkruntime.Registry {
	registry := frameworkruntime.Registry{
		nodegrouppolicy.Name: s.newNodeGroupPolicy,
		clusterresource.Name: s.newClusterResource,
		clustermetrics.Name:  s.newClusterMetrics,
		feedinventory.Name:   s.newFeedInventory,
		homescheduler.Name:   s.newHomeScheduler,
		berthbinder.Name:     s.newBerthBinder,
	}
	maps.Copy(registry, gangs())
	return registry
}

// Options returns the Registry in the form that the scheduler's Setup takes.
func (s *State) Options() []app.Option {
	registry := s.Registry()
	options := make([]app.Option, 0, len(registry))
	for name, factory := range registry {
		options = append(options, app.WithPlugin(name, factory))
	}
	return options
}

func (s *State) newNodeGroupPolicy(_ context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	args, ok := object.(*config.NodeGroupPolicyArgs)
	if !ok {
		return nil, fmt.Errorf("arguments of plugin %s are of type %T", nodegrouppolicy.Name, object)
	}
	if err := validation.ValidateNodeGroupPolicyArgs(field.NewPath("args"), args); err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", nodegrouppolicy.Name, err)
	}
	shared, err := s.nodeGroups(handle, args.FirstReadTimeout.Duration)
	if err != nil {
		return nil, fmt.Errorf("preparing plugin %s: %w", nodegrouppolicy.Name, err)
	}
	return nodegrouppolicy.New(handle, shared), nil
}

func (s *State) newClusterResource(_ context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	args, ok := object.(*config.ClusterResourceArgs)
	if !ok {
		return nil, fmt.Errorf("arguments of plugin %s are of type %T", clusterresource.Name, object)
	}
	if err := validation.ValidateClusterResourceArgs(field.NewPath("args"), args); err != nil {
		return nil, fmt.Errorf("arguments of plugin %s: %w", clusterresource.Name, err)
	}
	shared, err := s.clusterResources(handle, args.FirstReadTimeout.Duration)
	if err != nil {
		return nil, fmt.Errorf("preparing plugin %s: %w", clusterresource.Name, err)
	}
	return clusterresource.New(handle, shared, args), nil
}

func (s *State) newClusterMetrics(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	shared, err := s.clusterMetrics(handle)
	if err != nil {
		return nil, fmt.Errorf("preparing plugin %s: %w", clustermetrics.Name, err)
	}
	return clustermetrics.New(shared), nil
}

func (s *State) newBerthBinder(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	return berthbinder.New(handle, s, s.fence, s.slots), nil
}
