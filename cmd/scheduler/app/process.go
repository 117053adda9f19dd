// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/kubernetes/pkg/scheduler"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/plugins"
)

// Process is what a process needs beside a kube-scheduler to be a berth-scheduler, whoever makes
// and runs that: the program does, and so do simulations.
type Process struct {
	// State is what the plugins share; the kube-scheduler is to be made with its Registry.
	State *plugins.State

	leader *fence.Fence
}

// NewProcess returns a process that is the Scheduler of the name, or the only one if that is empty.
func NewProcess(name string) *Process {
	leader := fence.New()
	p := &Process{State: plugins.NewState(leader, nil), leader: leader}
	p.State.ShareAs(name, berthv1alpha1.LeaseReference{})
	return p
}

// Guard lets pods be bound only while the lease of the election is provably held. It must be called
// before the election begins. Without an election, for nil, they always may.
func (p *Process) Guard(election *leaderelection.LeaderElectionConfig) {
	if election == nil {
		p.leader.KeepOpen()
		return
	}
	election.Lock = fence.NewLock(election.Lock, p.leader, election.RenewDeadline)
}

// Start runs what the plugins need in the background until the context ends. It must be called
// before the kube-scheduler runs, which was made with the plugins of this process.
func (p *Process) Start(ctx context.Context, sched *scheduler.Scheduler) {
	p.State.Follow(sched)
	go p.State.Run(ctx)
}
