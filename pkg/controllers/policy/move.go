// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"

	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/history"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/failover"
	"berth.dev/berth/pkg/placement/movelimit"
	"berth.dev/berth/pkg/placement/policymatch"
	"berth.dev/berth/pkg/placement/rebalance"
)

const (
	// roomAgain is when room is looked for again: other pods come and go without an event for this
	// controller. roomPause is how long a search that found none is good for, whatever happens.
	roomAgain, roomPause = 30 * time.Second, 5 * time.Second
	// changedAgain is when something is tried again in which the API server knew better than the
	// cache.
	changedAgain = time.Second
)

// move makes one round of evictions for each workload of a policy that needs one.
func (p *pass) move(ctx context.Context, in *inForce) error {
	if in.Err != nil {
		return nil //nolint:nilerr // a policy that cannot be carried out moves nothing, and says so in its status
	}
	var errs []error
	for _, placed := range in.placements {
		stuck, _ := placed.stuck(patience(in), p.now)
		complete := placed.Pending(true) <= stuck && len(placed.bound)+stuck >= int(placed.Replicas)
		placed.note.follow(complete, placed.Misplaced, p.now)
		placed.keepPromises(in, p.now, p.PromiseLife)
		if placed.Misplaced == 0 {
			placed.note.lacks = nil
		} else {
			var err error
			placed.decision, err = p.moveWorkload(ctx, in, placed)
			placed.moving = placed.note.open || placed.decision.Held == rebalance.Cooldown
			errs = append(errs, err)
		}
		p.recordHeld(in, placed)
		p.requeueWorkload(placed)
	}
	return errors.Join(errs...)
}

// moveWorkload decides on the round of one workload, has the API server confirm it, and carries it
// out. It returns what was decided, which is also worth something with an error.
func (p *pass) moveWorkload(ctx context.Context, in *inForce, placed *placement) (rebalance.Decision, error) {
	round := p.round(in, placed, modelpolicy.Vacancies{})
	switch {
	case placed.Plan == nil:
		return rebalance.Decision{Held: round.Never}, nil
	case p.now.Before(placed.note.noRoomUntil):
		p.requeueAfter(placed.note.noRoomUntil.Sub(p.now)) // what has brought this pass about may have made room
		return rebalance.Decision{Held: rebalance.NoRoom}, nil
	}
	unconfirmed := rebalance.Decision{Held: rebalance.Unconfirmed}
	var found modelpolicy.Vacancies
	if round.Guard() == "" {
		var err error
		placed.note.lacks = nil
		found, err = placed.FindVacancies(placed.bound, func(cluster int, pod *corev1.Pod, limit int) (int, error) {
			return p.roomIn(ctx, in, placed, in.clusters[cluster], pod, limit)
		})
		if err != nil {
			return unconfirmed, err
		}
		round = p.round(in, placed, found)
	}
	decision := rebalance.Decide(round)
	if len(decision.Victims) == 0 {
		if decision.Held == rebalance.NoRoom {
			placed.note.noRoomUntil = p.now.Add(roomPause)
		}
		return decision, nil
	}
	victims := p.allowed(in, placed, decision.Victims)
	if len(victims) < len(decision.Victims) {
		decision.Held = rebalance.MovesLimited
	}
	if len(victims) == 0 {
		return decision, nil
	}
	decision, err := p.carryOut(ctx, in, placed, decision, found, victims)
	p.Moves.Leave(claims(in, placed, victims))
	return decision, err
}

// carryOut evicts those victims of a decision that the API server confirms and for which there is
// room that nobody else counts on.
func (p *pass) carryOut(
	ctx context.Context, in *inForce, placed *placement, decision rebalance.Decision, found modelpolicy.Vacancies, victims []rebalance.Victim,
) (rebalance.Decision, error) {
	unconfirmed := rebalance.Decision{Held: rebalance.Unconfirmed}
	confirmed, err := p.confirm(ctx, in, placed, found)
	if err != nil {
		return unconfirmed, err
	}
	moves := p.sameAs(confirmed, placed, victims)
	if len(moves) == 0 {
		return unconfirmed, nil
	}
	kept, err := p.reserve(ctx, in, placed, moves)
	switch {
	case err != nil:
		return unconfirmed, err
	case len(kept) == 0:
		placed.note.noRoomUntil = p.now.Add(roomPause)
		fallthrough
	case len(kept) < len(moves):
		decision.Held = rebalance.NoRoom
	}
	return p.evictAll(ctx, in, placed, decision, kept)
}

// sameAs returns the victims of a decision that were confirmed, where they were when it was made,
// and asks for another pass if there are others.
func (p *pass) sameAs(confirmed map[types.UID]*corev1.Pod, placed *placement, victims []rebalance.Victim) []move {
	moves := make([]move, 0, len(victims))
	for _, victim := range victims {
		known := placed.bound[victim.Pod]
		pod := confirmed[known.UID]
		if pod == nil || pod.Spec.NodeName != known.Spec.NodeName {
			p.requeueAfter(changedAgain)
			continue
		}
		moves = append(moves, move{victim, pod})
	}
	return moves
}

// round gathers what the decision needs.
func (p *pass) round(in *inForce, placed *placement, found modelpolicy.Vacancies) *rebalance.Round {
	spec := &in.policy.Spec.Rebalance
	cooldown := rebalance.DefaultCooldown
	if spec.Cooldown != nil {
		cooldown = spec.Cooldown.Duration
	}
	round := placed.Round(placed.Observed, in.policy, in.clusters)
	round.MinPodAge, round.Cooldown = minPodAge(in), rebalance.Pause(cooldown, placed.note.fruitless)
	round.Fresh = failover.Of(in.policy.Spec.Failover).ReturnAfter()
	round.FreshStay, round.SettledIn = in.unsettled, in.settledIn
	round.Stuck, round.StuckIn = placed.stuck(patience(in), p.now)
	round.SinceRound = p.now.Sub(placed.note.roundAt)
	found.Apply(round, placed.bound)
	return round
}

// confirm decides once more, on what the API server has at this moment and the room that was found.
// It returns the victims of that decision; they are none if the policy has changed or is no longer
// in force for the workload.
func (p *pass) confirm(
	ctx context.Context, in *inForce, placed *placement, found modelpolicy.Vacancies,
) (map[types.UID]*corev1.Pod, error) {
	policies, err := listPolicies(ctx, p.Live, p.namespace)
	if err != nil {
		return nil, err
	}
	live, err := state.LiveWorkload(ctx, p.Live, placed.Observed)
	if err != nil || live == nil {
		return nil, err
	}
	index := policymatch.NewIndex(policies)
	winner, _, _ := modelpolicy.InForce(index, live.Selectable(), modelpolicy.RequestOfWorkload(live))
	if winner == nil || winner.UID != in.policy.UID || winner.Generation != in.policy.Generation ||
		!modelpolicy.SameMeaning(winner, in.policy) {
		return nil, nil
	}
	again := p.assess(in, live, placed.note)
	confirmed := map[types.UID]*corev1.Pod{}
	for _, victim := range rebalance.Decide(p.round(in, again, found)).Victims {
		pod := again.bound[victim.Pod]
		confirmed[pod.UID] = pod
	}
	return confirmed, nil
}

// evictAll evicts pods in order, and returns the decision with what holds back the others. It stops
// at the first that a budget does not let go: the others of the workload are most likely under the
// same budget.
func (p *pass) evictAll(
	ctx context.Context, in *inForce, placed *placement, decision rebalance.Decision, victims []move,
) (rebalance.Decision, error) {
	note, moves := placed.note, &moves{}
	defer func() { p.recordMoves(in, placed, moves) }()
	defer p.publishPromises(placed.ID(), note)
	limited := map[int]bool{}
	for _, victim := range victims {
		pod := victim.pod
		if limited[victim.To] = limited[victim.To] || !p.mayMove(in, placed, victim.To, pod); limited[victim.To] {
			decision.Held = rebalance.MovesLimited
			continue
		}
		p.logger.V(2).Info("Evicting pod", "pod", pod.Name, "policy", in.policy.Name, "to", in.Order.Name(victim.To))
		err := p.Evictor.Evict(ctx, pod)
		result, wait := classify(err)
		evictions.WithLabelValues(string(result)).Inc()
		switch result {
		case outcomeEvicted:
			if !note.open {
				note.misplaced = placed.Misplaced
			}
			note.noteEvicted(pod.UID, p.Clock.Now())
			moves.add(in, placed, victim.Victim)
			p.remember(in, placed, pod, history.Evicted, way(in, placed, victim.Victim))
			note.promised = withOneMore(note.promised, placed, in.Order.Name(victim.To), pod)
		case outcomeGone:
			p.requeueAfter(changedAgain)
		case outcomeRefusedByPDB, outcomeSeveralPDBs:
			note.noteRefused(pod.UID, p.Clock.Now(), wait, rebalance.Refused)
			decision.Held = rebalance.PodsRefused
			moves.refused, moves.err = pod, err
			p.remember(in, placed, pod, history.EvictionRefused, err.Error())
			return decision, nil
		case outcomeFailed:
			if !fence.Refused(err) {
				note.noteAsked(pod.UID, p.Clock.Now())
			}
			note.noteRefused(pod.UID, p.Clock.Now(), wait, rebalance.Failing)
			decision.Held = rebalance.EvictionsFail
			p.remember(in, placed, pod, history.EvictionRefused, err.Error())
			return decision, podError(pod, err)
		}
	}
	return decision, nil
}

// allowed returns those of the victims that may begin to move by the limit of all moves, and asks
// for another pass when others may. It is asked before anything is read or reserved for them: those
// that wait must not take room that others want, nor have them woken when they give it back.
func (p *pass) allowed(in *inForce, placed *placement, victims []rebalance.Victim) []rebalance.Victim {
	var allowed []rebalance.Victim
	for i, wait := range p.Moves.Wait(claims(in, placed, victims)) {
		if p.requeueAfter(wait); wait == 0 {
			allowed = append(allowed, victims[i])
		}
	}
	return allowed
}

// mayMove lets a pod begin to move to a cluster by the limit of all moves, and asks for another
// pass when it may if not: others may have begun since it was allowed.
func (p *pass) mayMove(in *inForce, placed *placement, to int, pod *corev1.Pod) bool {
	wait := p.Moves.Begin(claim(in, placed, to, pod))
	p.requeueAfter(wait)
	return wait == 0
}

// claims are those of victims.
func claims(in *inForce, placed *placement, victims []rebalance.Victim) []movelimit.Claim {
	claims := make([]movelimit.Claim, len(victims))
	for i, v := range victims {
		claims[i] = claim(in, placed, v.To, placed.bound[v.Pod])
	}
	return claims
}

// claim is that of a pod which is to move to a cluster.
func claim(in *inForce, placed *placement, to int, pod *corev1.Pod) movelimit.Claim {
	return movelimit.Claim{
		Key: fmt.Sprint(placed.ID(), " ", to), Cluster: in.Order.Name(to), Pods: 1, Priority: schedulinghelpers.PodPriority(pod),
	}
}

// requeueWorkload asks for another pass where only time, or something that makes no event here,
// changes the decision.
func (p *pass) requeueWorkload(placed *placement) {
	p.requeueAfter(placed.decision.RetryAfter)
	if len(placed.note.gone) > 0 {
		p.requeueAfter(forgetEvicted)
	}
	if len(placed.note.promised) > 0 {
		p.requeueAfter(placed.note.making.Expires.Sub(p.now))
	}
	switch placed.decision.Held {
	case rebalance.NoRoom:
		p.requeueAfter(roomAgain)
	case rebalance.PodsRefused, rebalance.EvictionsFail:
		p.requeueAfter(placed.note.nextRefusalEnds(p.Clock.Now()))
	}
}
