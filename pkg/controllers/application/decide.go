// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/rank"
)

// decide reviews the choice of the cluster if it is time to.
func (r *Reconciler) decide(ctx context.Context, p *pass, objects []*object, seen *observed) error {
	changed := p.changed()
	moving := p.app.Status.Move != nil || seen.moving()
	if due, err := r.isDue(ctx, p, changed, moving); err != nil || !due {
		return err
	}
	defer func() {
		wait, _ := r.untilReview(p)
		p.again(wait)
	}()
	constraints, err := rank.ParseConstraints(&p.app.Spec.Constraints)
	if err != nil {
		p.decided(changed)
		p.condition(berthv1alpha1.ApplicationScheduled, false, berthv1alpha1.ReasonInvalidConstraints, err.Error())
		return nil
	}
	before := p.app.Status.ScheduledTo
	candidates := migrate.WithoutFailed(r.candidates.list(r.Clusters(), p.app), p.app.Status.LeftOut, p.stays(), p.now)
	rule := p.leftBefore(candidates)
	request := rank.ApplicationQuery(p.app, constraints, r.Stickiness)
	if before == "" && r.waits(p, request.Unobserved(candidates)) {
		return nil
	}
	results := migrate.Rank(request, candidates, rule, p.app.Status.FailedOver, p.now)
	p.waitsForCluster(rule, candidates, results)
	err = r.chooseWithRoom(ctx, p, request, results, objects, seen, func(results []rank.Ranked) {
		r.record(p, results, changed, moving, objects, seen)
	})
	if err != nil {
		return err
	}
	r.follow(p, before, objects, seen)
	return nil
}

// stays returns the cluster that is not left out because a move there has failed: the current one,
// unless it was given up just now.
func (p *pass) stays() string {
	if p.lost != "" {
		return ""
	}
	return p.app.Status.ScheduledTo
}

// isDue reports whether the choice is to be reviewed, and asks for another pass when it is if not.
func (r *Reconciler) isDue(ctx context.Context, p *pass, changed, moving bool) (bool, error) {
	early := changed || p.app.Status.ScheduledTo == "" || p.lost != "" || (p.memo.review || p.waitsForTurn()) && !moving
	if wait, due := r.untilReview(p); !early && !due {
		presses, err := r.presses(ctx, p)
		if err != nil || !presses || moving {
			p.again(wait)
			return false, err
		}
	}
	p.memo.review = p.memo.review && moving
	return true, nil
}

// untilReview returns how long it is until the next regular review, and whether one is due now:
// they come at even distances after the last change of the choice, so that everybody can tell when.
func (r *Reconciler) untilReview(p *pass) (wait time.Duration, due bool) {
	every, decided := r.rescheduleAfter(p.app), p.decidedAt()
	if decided.IsZero() {
		return every, true
	}
	chosen := decided
	if triggered := p.app.Status.KubeControllerTriggered; triggered != nil {
		chosen = triggered.Time
	}
	return migrate.NextReview(chosen, every, p.now).Sub(p.now), decided.Before(migrate.LastReview(chosen, every, p.now))
}

// follow tells of another choice, and begins to move there.
func (r *Reconciler) follow(p *pass, before string, objects []*object, seen *observed) {
	switch chosen := p.app.Status.ScheduledTo; before {
	case chosen:
	case "":
		r.Recorder.Eventf(p.app, nil, corev1.EventTypeNormal, "Scheduled", "Schedule", "Chose cluster %s", chosen)
	default:
		moves.Inc()
		p.noteFailover(before)
		r.Recorder.Eventf(
			p.app, nil, corev1.EventTypeNormal, "Rescheduled", "Schedule", "Chose cluster %s instead of %s", chosen, before)
		p.beginMove(before, objects, seen)
	}
}

// waits reports whether a first choice waits because something that may matter is unknown. It does
// not wait for longer than the settle timeout, and remembers then what was missing.
func (r *Reconciler) waits(p *pass, unknown []string) bool {
	if p.memo.waiting.IsZero() {
		p.memo.waiting = p.now
	}
	p.unknown = unknown
	left := p.memo.waiting.Add(r.SettleTimeout).Sub(p.now)
	if len(unknown) == 0 || left <= 0 {
		return false
	}
	p.again(left)
	p.condition(berthv1alpha1.ApplicationScheduled, false, berthv1alpha1.ReasonWaitingForKnowledge,
		fmt.Sprintf("waiting up to %v for what is not known yet: %s", r.SettleTimeout, names.First(unknown, maxNamed, "; ")))
	return true
}

// maxNamed is how many clusters a message names.
const maxNamed = 5

// decidedAt is when the choice was last reviewed, as far as that is known: events do not change it.
func (p *pass) decidedAt() time.Time {
	at := p.memo.decided
	if triggered := p.app.Status.KubeControllerTriggered; triggered != nil && triggered.After(at) {
		at = triggered.Time
	}
	return at
}

func (r *Reconciler) rescheduleAfter(app *berthv1alpha1.Application) time.Duration {
	if own := app.Spec.RescheduleAfter; own != nil && own.Duration > 0 {
		return own.Duration
	}
	return r.RescheduleAfter
}

// decided notes that the choice has been reviewed. A changed spec has been decided about for good.
func (p *pass) decided(changed bool) {
	p.memo.decided = p.now
	p.seen()
	if changed && p.app.Status.ScheduledTo != "" {
		p.app.Status.KubeControllerTriggered = p.time()
	}
}

func (p *pass) time() *metav1.Time {
	t := metav1.NewTime(p.now).Rfc3339Copy()
	return &t
}

// record chooses from the ranking, and writes choice and ranking into the status.
func (r *Reconciler) record(p *pass, results []rank.Ranked, changed, moving bool, objects []*object, seen *observed) {
	status := &p.app.Status
	app := migrate.Application{
		Current: status.ScheduledTo, Never: p.never(), Moving: moving, Waits: p.offline.waits,
	}
	chosen := r.limited(p, app, p.within(app, results), objects, seen)
	if chosen != status.ScheduledTo {
		status.Decisions = migrate.Remember(status.Decisions, migrate.Decide(results, status.ScheduledTo, chosen, p.now))
		status.ScheduledTo, status.Scheduled, changed = chosen, p.time(), true
	}
	p.decided(changed)
	i := slices.IndexFunc(results, func(r rank.Ranked) bool { return r.Name == chosen && r.Eligible })
	switch {
	case i >= 0:
		p.condition(berthv1alpha1.ApplicationScheduled, true, berthv1alpha1.ReasonClusterChosen,
			p.scheduledMessage(&results[i], &results[0]))
	case chosen != "" && chosen == p.offline.cluster:
		p.tellOffline(results)
	case chosen == "" || !slices.ContainsFunc(results, func(r rank.Ranked) bool { return r.Eligible }):
		p.condition(berthv1alpha1.ApplicationScheduled, false, berthv1alpha1.ReasonNoClusterMatches, rank.Unmatched(results))
	default:
		p.tellUnsuited(results)
	}
	p.show(results, i)
}

// show writes the ranking into the status, and the score of the cluster that was chosen, which is
// the i-th unless i is negative.
func (p *pass) show(results []rank.Ranked, i int) {
	status := &p.app.Status
	ranking := rank.Shown(results)
	changes := !alike(status.Ranking, ranking)
	if changes {
		status.Ranking = ranking
	}
	if i >= 0 && (changes || status.Score == nil || math.Abs(*status.Score-results[i].Score) >= noticeable) {
		status.Score = new(results[i].Score)
	}
	if status.Score != nil {
		status.ShownScore = rank.Digits(*status.Score)
	}
}

// tellUnsuited tells that the Application stays in a cluster that does not suit any more although
// another one does.
func (p *pass) tellUnsuited(results []rank.Ranked) {
	chosen, why := p.app.Status.ScheduledTo, "there is no such cluster"
	if i := slices.IndexFunc(results, func(r rank.Ranked) bool { return r.Name == chosen }); i >= 0 {
		why = strings.Join(results[i].Rejections, ", ")
	}
	p.condition(berthv1alpha1.ApplicationScheduled, false, berthv1alpha1.ReasonNoClusterMatches,
		fmt.Sprintf("cluster %s does not suit any more: %s; %s", chosen, why, p.whyStays()))
}

// never reports whether the Application stays in the first cluster that was chosen for it.
func (p *pass) never() bool { return p.app.Spec.Migration == berthv1alpha1.MigrationNever }

// whyStays says why the Application stays although another cluster suits it better.
func (p *pass) whyStays() string {
	if p.never() {
		return "migration is Never, so it stays there"
	}
	return "the move to another one waits"
}

// scheduledMessage says why a cluster is chosen, given the best one.
func (p *pass) scheduledMessage(r, best *rank.Ranked) string {
	message := fmt.Sprintf("cluster %s meets the constraints, and no other one is better by more than the stickiness", r.Name)
	if best.Name != r.Name {
		message = fmt.Sprintf("cluster %s meets the constraints; cluster %s is better by more than the stickiness, and %s",
			r.Name, best.Name, p.whyStays())
	}
	if len(r.Problems) > 0 {
		message += "; " + strings.Join(r.Problems, "; ")
	}
	if len(p.unknown) > 0 {
		message += "; chosen without knowing " + names.First(p.unknown, maxNamed, "; ")
	}
	return message
}

// noticeable is the least difference of scores that is written.
const noticeable = 0.005

// alike reports whether two rankings differ in nothing but small parts of scores, which are not
// worth a write.
func alike(a, b []berthv1alpha1.RankedPlace) bool {
	return slices.EqualFunc(a, b, func(x, y berthv1alpha1.RankedPlace) bool {
		return x.Name == y.Name && x.Eligible == y.Eligible && slices.Equal(x.Reasons, y.Reasons) &&
			math.Abs(x.Score-y.Score) < noticeable &&
			slices.EqualFunc(x.Parts, y.Parts, func(p, q berthv1alpha1.ScorePart) bool {
				return p.Name == q.Name && p.Weight == q.Weight && math.Abs(p.Value-q.Value) < noticeable
			})
	})
}
