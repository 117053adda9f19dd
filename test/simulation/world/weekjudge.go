// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	model "berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/test/internal/oracle"
)

// judgePod checks a change of a pod: nobody binds it twice, and nobody takes away one that is
// needed.
func (f *fleet) judgePod(before, after *corev1.Pod) {
	was, is := nodeOf(before), nodeOf(after)
	if why := waitsFor(after); why != "" && why != waitsFor(before) {
		f.notef("pod %s waits: %s", after.Name, why)
	}
	switch {
	case was != "" && is != "" && was != is && before.UID == after.UID:
		f.violatef("pod %s was bound to %s and then to %s", after.Name, was, is)
	case was == "" && is != "":
		f.Counts.Bound++
		f.notef("pod %s is bound to %s", after.Name, is)
	case stays(before) && !stays(after):
		f.judgeTaken(f.byName[before.Labels["app"]], before)
	}
}

// judgeTaken checks that a pod is not missed that was taken away by Berth, or by a ReplicaSet that
// Berth has shrunk.
func (f *fleet) judgeTaken(a *tenant, pod *corev1.Pod) {
	if f.acting == nil && !f.shrinking {
		a.disturbed()
		return
	}
	if f.acting != nil {
		f.Counts.Evictions++
	}
	f.notef("pod %s on %s is taken away", pod.Name, pod.Spec.NodeName)
	if !a.available(pod) || time.Since(a.calm) <= oracle.Settled || a.app.Spec.Migration == berthv1alpha1.MigrationStopFirst {
		return
	}
	if left := f.available(a); left < a.wanted() {
		f.failf(a, "pod %s on %s was taken away, and %d of %d available replicas are left; %s", pod.Name, pod.Spec.NodeName, left, a.wanted(), a.told())
	}
}

// waitsFor returns why a pod could not be placed, empty if it could.
func waitsFor(pod *corev1.Pod) string {
	if pod == nil || !model.Unschedulable(pod) {
		return ""
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled {
			return c.Message
		}
	}
	return ""
}

// available reports whether a pod has been ready for as long as it must be. The API server tells
// times to the second.
func (a *tenant) available(pod *corev1.Pod) bool {
	since, ready := model.ReadySince(pod)
	return ready && time.Since(since) >= a.least
}

func (f *fleet) available(a *tenant) (count int) {
	for _, pod := range a.pods() {
		if a.available(pod) {
			count++
		}
	}
	return count
}

// readyIn returns how many pods are ready in a cluster.
func (a *tenant) readyIn(cluster string) (count int) {
	for _, pod := range a.pods() {
		if model.Ready(pod) && a.fleet.siteOf(pod.Spec.NodeName) == cluster {
			count++
		}
	}
	return count
}

// told returns what the status says that one looks at first.
func (a *tenant) told() string {
	text := "it is scheduled to " + a.app.Status.ScheduledTo
	if m := a.app.Status.Move; m != nil {
		text += ", and moves from " + m.From + " to " + m.To + ": " + string(m.Step) + ", " + m.Message
	}
	return text
}

// told returns what a Cluster says.
func (p *place) told() string {
	online := "nobody knows whether it is online"
	if c := p.now.Online(); c != nil {
		online = fmt.Sprintf("online %s since %s ago", c.Status, time.Since(c.LastTransitionTime.Time))
	}
	samples := make([]string, len(p.now.Status.Metrics))
	for i, s := range p.now.Status.Metrics {
		samples[i] = fmt.Sprintf("%s %v %s stale: %t", s.Name, ptr.Deref(s.Value, -1), s.Reason, s.Stale)
	}
	return p.name + ": " + online + ", " + strings.Join(samples, ", ")
}

// judgeApplication checks what an Application has decided.
func (f *fleet) judgeApplication(a *tenant, before *berthv1alpha1.Application) {
	after := a.app
	if before == nil {
		return
	}
	if (before.Status.Move == nil) != (after.Status.Move == nil) || len(before.Status.ReplicasBefore) != len(after.Status.ReplicasBefore) {
		a.disturbed()
	}
	if after.Status.Move != nil {
		a.scaleSoon()
	}
	if apiequality.Semantic.DeepEqual(before.Status.Decisions, after.Status.Decisions) {
		return
	}
	a.disturbed()
	d := &after.Status.Decisions[0]
	if before.Spec.Suspend && time.Since(a.resumed) > oracle.Settled {
		f.failf(a, "it goes to %s while it is suspended", d.To)
	}
	switch d.Reason {
	case berthv1alpha1.DecisionMoveGivenUp:
		f.counts["moves given up"]++
	case berthv1alpha1.DecisionFirstChoice:
		f.judgeScores(a, d)
		f.judgeChoice(a, before, "", d.To)
	default:
		f.judgeScores(a, d)
		f.counts["moves"]++
		if before.Spec.Migration == berthv1alpha1.MigrationNever {
			f.failf(a, "it goes to %s and may never move", d.To)
		}
		f.judgeChoice(a, before, d.From, d.To)
	}
}

// judgeScores checks that the figures by which was decided are those that the clusters had.
func (f *fleet) judgeScores(a *tenant, d *berthv1alpha1.ApplicationDecision) {
	for name, told := range map[string]*float64{d.To: d.Score, d.From: d.FromScore} {
		if name == "" || told == nil {
			continue
		}
		had := false
		for _, cluster := range f.place(name).versions() {
			value := a.value(cluster, d.From)
			had = had || value < 0 || math.Abs(value-*told) < 1e-9
		}
		if !had {
			f.failf(a, "it goes from %q to %s, and says that %s has %v, which it had not; %s", d.From, d.To, name, *told, f.place(name).told())
		}
	}
}

// judgeChoice checks that of all clusters the best was chosen, and that it was worth the move. What
// was so a moment ago may still be what somebody knows.
func (f *fleet) judgeChoice(a *tenant, before *berthv1alpha1.Application, from, to string) {
	suits, _ := f.suits(a, before, to, from)
	if !suits {
		f.failf(a, "it goes from %q to %s, which does not suit; %s; %s", from, to, a.told(), f.place(to).told())
	}
	_, best := f.values(a, to, from)
	for _, p := range f.places {
		_, surely := f.suits(a, before, p.name, from)
		if least, _ := f.values(a, p.name, from); p.name != to && surely && least > best+1e-9 {
			f.failf(a, "it goes from %q to %s with %v, and %s has %v; %s", from, to, best, p.name, least, a.told())
		}
	}
}

// judgeAll checks that no move takes longer than it may, and that what can run does.
func (f *fleet) judgeAll() {
	for _, a := range f.tenants {
		f.judgeDeadline(a)
		f.judgeRunning(a)
	}
}

// beyond is how much longer than its deadline a move may take: for a start of the controllers, and
// for requests that are late.
const beyond = 2 * time.Minute

// judgeDeadline checks that no move goes on beyond its deadline.
func (f *fleet) judgeDeadline(a *tenant) {
	m := a.app.Status.Move
	if m == nil || a.app.Spec.Suspend {
		return
	}
	end := m.Deadline.Time
	if a.resumed.After(end) {
		end = a.resumed
	}
	if late := time.Since(end); late > beyond {
		f.failf(a, "it is at %s %v after its deadline; %s", m.Step, late, a.told())
		a.resumed = time.Now().Add(day) // That it goes on is told once a day.
	}
}

// judgeRunning checks that an Application runs if nothing has disturbed it for long enough.
func (f *fleet) judgeRunning(a *tenant) {
	in := a.app.Status.ScheduledTo
	may, must := false, false
	if in != "" {
		may, must = f.suits(a, a.app, in, in)
	}
	if may != a.suited || may != must || f.hindered(a, in, may) {
		a.suited = may
		if now := time.Now(); now.After(a.calm) {
			a.calm = now
		}
		return
	}
	there := a.readyIn(in)
	if may && there == a.wanted() && len(a.pods()) == there && len(a.app.Status.ReplicasBefore) == 0 {
		return
	}
	if still := time.Since(a.calm); still > f.patience(a, may) {
		f.failf(a, "nothing has disturbed it for %v, and %d of %d pods are ready in %q, %d in all; that suits: %t; %s", still,
			there, a.wanted(), in, len(a.pods()), may, a.told())
		a.calm = time.Now().Add(day)
	}
}

// hindered reports whether an Application cannot run, or is on its way.
func (f *fleet) hindered(a *tenant, in string, suits bool) bool {
	switch {
	case a.app.Status.Move != nil, a.quota, a.ailing > 0, a.app.Spec.Suspend, a.scaling:
		return true
	case suits:
		return f.place(in).dead || f.place(in).crashes || slices.ContainsFunc(a.pods(), func(pod *corev1.Pod) bool {
			p := f.placeOf(pod)
			return pod.Spec.NodeName != "" && (p.dead || p.crashes)
		}) || a.app.Spec.Migration == berthv1alpha1.MigrationStopFirst && a.ending()
	case in != "" && a.app.Spec.Migration == berthv1alpha1.MigrationNever:
		return true
	}
	return !slices.ContainsFunc(f.places, func(p *place) bool {
		_, must := f.suits(a, a.app, p.name, in)
		return p.name != in && must
	})
}

// ending reports whether pods of an Application have yet to end.
func (a *tenant) ending() bool {
	for _, pod := range a.fleet.pods {
		if pod.Labels["app"] == a.name && !stays(pod) {
			return true
		}
	}
	return false
}

// patience is how long it may take until an Application runs that nothing disturbs: within a minute
// its pods are made, and they may have to start one after the other.
func (f *fleet) patience(a *tenant, suits bool) time.Duration {
	late := time.Minute + oracle.Settled
	if !suits {
		return late + a.app.Spec.RescheduleAfter.Duration
	}
	turns := 2
	if a.app.Spec.Move.MaxSurge != nil {
		turns = a.wanted() + 1
	}
	return late + time.Duration(turns)*(a.start+a.least+15*time.Second)
}
