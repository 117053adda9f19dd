// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth.dev/berth/pkg/model/workload"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/room"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/policymatch"
	"berth.dev/berth/pkg/placement/rebalance"
)

const (
	// roomAgain is when room is looked for again: other pods come and go without an event for this controller. roomPause
	// is how long a search that found none is good for, whatever happens.
	roomAgain, roomPause = 30 * time.Second, 5 * time.Second
	// changedAgain is when something is tried again in which the API server knew better than the cache.
	changedAgain = time.Second
	// limitAgain is when a round goes on that ran into the limit of evictions.
	limitAgain = time.Second
)

// move makes one round of evictions for each workload of a policy that needs one.
func (p *pass) move(ctx context.Context, in *inForce) error {
	if in.order == nil {
		return nil
	}
	var errs []error
	for _, placed := range in.placements {
		complete := placed.Pending(true) == 0 && len(placed.bound) >= int(placed.Replicas)
		placed.note.follow(complete, placed.misplaced, p.now)
		if placed.misplaced > 0 {
			errs = append(errs, p.moveWorkload(ctx, in, placed))
		}
		p.tell(in, placed)
		p.comeBack(placed)
	}
	return errors.Join(errs...)
}

// moveWorkload decides on the round of one workload, has the API server confirm it, and carries it out.
func (p *pass) moveWorkload(ctx context.Context, in *inForce, placed *placement) error {
	round := p.round(in, placed)
	defer func() { placed.moving = placed.note.open || placed.decision.Held == rebalance.Cooldown }()
	if placed.plan == nil {
		placed.decision.Held = round.Never
		return nil
	}
	if p.now.Before(placed.note.noRoomUntil) {
		placed.decision.Held = rebalance.NoRoom
		return nil
	}
	placed.decision.Held = rebalance.Unconfirmed
	if round.Guard() == "" {
		if err := p.findRoom(ctx, in, placed, round); err != nil {
			return err
		}
	}
	decision := rebalance.Decide(round)
	if len(decision.Victims) == 0 {
		placed.decision = decision
		if decision.Held == rebalance.NoRoom {
			placed.note.noRoomUntil = p.now.Add(roomPause)
		}
		return nil
	}
	confirmed, err := p.confirm(ctx, in, placed, round)
	if err != nil {
		return err
	}
	if len(confirmed) == 0 {
		p.again(changedAgain)
		return nil
	}
	placed.decision = decision
	return p.evictAll(ctx, in, placed, confirmed)
}

// round gathers what the decision needs, but for the room of the clusters.
func (p *pass) round(in *inForce, placed *placement) *rebalance.Round {
	spec := &in.policy.Spec.Rebalance
	cooldown, minPodAge := rebalance.DefaultCooldown, rebalance.DefaultMinPodAge
	if spec.Cooldown != nil {
		cooldown = spec.Cooldown.Duration
	}
	if spec.MinPodAge != nil {
		minPodAge = spec.MinPodAge.Duration
	}
	round := &rebalance.Round{
		Plan: placed.plan, Pods: placed.pods, Clusters: make([]rebalance.Cluster, len(in.clusters)),
		RolloutFinished: placed.RolloutFinished(), Pending: placed.Pending(true),
		MaxUnavailable: rebalance.MaxUnavailableOf(spec.MaxUnavailable, int(placed.Replicas)),
		MinPodAge:      minPodAge,
		Cooldown:       rebalance.Pause(cooldown, placed.note.fruitless),
		SinceRound:     p.now.Sub(placed.note.roundAt),
	}
	switch {
	case placed.Kind == workload.KindJob:
		round.Never = rebalance.JobPods
	case !placed.ReplicasKnown:
		round.Never = rebalance.UnknownWorkload
	case spec.Mode == berthv1alpha1.RebalanceNever:
		round.Never = rebalance.Forbidden
	}
	for i, cluster := range in.clusters {
		round.Clusters[i].Ready = cluster != nil && cluster.ReadyNodes > 0
	}
	return round
}

// findRoom fills in what the clusters that are short of replicas would take. The pods of a revision are alike, so any of
// them stands for the replacements; a pod with a fixed seat comes back with its own volumes, so each stands for itself.
func (p *pass) findRoom(ctx context.Context, in *inForce, placed *placement, round *rebalance.Round) error {
	for i := range placed.pods {
		seen := &placed.pods[i]
		if !seen.Fixed {
			continue
		}
		if owner, ok := placed.plan.Owner(int64(seen.Seat)); ok && owner != seen.Cluster {
			volumes, err := room.VolumesOf(ctx, p.Live, placed.bound[i])
			if err != nil {
				return err
			}
			count, err := p.roomIn(ctx, in, in.clusters[owner], placed.bound[i], volumes, 1)
			if err != nil {
				return err
			}
			seen.Fits = count > 0
		}
	}
	sample := slices.IndexFunc(placed.bound, stamped)
	if sample < 0 || placed.pods[sample].Fixed {
		return nil
	}
	volumes, err := room.VolumesOf(ctx, p.Live, placed.bound[sample])
	if err != nil {
		return err
	}
	for i, cluster := range in.clusters {
		count, err := p.roomIn(ctx, in, cluster, placed.bound[sample], volumes, int(placed.desired[i]-placed.current[i]))
		if err != nil {
			return err
		}
		round.Clusters[i].Room = count
	}
	return nil
}

func (p *pass) roomIn(
	ctx context.Context, in *inForce, cluster *topology.Cluster, pod *corev1.Pod, volumes *room.Volumes, limit int,
) (int, error) {
	if cluster == nil || cluster.ReadyNodes == 0 || limit <= 0 {
		return 0, nil
	}
	if suits, err := p.suits(ctx, in, cluster.Object.Name, pod); err != nil || !suits {
		return 0, err
	}
	return p.room.Count(cluster.Nodes, pod, volumes, limit)
}

func stamped(pod *corev1.Pod) bool {
	_, found := stamp.Of(pod)
	return found
}

// confirm decides once more, on what the API server has at this moment. It returns the victims of that decision; they are
// none if the policy has changed or is no longer in force for the workload.
func (p *pass) confirm(
	ctx context.Context, in *inForce, placed *placement, round *rebalance.Round,
) (map[types.UID]*corev1.Pod, error) {
	policies, err := listPolicies(ctx, p.Live, p.namespace)
	if err != nil {
		return nil, err
	}
	live, err := state.LiveWorkload(ctx, p.Live, placed.Observed)
	if err != nil || live == nil {
		return nil, err
	}
	winner, _ := match(policymatch.NewIndex(policies), live)
	if winner == nil || winner.UID != in.policy.UID || winner.Generation != in.policy.Generation {
		return nil, nil
	}
	again := p.assess(in, live, placed.note)
	second := p.round(in, again)
	second.Clusters = round.Clusters
	fits := map[types.UID]bool{}
	for i, pod := range placed.bound {
		fits[pod.UID] = placed.pods[i].Fits
	}
	for i, pod := range again.bound {
		again.pods[i].Fits = fits[pod.UID]
	}
	confirmed := map[types.UID]*corev1.Pod{}
	for _, victim := range rebalance.Decide(second).Victims {
		pod := again.bound[victim.Pod]
		confirmed[pod.UID] = pod
	}
	return confirmed, nil
}

// evictAll evicts the victims that were confirmed, in order. It stops at the first that a budget does not let go: the
// others of the workload are most likely under the same budget.
func (p *pass) evictAll(
	ctx context.Context, in *inForce, placed *placement, confirmed map[types.UID]*corev1.Pod,
) error {
	note, moves := placed.note, &moves{}
	before := placed.misplaced
	defer func() { p.tellMoves(in, placed, moves) }()
	for _, victim := range placed.decision.Victims {
		pod := confirmed[placed.bound[victim.Pod].UID]
		if pod == nil || pod.Spec.NodeName != placed.bound[victim.Pod].Spec.NodeName {
			p.again(changedAgain)
			continue
		}
		if !p.Evictions.TryAccept() {
			p.again(limitAgain)
			return nil
		}
		p.logger.V(2).Info("Evicting pod", "pod", pod.Name, "policy", in.policy.Name, "to", in.order.Name(victim.To))
		err := p.Evictor.Evict(ctx, pod)
		result, wait := judge(err)
		evictions.WithLabelValues(string(result)).Inc()
		switch result {
		case outcomeEvicted:
			if !note.open {
				note.misplaced = before
			}
			note.noteEvicted(pod.UID, p.Clock.Now())
			moves.add(in, placed, victim)
			p.reserve(ctx, in, pod, victim)
		case outcomeGone:
			p.again(changedAgain)
		case outcomeRefusedByPDB, outcomeSeveralPDBs:
			note.noteRefused(pod.UID, p.Clock.Now(), wait)
			placed.decision.Held = rebalance.PodsRefused
			moves.refused, moves.err = pod, err
			return nil
		case outcomeFailed:
			note.noteRefused(pod.UID, p.Clock.Now(), wait)
			return podError(pod, err)
		}
	}
	return nil
}

// reserve keeps other workloads of this pass from counting on the room that the replacement will take.
func (p *pass) reserve(ctx context.Context, in *inForce, pod *corev1.Pod, victim rebalance.Victim) {
	volumes, err := room.VolumesOf(ctx, p.Live, pod)
	if err == nil {
		err = p.room.Reserve(in.clusters[victim.To].Nodes, pod, volumes, 1)
	}
	if err != nil {
		// The eviction is done. The next pass looks at the room anew.
		p.logger.V(2).Info("Cannot reserve room for a replacement", "pod", pod.Name, "err", err)
	}
}

// comeBack asks for another pass where only time, or something that nobody tells us of, changes the decision.
func (p *pass) comeBack(placed *placement) {
	p.again(placed.decision.RetryAfter)
	if len(placed.note.gone) > 0 {
		p.again(forgetEvicted)
	}
	switch placed.decision.Held {
	case rebalance.NoRoom:
		p.again(roomAgain)
	case rebalance.PodsRefused:
		p.again(placed.note.nextRefusalEnds(p.Clock.Now()))
	}
}
