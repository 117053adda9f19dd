// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/rank"
)

const (
	// defaultDeadline is how long a move may take unless the Application says.
	defaultDeadline = 10 * time.Minute
	// maxLeftOut is how many clusters the status lists that moves have failed to reach, and
	// remembered how long after its time one stays there, so that the next failure counts on.
	maxLeftOut, remembered = 20, 24 * time.Hour
)

// reviewMove decides whether the move that is under way goes on, and tells how far it is.
func (r *Reconciler) reviewMove(ctx context.Context, p *pass, objects []*object, seen *observed) error {
	keepReplicas(p.app, objects)
	move := p.app.Status.Move
	if move == nil {
		p.forgetReplicas(objects, seen)
		return nil
	}
	facts := &migrate.Facts{
		Now: p.now, Unschedulable: seen.unschedulable(), StopFirst: p.app.Spec.Migration == berthv1alpha1.MigrationStopFirst,
	}
	message := ""
	least := len(objects)
	for i, o := range objects {
		if o.policy == "" || !o.scales {
			continue
		}
		w := o.workload(p.app, seen)
		facts.Stages = append(facts.Stages, migrate.Stage(w))
		if _, text := migrate.Progress(w); text != "" && i < least {
			message, least = o.String()+text+seen.refused(o), i
			if why, left := r.keeper.contested(objectID{p.app.Namespace, o.key()}, p.now); why != "" {
				message += "; " + why
				p.again(left)
			}
		}
	}
	verdict := migrate.Review(move, facts)
	if verdict.Again > 0 {
		p.again(verdict.Again)
	}
	switch {
	case verdict.GiveUp != "":
		return r.giveUp(ctx, p, verdict.GiveUp, message+unbound(move.To, seen.allWaiting()))
	case verdict.Step == berthv1alpha1.MoveDone:
		p.endMove(berthv1alpha1.ReasonMoved, fmt.Sprintf("moved from cluster %s to %s", move.From, move.To))
		p.app.Status.Ready = readyOf(p.app, objects, seen).String() // The end is written before what runs is looked at.
		p.app.Status.LeftOut = slices.DeleteFunc(p.app.Status.LeftOut, func(l berthv1alpha1.LeftOutCluster) bool { return l.Cluster == move.To })
	default:
		move.Step, move.Message = verdict.Step, names.Clip(message)
		p.condition(berthv1alpha1.ApplicationMoving, true, string(verdict.Step),
			fmt.Sprintf("from cluster %s to %s: %s", move.From, move.To, message))
	}
	return nil
}

// beginMove notes that the Application leaves a cluster where it runs. To return to where it came
// from ends the move that is under way. After a move that was given up before a pod was in its
// cluster, the next one begins where that began.
func (p *pass) beginMove(from string, objects []*object, seen *observed) {
	to := p.app.Status.ScheduledTo
	if under := p.app.Status.Move; under != nil {
		from = under.From
		p.breakOff(berthv1alpha1.ReasonMoveReturned, fmt.Sprintf("the move from cluster %s to %s was given up for cluster %s", from, under.To, to))
	}
	if p.ended != nil && !seen.runsIn(from) {
		from = p.ended.From
	}
	replicas := p.replicasBefore(objects, seen)
	if from == to || !leaves(from, objects, seen) {
		p.app.Status.ReplicasBefore = replicas
		return
	}
	start := p.now.Truncate(time.Second)
	move := &berthv1alpha1.ApplicationMoveStatus{
		From: from, To: to, Step: berthv1alpha1.MovePrepare, StartTime: metav1.NewTime(start),
		Deadline: metav1.NewTime(start.Add(deadlineOf(p.app))),
	}
	if p.app.Spec.Migration == berthv1alpha1.MigrationStopFirst {
		move.Message = "StopFirst: it does not run until the old pods have gone and the new ones are available"
	}
	move.Replicas = replicas
	p.app.Status.Move, p.app.Status.ReplicasBefore = move, nil
	p.memo.scaled = nil // What somebody did to the last move says nothing of this one.
	p.condition(berthv1alpha1.ApplicationMoving, true, string(move.Step), fmt.Sprintf("from cluster %s to %s: %s", from, to, move.Message))
}

// replicasBefore returns how many replicas each object is to have when it has moved. A move that
// has ended without having been done knows it: since it began there may be more. What the manifest
// says is kept as well, for the case that it says nothing any more before the end.
func (p *pass) replicasBefore(objects []*object, seen *observed) (found []berthv1alpha1.MovedReplicas) {
	for _, o := range objects {
		if !o.scales {
			continue
		}
		if replicas, read := workload.ReplicasOf(seen.live[o.policy]); read {
			before := berthv1alpha1.MovedReplicas{Policy: o.policy, Replicas: int64(replicas)}
			if known := cmp.Or(o.replicas, o.remembered(p.app)); known != nil {
				before.Replicas = *known
			}
			found = append(found, before)
		}
	}
	return found
}

// keepReplicas brings up to date what is remembered of objects whose manifests give a number.
func keepReplicas(app *berthv1alpha1.Application, objects []*object) {
	for _, o := range objects {
		if known := o.remembered(app); known != nil && o.replicas != nil {
			*known = *o.replicas
		}
	}
}

// forgetReplicas forgets how many replicas the workloads had before they began to change the
// cluster once they have them again where they are, and leaves the number to others again.
func (p *pass) forgetReplicas(objects []*object, seen *observed) {
	var still []berthv1alpha1.MovedReplicas
	for _, o := range objects {
		known := o.remembered(p.app)
		if known == nil {
			continue
		}
		if !migrate.Rests(o.workload(p.app, seen)) {
			still = append(still, berthv1alpha1.MovedReplicas{Policy: o.policy, Replicas: *known})
		}
	}
	if len(p.app.Status.ReplicasBefore) > 0 && len(still) == 0 && p.gaveUp() {
		p.memo.review = true // It may have been asked for before a restart.
	}
	p.app.Status.ReplicasBefore = still
}

// gaveUp reports whether the newest decision was to go back from a move that was given up.
func (p *pass) gaveUp() bool {
	made := p.app.Status.Decisions
	return len(made) > 0 && made[0].Reason == berthv1alpha1.DecisionMoveGivenUp
}

// leaves reports whether to leave a cluster is a move: pods run there that another number of
// replicas, or a policy, moves.
func leaves(cluster string, objects []*object, seen *observed) bool {
	return seen.runsIn(cluster) && slices.ContainsFunc(objects, func(o *object) bool { return o.scales })
}

// deadlineOf returns how long a move of an Application may take.
func deadlineOf(app *berthv1alpha1.Application) time.Duration {
	if app.Spec.Move != nil && app.Spec.Move.Deadline != nil {
		return app.Spec.Move.Deadline.Duration
	}
	return defaultDeadline
}

// endMove notes that no move is under way any more, and how the last one ended.
func (p *pass) endMove(reason, message string) {
	p.app.Status.Move = nil
	p.condition(berthv1alpha1.ApplicationMoving, false, reason, message)
}

// breakOff notes that the move that is under way ends before it is done. How many replicas there
// were before it stays known until there are that many again.
func (p *pass) breakOff(reason, message string) {
	p.ended, p.memo.scaled = p.app.Status.Move, nil // What was done to it says nothing of the way back.
	p.app.Status.ReplicasBefore = p.ended.Replicas
	p.endMove(reason, message)
}

// giveUp sends the Application back to where it came from, unless that does not suit any more: then
// the new half is to become whole, there or in the next best cluster. The choice is reviewed in
// this pass then, and otherwise as soon as the Application is back.
func (r *Reconciler) giveUp(ctx context.Context, p *pass, reason, why string) error {
	move := p.app.Status.Move
	origin := &berthv1alpha1.Cluster{}
	err := r.Client.Get(ctx, client.ObjectKey{Name: move.From}, origin)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading cluster %s: %w", move.From, err)
	}
	told := reason + ": " + why
	p.leaveOut(move.To, told)
	if err == nil && rank.Unavailable(origin) == "" {
		moves.Inc()
		p.app.Status.ScheduledTo, p.app.Status.Scheduled = move.From, p.time()
		p.app.Status.Decisions = migrate.Remember(p.app.Status.Decisions, migrate.GaveUp(move.To, move.From, told, p.now))
		p.memo.review = true
	} else {
		p.lost = move.To
	}
	message := fmt.Sprintf("the move from cluster %s to %s was given up: %s", move.From, move.To, why)
	r.Recorder.Eventf(p.app, nil, corev1.EventTypeWarning, "MoveGivenUp", "Schedule", "%s", message)
	p.breakOff(reason, message)
	return nil
}

// leaveOut notes that a move to a cluster has failed.
func (p *pass) leaveOut(cluster, why string) {
	list := slices.DeleteFunc(p.app.Status.LeftOut, func(l berthv1alpha1.LeftOutCluster) bool {
		return l.Cluster != cluster && p.now.After(l.Until.Add(remembered))
	})
	i := slices.IndexFunc(list, func(l berthv1alpha1.LeftOutCluster) bool { return l.Cluster == cluster })
	if i < 0 {
		if len(list) >= maxLeftOut {
			list = list[1:]
		}
		list = append(list, berthv1alpha1.LeftOutCluster{Cluster: cluster})
		i = len(list) - 1
	}
	list[i].Failures++
	list[i].Until = metav1.NewTime(p.now.Add(migrate.LeaveOut(list[i].Failures))).Rfc3339Copy()
	list[i].Message = names.Clip(why)
	p.app.Status.LeftOut = list
}

// surgeOf returns how many replicas a move may add to so many, 0 for as many again.
func surgeOf(app *berthv1alpha1.Application, wanted int64) int64 {
	if app.Spec.Move == nil || app.Spec.Move.MaxSurge == nil {
		return 0
	}
	surge, err := intstr.GetScaledValueFromIntOrPercent(app.Spec.Move.MaxSurge, int(wanted), true)
	if err != nil {
		return 0
	}
	return max(1, int64(surge))
}
