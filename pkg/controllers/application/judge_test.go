// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
)

// wanted returns how many replicas the manifest asks for or, if it leaves that to an autoscaler,
// how many there are to be: as many as before a move, or else as many as the autoscaler has asked
// for.
func (a *tenant) wanted() (n int) {
	app := a.stored()
	if app == nil {
		return 0
	}
	if _, after, found := strings.Cut(string(app.Spec.Manifests[0].Raw), `"replicas":`); found {
		_, _ = fmt.Sscanf(after, "%d", &n)
		return n
	}
	before := app.Status.ReplicasBefore
	if app.Status.Move != nil {
		before = app.Status.Move.Replicas
	}
	if len(before) > 0 {
		return int(before[0].Replicas)
	}
	if d := a.deployment(); d != nil {
		return int(*d.Spec.Replicas)
	}
	return 0
}

// available returns how many of these pods are available.
func (a *tenant) available(pods []*corev1.Pod) (count int) {
	least := time.Duration(0)
	if strings.Contains(string(a.stored().Spec.Manifests[0].Raw), "minReadySeconds") {
		least = 10 * time.Second
	}
	for _, pod := range pods {
		if since, ready := workload.ReadySince(pod); ready && a.fleet.clock.Now().Sub(since) >= least {
			count++
		}
	}
	return count
}

func (y *year) failf(a *tenant, format string, args ...any) {
	if y.failed++; y.failed > 5 {
		return
	}
	is := &a.stored().Status
	y.tb.Errorf("%s %s: %s\nmove %+v, left out %+v, failed over %+v, decisions %+v", y.clock.Now().Format(time.DateTime), a.key.Name,
		fmt.Sprintf(format, args...), is.Move, is.LeftOut, is.FailedOver, is.Decisions[:min(2, len(is.Decisions))])
}

// judgeShrink checks that nobody who is needed goes.
func (y *year) judgeShrink(a *tenant, pods, victims []*corev1.Pod) {
	y.counts.Shrunk++
	before, after, wanted := a.available(pods), a.available(pods[len(victims):]), a.wanted()
	if after < min(before, wanted) && a.stored().Spec.Migration != berthv1alpha1.MigrationStopFirst {
		y.failf(a, "%d of %d available pods are left, want %d", after, before, min(before, wanted))
	}
}

// judgeTaken checks that somebody who lowers the number of replicas while an Application moves
// takes none that is needed, as long as all old ones are available and keep their seats.
func (y *year) judgeTaken(a *tenant, pods, victims []*corev1.Pod) {
	move := a.stored().Status.Move
	if move == nil || a.stored().Spec.Migration == berthv1alpha1.MigrationStopFirst || y.stored(move.From).Spec.Unschedulable {
		return
	}
	var old []*corev1.Pod
	for _, pod := range pods {
		if placed, bound := stamp.Of(pod); bound && placed.Cluster == move.From {
			old = append(old, pod)
		}
	}
	before, after, least := a.available(pods), a.available(pods[len(victims):]), min(a.wanted(), a.load)
	if a.available(old) == len(old) && after < min(before, least) {
		y.failf(a, "an autoscaler takes all but %d of %d available pods, want %d", after, before, min(before, least))
	}
}

// judge checks a pass.
func (y *year) judge(a *tenant, before, after *berthv1alpha1.Application) {
	y.counts.Passes++
	y.judgeDeadline(a)
	y.noteLimited(a, after)
	if before.Status.Move != nil && after.Status.Move == nil || len(before.Status.ReplicasBefore) > len(after.Status.ReplicasBefore) {
		a.disturbed() // A way back, or on, may begin and end between two looks.
	}
	if a.load > 0 && after.Status.Move != nil {
		y.scale(a)
	}
	if apiequality.Semantic.DeepEqual(before.Status.Decisions, after.Status.Decisions) {
		return
	}
	a.disturbed()
	d := &after.Status.Decisions[0]
	if before.Spec.Suspend {
		y.failf(a, "it goes to %s while it is suspended", d.To)
	}
	switch d.Reason {
	case berthv1alpha1.DecisionMoveGivenUp:
		y.counts.GivenUp++
	case berthv1alpha1.DecisionFirstChoice:
		y.judgeChoice(a, before, after, "", d.To)
	default:
		y.counts.Moves++
		if before.Spec.Migration == berthv1alpha1.MigrationNever {
			y.failf(a, "it goes to %s and may never move", d.To)
		}
		y.judgeChoice(a, before, after, d.From, d.To)
		if y.random.IntN(10) == 0 { // What it moves to lets no pod become ready until beyond the deadline.
			y.turn(&y.place(d.To).crashes, 20*time.Minute, time.Hour)
		}
	}
}

// judgeDeadline checks that no move goes on beyond its deadline. What a lost write costs is not
// counted, nor how long old pods take to go once all new ones are available.
func (y *year) judgeDeadline(a *tenant) {
	app := a.stored()
	if app == nil || app.Status.Move == nil || app.Spec.Suspend {
		return
	}
	beyond := 10 * time.Second
	if app.Status.Move.Step == berthv1alpha1.MoveShrink && app.Spec.Migration != berthv1alpha1.MigrationStopFirst {
		beyond = time.Minute
	}
	end := app.Status.Move.Deadline.Time
	if a.resumed.After(end) {
		end = a.resumed
	}
	if y.clock.Now().After(end.Add(beyond)) {
		y.failf(a, "it is at %s %v after its deadline", app.Status.Move.Step, y.clock.Now().Sub(app.Status.Move.Deadline.Time))
	}
}

// judgeChoice checks that of all clusters the best was chosen, and that it was worth the move.
func (y *year) judgeChoice(a *tenant, before, after *berthv1alpha1.Application, from, to string) {
	if from != "" && y.suits(a, after, from, from, before) {
		y.judgeLeaving(a, before, after, from, to)
	}
	if !y.suits(a, after, to, from, before) {
		y.failf(a, "it goes to %s, which does not suit", to)
	}
	for _, p := range y.clusters {
		if p.name != to && y.suits(a, after, p.name, from, before) && y.value(p.name, from) > y.value(to, from)+1e-9 {
			y.failf(a, "it goes to %s with %v, and %s has %v", to, y.value(to, from), p.name, y.value(p.name, from))
		}
	}
}

// judgeLeaving checks that a cluster that suits was left for a better one only. After a move that
// was given up the next best one may be chosen in the same pass, if nothing has to go back first.
func (y *year) judgeLeaving(a *tenant, before, after *berthv1alpha1.Application, from, to string) {
	if y.stored(from).Status.Conditions[0].Status != metav1.ConditionTrue {
		y.failf(a, "it leaves %s for %s before its time, as that is offline", from, to)
	}
	// A move that is done may be followed by another one in the same pass, which begins where it went.
	goesOn := before.Status.Move != nil && (after.Status.Move == nil || after.Status.Move.From != from)
	if goesOn && after.Status.Decisions[1].Reason != berthv1alpha1.DecisionMoveGivenUp {
		y.failf(a, "it leaves %s for %s on the way there, and that suits", from, to)
	}
	if y.value(to, from) <= y.value(from, from) {
		y.failf(a, "it leaves %s with %v for %s with %v", from, y.value(from, from), to, y.value(to, from))
	}
	if now := y.clock.Now(); before.Spec.Move.Windows != nil && now.Hour()%6 != 0 {
		y.failf(a, "it leaves %s for %s outside of its windows", from, to)
	}
}

// value returns what a cluster is worth: the mean of its metrics and of the stickiness, one less
// if one of them has no value.
func (y *year) value(name, current string) float64 {
	sum, total := 0.0, 0.1
	for i, s := range y.stored(name).Status.Metrics {
		weight := weights[i].Weight
		total += weight
		switch {
		case name == current || !s.Stale:
			sum += weight * *s.Value
		case s.Reason != berthv1alpha1.ReasonOutOfRange:
			return -1
		}
	}
	if name == current {
		sum += 0.1
	}
	return sum / total
}

// suits reports whether a cluster comes into question.
func (y *year) suits(a *tenant, app *berthv1alpha1.Application, name, current string, before *berthv1alpha1.Application) bool {
	now, online := y.clock.Now(), &y.stored(name).Status.Conditions[0]
	if !y.matches(app, name, current) {
		return false
	}
	if online.Status != metav1.ConditionTrue {
		return name == current && app.Spec.Failover != nil && now.Before(online.LastTransitionTime.Add(5*time.Minute))
	}
	if y.leftOut(app, name, current, before) {
		return false
	}
	if name == current || current == "" || !y.suits(a, app, current, current, before) {
		return true
	}
	return !slices.ContainsFunc(before.Status.FailedOver, func(left berthv1alpha1.FailedOverCluster) bool {
		return left.Cluster == name && now.Before(online.LastTransitionTime.Add(30*time.Minute))
	})
}

// leftOut reports whether a cluster is left out since a move to it has failed.
func (y *year) leftOut(app *berthv1alpha1.Application, name, current string, before *berthv1alpha1.Application) bool {
	return slices.ContainsFunc(app.Status.LeftOut, func(out berthv1alpha1.LeftOutCluster) bool {
		return out.Cluster == name && y.clock.Now().Before(out.Until.Time) && (name != current || out.Failures > failuresOf(before, name))
	})
}

// matches reports whether an Application asks for nothing that a cluster lacks.
func (y *year) matches(app *berthv1alpha1.Application, name, current string) bool {
	c := y.stored(name)
	if c.Spec.Drain || c.Spec.Unschedulable && name != current {
		return false
	}
	if len(app.Spec.Constraints.ClusterLabels) > 0 && c.Labels["side"] != "east" {
		return false
	}
	s := &c.Status.Metrics[0]
	return len(app.Spec.Constraints.ClusterMetrics) == 0 || *s.Value >= 0.2 && (!s.Stale || name == current)
}

// failuresOf returns how many moves to a cluster have failed.
func failuresOf(app *berthv1alpha1.Application, cluster string) int32 {
	for _, out := range app.Status.LeftOut {
		if out.Cluster == cluster {
			return out.Failures
		}
	}
	return 0
}

// judgeAll checks that what can run does, and that what would be better elsewhere moves.
func (y *year) judgeAll() {
	for _, a := range y.apps {
		if a.stored() != nil {
			y.judgeDeadline(a)
			y.judgeRunning(a)
			y.judgeStaying(a)
		}
	}
}

// judgeRunning checks that an Application runs if nothing has disturbed it for long enough.
func (y *year) judgeRunning(a *tenant) {
	now, app := y.clock.Now(), a.stored()
	in := app.Status.ScheduledTo
	settled := in != "" && y.suits(a, app, in, in, app)
	y.note(a, app, settled)
	if now.Sub(a.calm) <= y.patience(a, app) {
		return
	}
	there := a.readyIn(in)
	if !settled || there != a.wanted() || len(a.pods()) != there || len(app.Status.ReplicasBefore) > 0 {
		y.failf(a, "nothing has disturbed it for %v, and %d of %d pods are ready in %s, %d in all; that suits: %t", now.Sub(a.calm),
			there, a.wanted(), cmp.Or(in, "no cluster"), len(a.pods()), settled)
		a.calm = now.Add(day) // That it goes on is told once a day.
	}
}

// note notes whether something disturbs an Application.
func (y *year) note(a *tenant, app *berthv1alpha1.Application, settled bool) {
	returned := !a.returning.IsZero() // The way may have ended since the last look.
	// To leave a cluster that is dead takes no longer than to start pods, whatever the surge is.
	moves := app.Status.Move != nil && !y.place(app.Status.Move.From).dead
	if returns := y.returns(a, app); settled != a.settled || moves || returns || returned {
		a.disturbed()
	}
	// What hinders it may last until just before the next look.
	if next := y.clock.Now().Add(look); (a.quota || y.hindered(a, app, settled)) && next.After(a.calm) {
		a.calm = next
	}
	a.settled = settled
}

// patience is how long it may take until an Application runs that nothing disturbs.
func (y *year) patience(a *tenant, app *berthv1alpha1.Application) time.Duration {
	switch {
	case a.settled:
		return time.Minute + a.starts + 10*time.Second // Its pods may have to be ready for that long.
	case app.Status.ScheduledTo != "":
		return time.Minute + app.Spec.RescheduleAfter.Duration + y.line()
	}
	return time.Minute
}

// returns reports whether an Application is on its way back from a move that was given up, or on to
// where there is no way back from. It is allowed the time in which its pods start one after the
// other, and for ever if an autoscaler takes the new ones away all the time.
func (y *year) returns(a *tenant, app *berthv1alpha1.Application) bool {
	now := y.clock.Now()
	if app.Status.Move != nil || !a.between() && a.readyIn(app.Status.ScheduledTo) == a.ready() {
		a.returning = time.Time{}
		return false
	}
	if a.returning.IsZero() || y.hindered(a, app, true) || a.quota || a.calm.After(now) {
		a.returning = now
	}
	if a.load > 0 && !a.patient {
		return true
	}
	return now.Sub(a.returning) < time.Minute+time.Duration(a.wanted()+1)*(a.starts+15*time.Second)
}

// between reports whether its policy names more than one cluster.
func (a *tenant) between() bool {
	policy := a.policy()
	return policy != nil && len(policy.Spec.Placement.StaticWeightList) > 1
}

// judgeStaying checks that an Application does not stay for long after another cluster has become
// better.
func (y *year) judgeStaying(a *tenant) {
	app, now := a.stored(), y.clock.Now()
	in, returns := app.Status.ScheduledTo, y.returns(a, app)
	limited := y.judgeLimited(a, app)
	rests := app.Status.Move != nil || app.Spec.Suspend || app.Spec.Migration == berthv1alpha1.MigrationNever ||
		app.Spec.Move.Windows != nil || returns || limited
	better := ""
	if !rests && in != "" {
		better = y.better(a, app)
	}
	if better == "" {
		a.worse = time.Time{}
		return
	}
	a.noteWorse(now)
	if now.Sub(a.worse) > app.Spec.RescheduleAfter.Duration+time.Second {
		y.failf(a, "it stays in %s with %v for %v, and %s has %v", in, y.value(in, in), now.Sub(a.worse), better, y.value(better, in))
		a.worse = now.Add(day)
	}
}

// noteWorse notes since when another cluster has been better. A move may begin and end between two
// looks.
func (a *tenant) noteWorse(now time.Time) {
	if a.worse.IsZero() {
		a.worse = now
	}
	if last := a.stored().Status.Decisions; len(last) > 0 && last[0].Time.After(a.worse) {
		a.worse = last[0].Time.Time
	}
}

// judgeLimited reports whether an Application says that it waits for its turn to move, and checks
// that it does not do so for longer than the line is.
func (y *year) judgeLimited(a *tenant, app *berthv1alpha1.Application) bool {
	if !limited(app) {
		return false
	}
	now := y.clock.Now()
	if waits := now.Sub(a.limited); waits > y.line() {
		y.failf(a, "it has waited for its turn to move for %v, and the line takes no more than %v", waits, y.line())
		a.limited = now.Add(day)
	}
	return true
}

func limited(app *berthv1alpha1.Application) bool {
	told := apimeta.FindStatusCondition(app.Status.Conditions, berthv1alpha1.ApplicationMoving)
	return told != nil && told.Reason == berthv1alpha1.ReasonMovesLimited && !app.Spec.Suspend
}

// noteLimited notes since when an Application waits for its turn to move.
func (y *year) noteLimited(a *tenant, app *berthv1alpha1.Application) {
	switch {
	case !limited(app):
		a.limited = time.Time{}
	case a.limited.IsZero():
		y.counts.Limited++
		a.limited = y.clock.Now()
	}
}

// line returns for how long a move may wait for its turn: until the pods of all others have begun
// to move to the same cluster, after the one that has begun just now; until who is first in the
// line and does not come any more has lost its place; and until it asks again.
func (y *year) line() time.Duration {
	pods := 0
	for _, a := range y.apps {
		pods += a.wanted()
	}
	return time.Duration(pods)*time.Minute/time.Duration(y.limits.PerCluster) + time.Minute
}

// better returns a cluster that suits and has more than the present one, which suits as well; empty
// if there is none.
func (y *year) better(a *tenant, app *berthv1alpha1.Application) (name string) {
	in := app.Status.ScheduledTo
	if y.stored(in).Status.Conditions[0].Status != metav1.ConditionTrue || !y.suits(a, app, in, in, app) {
		return ""
	}
	for _, p := range y.clusters {
		if y.suits(a, app, p.name, in, app) && y.value(p.name, in) > y.value(in, in)+1e-9 {
			name = p.name
		}
	}
	return name
}

// readyIn returns how many pods are ready in a cluster.
func (a *tenant) readyIn(cluster string) (ready int) {
	for _, pod := range a.pods() {
		if placed, bound := stamp.Of(pod); bound && placed.Cluster == cluster && workload.Ready(pod) {
			ready++
		}
	}
	return ready
}

// hinders reports whether pods cannot run in a cluster.
func (p *place) hinders() bool { return p.dead || p.crashes || p.refuses }

// hindered reports whether an Application cannot run: where it is, or anywhere else if that does
// not suit. What must not run twice waits for old pods that have not ended, which those of a dead
// cluster do when it is back.
func (y *year) hindered(a *tenant, app *berthv1alpha1.Application, settled bool) bool {
	in := app.Status.ScheduledTo
	if app.Spec.Suspend && (in == "" || !settled || app.Status.Move != nil || a.between()) {
		return true
	}
	if settled {
		return y.place(in).hinders() || app.Spec.Migration == berthv1alpha1.MigrationStopFirst && a.leaving()
	}
	return in != "" && app.Spec.Migration == berthv1alpha1.MigrationNever ||
		!slices.ContainsFunc(y.clusters, func(p *place) bool { return p.name != in && y.suits(a, app, p.name, in, app) })
}
