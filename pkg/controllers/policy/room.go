// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/model/demand"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/rebalance"
	"berth.dev/berth/pkg/simulator"
)

// roomIn returns how many pods like the given one a cluster takes once that one is gone.
func (p *pass) roomIn(
	ctx context.Context, in *inForce, placed *placement, cluster *topology.Cluster, pod *corev1.Pod, limit int,
) (copies int, err error) {
	if !cluster.TakesPods() || limit <= 0 {
		return 0, nil
	}
	if suits, err := p.suits(ctx, in, cluster.Object.Name, pod); err != nil || !suits {
		return 0, err
	}
	err = p.Adviser.Ask(ctx, placed.promisedHere, func(snapshot *simulator.Snapshot) error {
		room, err := snapshot.RoomFor(ctx, cluster.Object.Name, cluster.Home(), pod, limit)
		copies = room.Copies
		if err != nil || copies == limit || cluster.Home() == "" || !demand.Asks(pod) {
			return err
		}
		granted, err := snapshot.RoomFor(ctx, cluster.Object.Name, "", pod, limit)
		placed.lack(cluster, pod, granted.Copies-copies)
		if err != nil || copies > 0 || granted.Copies == 0 {
			return err
		}
		copies, err = exchanged(ctx, snapshot, cluster, pod)
		return err
	})
	return copies, err
}

// exchanged returns 1 if a cluster takes a pod only because that gives back what it holds: all
// units are held, so nobody can be granted any before. They are granted to the scheduler of the
// cluster when the replacement waits for them there.
func exchanged(ctx context.Context, snapshot *simulator.Snapshot, cluster *topology.Cluster, pod *corev1.Pod) (int, error) {
	beside, err := snapshot.Room(ctx, cluster.Object.Name, modelpolicy.Replacement(pod), 1)
	if err != nil || beside.Copies > 0 {
		return 0, err // what there is besides is granted first
	}
	return 1, nil
}

// move is a pod that is to be evicted, as the API server has it.
type move struct {
	rebalance.Victim
	pod *corev1.Pod
}

// reserve promises room to the replacements of the pods that are to be evicted, and returns those
// of the moves for which there is some: since it was found, others may have been promised it, and
// pods that fit one by one may not fit together. Nobody else is answered in between, so that what
// is evicted has room that nobody else counts on.
func (p *pass) reserve(ctx context.Context, in *inForce, placed *placement, moves []move) (kept []move, err error) {
	placed.note.told = true
	question := func(snapshot *simulator.Snapshot) ([]adviser.Promise, error) {
		promises := slices.Clone(placed.note.promised)
		for _, m := range moves {
			cluster := in.clusters[m.To]
			moved, err := replace(ctx, snapshot, cluster, m.pod)
			if err != nil {
				return nil, err
			}
			if moved {
				kept = append(kept, m)
				promises = withOneMore(promises, placed, cluster.Object.Name, m.pod)
			}
		}
		return promises, nil
	}
	err = p.Adviser.Reserve(ctx, promiser(placed.ID()), placed.promisedHere, question)
	return kept, err
}

// replace puts the replacement of a pod in its place, and reports whether there was room.
func replace(ctx context.Context, snapshot *simulator.Snapshot, cluster *topology.Cluster, pod *corev1.Pod) (bool, error) {
	moved, err := snapshot.Move(ctx, cluster.Object.Name, cluster.Home(), pod)
	if err != nil || moved || cluster.Home() == "" || !demand.Asks(pod) {
		return moved, err
	}
	if copies, err := exchanged(ctx, snapshot, cluster, pod); err != nil || copies == 0 {
		return false, err
	}
	return snapshot.Move(ctx, cluster.Object.Name, "", pod)
}
