// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// The profiles of the scheduler that an arena's peers have in common.
const (
	stockProfile    = "default-scheduler"
	shippedProfile  = "berth-shipped"
	addsOnlyProfile = "berth-adds-only"
)

// arena is a cluster in which peers compete.
type arena struct {
	*layout
	*Configurations

	// common is nil until a peer asks for it.
	common *scheduler.Scheduler
}

// rig returns a profile of the common scheduler. Peers that differ in nothing but their profile and
// their pods look at the same copies of the nodes: of two schedulers that do the same, the one
// whose data lies farther apart is slower by up to a tenth.
func (a *arena) rig(ctx context.Context, profile string) (*rig, error) {
	if a.common == nil {
		made, err := a.newCommon(ctx)
		if err != nil {
			return nil, err
		}
		a.common = made
	}
	return &rig{Scheduler: a.common, profile: a.common.Profiles[profile]}, nil
}

func (a *arena) newCommon(ctx context.Context) (*scheduler.Scheduler, error) {
	configurations := map[string]string{stockProfile: stockConfiguration, shippedProfile: a.Shipped, addsOnlyProfile: a.AddsOnly}
	var profiles []schedulerconfig.KubeSchedulerProfile
	for _, name := range []string{stockProfile, shippedProfile, addsOnlyProfile} {
		p, err := profileOf(configurations[name])
		if err != nil {
			return nil, err
		}
		p.SchedulerName = name
		profiles = append(profiles, *p)
	}
	deployment, set := webDeployment()
	return newScheduler(ctx, a.layout, &setup{
		profiles: profiles, kube: []runtime.Object{deployment, set}, berth: append(sitesAndPolicy(a.layout), pools(a.layout)),
	})
}
