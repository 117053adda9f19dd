// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
)

const day = 24 * time.Hour

// TestAYear lets Applications run for months in clusters whose metrics go up and down, that die and
// come back, are drained, and let no pod start. Set BERTH_YEAR to SEEDS:DAYS:APPLICATIONS:CLUSTERS,
// 20:365:200:30 for instance, for more of it.
func TestAYear(t *testing.T) {
	seeds, days, apps, clusters := 1, 4, 10, 6
	if asked := os.Getenv("BERTH_YEAR"); asked != "" {
		if _, err := fmt.Sscanf(strings.ReplaceAll(asked, ":", " "), "%d %d %d %d", &seeds, &days, &apps, &clusters); err != nil {
			t.Fatalf("BERTH_YEAR=%s: %v", asked, err)
		}
	}
	for seed := range uint64(seeds) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			y := newYear(t, seed, apps, clusters)
			y.run(time.Duration(days) * day)
			t.Logf("%d days: %+v", days, y.counts)
			if y.counts.Moves == 0 || y.counts.Shrunk == 0 {
				t.Error("nothing has moved")
			}
		})
	}
}

// year is a fleet that is disturbed, and watched.
type year struct {
	*fleet
	counts struct{ Passes, Moves, GivenUp, Deaths, Drains, Shrunk, Restarts int }
	failed int
}

func newYear(tb testing.TB, seed uint64, apps, clusters int) *year {
	tb.Helper()
	y := &year{fleet: newFleet(tb, seed)}
	for i := range clusters {
		c := cluster(fmt.Sprintf("c%02d", i), y.random.Float64())
		c.Labels["side"] = []string{"east", "west"}[i%2]
		c.Status.Conditions[0].LastTransitionTime = metav1.NewTime(y.clock.Now().Add(-day))
		y.addCluster(c)
	}
	y.start()
	y.fleet.passed, y.fleet.shrunk = y.judge, y.judgeShrink
	y.fails = y.failures
	for i := range apps {
		y.addApplication(y.draw(), fmt.Sprintf("app%03d", i))
	}
	y.every(10*time.Minute, y.measureAll)
	y.every(5*time.Minute, y.judgeAll)
	for _, p := range y.clusters {
		y.often(8*day, func() { y.die(p) })
		y.often(15*day, func() { y.drain(p) })
		y.often(10*day, func() { y.turn(&p.crashes, 5*time.Minute, 2*time.Hour) })
		y.often(10*day, func() { y.turn(&p.refuses, 5*time.Minute, time.Hour) })
	}
	for _, a := range y.apps {
		y.often(30*day, func() { y.turn(&a.quota, 5*time.Minute, time.Hour) })
		y.often(3*day, func() { y.loseReadiness(a) })
		y.often(5*day, func() { y.edit(a) })
	}
	return y
}

// draw returns one of the Applications that there may be.
func (y *year) draw() *berthv1alpha1.Application {
	text := strings.Replace(deployment, "replicas: 2", fmt.Sprintf("replicas: %d", 1+y.random.IntN(5)), 1)
	if y.random.IntN(3) == 0 {
		text = strings.Replace(text, "replicas:", "minReadySeconds: 10, replicas:", 1)
	}
	app := newApplication(text)
	spec := &app.Spec
	spec.RescheduleAfter = &metav1.Duration{Duration: 10 * time.Minute}
	if y.random.IntN(10) == 0 {
		spec.Migration = berthv1alpha1.MigrationStopFirst
	}
	spec.Move = &berthv1alpha1.ApplicationMove{Deadline: &metav1.Duration{Duration: time.Duration(5+y.random.IntN(10)) * time.Minute}}
	switch y.random.IntN(4) {
	case 0:
		one := intstr.FromInt32(1)
		spec.Move.MaxSurge = &one
	case 1:
		half := intstr.FromString("50%")
		spec.Move.MaxSurge = &half
	}
	if y.random.IntN(2) == 0 {
		spec.Failover = &berthv1alpha1.Failover{}
	}
	if y.random.IntN(4) == 0 {
		spec.Constraints.ClusterLabels = []string{"side is east"}
	}
	if y.random.IntN(4) == 0 {
		spec.Constraints.ClusterMetrics = []string{"green >= 0.2"}
	}
	return app
}

// failures loses the answer to a write, or the write, now and then, and the controller with it.
func (y *year) failures() (before, after bool) {
	if y.random.IntN(200) > 0 {
		return false, false
	}
	y.counts.Restarts++
	y.after(0, y.restart)
	before = y.random.IntN(2) == 0
	return before, !before
}

// every does something at even distances, and often at random ones with a mean.
func (y *year) every(d time.Duration, do func()) {
	y.after(d, func() { do(); y.every(d, do) })
}

func (y *year) often(mean time.Duration, do func()) {
	y.after(time.Duration(y.random.ExpFloat64()*float64(mean)), func() { do(); y.often(mean, do) })
}

// turn switches something on for a while.
func (y *year) turn(what *bool, least, most time.Duration) {
	*what = true
	y.after(y.between(least, most), func() { *what = false })
}

// change changes a Cluster.
func (y *year) change(name string, change func(*berthv1alpha1.Cluster)) {
	after := y.stored(name).DeepCopy()
	change(after)
	y.put(after)
	for _, request := range y.controller.Waiting(y.tb.Context(), after) {
		for _, a := range y.apps {
			if a.key == request.NamespacedName {
				a.poke()
			}
		}
	}
}

// measureAll moves the metrics of all clusters. Now and then one has no value for a while: then the
// last one stays and is stale.
func (y *year) measureAll() {
	for _, p := range y.clusters {
		y.change(p.name, func(c *berthv1alpha1.Cluster) {
			s := &c.Status.Metrics[0]
			if s.Stale = y.random.IntN(20) == 0; s.Stale {
				s.Reason = berthv1alpha1.ReasonTimeout
				return
			}
			value := min(1, max(0, *s.Value+y.random.NormFloat64()*0.03))
			*s = berthv1alpha1.MetricSample{Name: s.Name, Value: &value, Normalized: &value}
		})
	}
}

// die cuts a cluster off for a while.
func (y *year) die(p *place) {
	if p.dead {
		return
	}
	p.dead = true
	y.counts.Deaths++
	returns := y.clock.Now().Add(y.between(2*time.Minute, 12*time.Hour))
	still := func(d time.Duration, do func()) {
		if y.clock.Now().Add(d).Before(returns) {
			y.after(d, do)
		}
	}
	still(40*time.Second, func() {
		y.online(p, metav1.ConditionFalse)
		y.podsIn(p, func(a *tenant, pod *corev1.Pod) { a.setReady(pod, corev1.ConditionFalse) })
	})
	still(340*time.Second, func() {
		y.podsIn(p, func(a *tenant, pod *corev1.Pod) { a.deletePod(pod); a.fill() })
	})
	y.after(returns.Sub(y.clock.Now()), func() {
		p.dead = false
		y.after(20*time.Second, func() { y.online(p, metav1.ConditionTrue) })
		for _, object := range y.objects["Pod"] {
			if pod := object.(*corev1.Pod); pod.DeletionTimestamp != nil && pod.Spec.NodeName == p.name+"-0" {
				y.remove(pod)
			}
		}
		y.podsIn(p, func(a *tenant, pod *corev1.Pod) {
			key := pod.Namespace
			name := pod.Name
			y.after(10*time.Second, func() { a.becomeReady(keyOf(key, name)) })
		})
		for _, a := range y.apps {
			a.poke()
		}
	})
}

func (y *year) online(p *place, is metav1.ConditionStatus) {
	y.change(p.name, func(c *berthv1alpha1.Cluster) {
		c.Status.Conditions[0].Status, c.Status.Conditions[0].LastTransitionTime = is, metav1.NewTime(y.clock.Now())
	})
}

// podsIn does something for each pod in a cluster.
func (y *year) podsIn(p *place, do func(*tenant, *corev1.Pod)) {
	for _, a := range y.apps {
		for _, pod := range a.pods() {
			if pod.Spec.NodeName == p.name+"-0" {
				do(a, pod)
			}
		}
	}
}

func (y *year) drain(p *place) {
	y.counts.Drains++
	set := func(is bool) {
		y.change(p.name, func(c *berthv1alpha1.Cluster) { c.Spec.Unschedulable, c.Spec.Drain = is, is })
	}
	set(true)
	y.after(y.between(time.Hour, 6*time.Hour), func() { set(false) })
}

func (y *year) loseReadiness(a *tenant) {
	for _, pod := range a.pods() {
		if workload.Ready(pod) {
			unready := y.between(time.Minute, 10*time.Minute)
			a.calm = y.clock.Now().Add(unready)
			a.setReady(pod, corev1.ConditionFalse)
			y.after(unready, func() { a.becomeReady(keyOf(pod.Namespace, pod.Name)) })
			return
		}
	}
}

// edit changes the number of replicas.
func (y *year) edit(a *tenant) {
	a.disturbed()
	app := a.stored().DeepCopy()
	was, is := fmt.Sprintf(`"replicas":%d`, a.wanted()), fmt.Sprintf(`"replicas":%d`, 1+y.random.IntN(5))
	app.Spec.Manifests[0].Raw = []byte(strings.Replace(string(app.Spec.Manifests[0].Raw), was, is, 1))
	app.Generation++
	y.put(app)
	a.poke()
}

// disturbed notes that it cannot be expected to run for a while.
func (a *tenant) disturbed() {
	if now := a.fleet.clock.Now(); now.After(a.calm) {
		a.calm = now
	}
}

// wanted returns how many replicas the manifest asks for.
func (a *tenant) wanted() (n int) {
	raw := string(a.stored().Spec.Manifests[0].Raw)
	_, after, _ := strings.Cut(raw, `"replicas":`)
	_, _ = fmt.Sscanf(after, "%d", &n)
	return n
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

// judge checks a pass.
func (y *year) judge(a *tenant, before, after *berthv1alpha1.Application) {
	y.counts.Passes++
	if move := after.Status.Move; move != nil && y.clock.Now().After(move.Deadline.Add(10*time.Minute)) {
		y.failf(a, "it is moving 10 minutes after its deadline")
	}
	if apiequality.Semantic.DeepEqual(before.Status.Decisions, after.Status.Decisions) {
		return
	}
	a.disturbed()
	switch d := &after.Status.Decisions[0]; d.Reason {
	case berthv1alpha1.DecisionMoveGivenUp:
		y.counts.GivenUp++
	case berthv1alpha1.DecisionFirstChoice:
		y.judgeChoice(a, before, after, "", d.To)
	default:
		y.counts.Moves++
		y.judgeChoice(a, before, after, d.From, d.To)
	}
}

// judgeChoice checks that of all clusters the best was chosen, and that it was worth the move.
func (y *year) judgeChoice(a *tenant, before, after *berthv1alpha1.Application, from, to string) {
	if from != "" && y.suits(a, after, from, from, before) {
		y.judgeLeaving(a, before, from, to)
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

// judgeLeaving checks that a cluster that suits was left for a better one only.
func (y *year) judgeLeaving(a *tenant, before *berthv1alpha1.Application, from, to string) {
	if y.stored(from).Status.Conditions[0].Status != metav1.ConditionTrue {
		y.failf(a, "it leaves %s for %s before its time, as that is offline", from, to)
	}
	if before.Status.Move != nil {
		y.failf(a, "it leaves %s for %s on the way there, and that suits", from, to)
	}
	if y.value(to, from) <= y.value(from, from) {
		y.failf(a, "it leaves %s with %v for %s with %v", from, y.value(from, from), to, y.value(to, from))
	}
}

// value returns what a cluster is worth: the mean of its metric and of the stickiness, one less
// without a value.
func (y *year) value(name, current string) float64 {
	s := &y.stored(name).Status.Metrics[0]
	switch {
	case name == current:
		return (*s.Value*1 + 1*0.1) / 1.1
	case s.Stale:
		return -1
	}
	return *s.Value * 1 / 1.1
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

// judgeAll checks that what can run does.
func (y *year) judgeAll() {
	for _, a := range y.apps {
		y.judgeRunning(a)
	}
}

// judgeRunning checks that an Application runs if nothing has disturbed it for long enough.
func (y *year) judgeRunning(a *tenant) {
	now, app := y.clock.Now(), a.stored()
	in := app.Status.ScheduledTo
	settled := in != "" && y.suits(a, app, in, in, app)
	if settled != a.settled || app.Status.Move != nil || a.quota || y.hindered(a, app, settled) {
		a.disturbed()
	}
	a.settled = settled
	// With a surge of one all pods start one after the other, on the way back from a move as well.
	patience := time.Minute + time.Duration(a.wanted()+1)*200*time.Second
	if !settled {
		patience = 11 * time.Minute
	}
	if now.Sub(a.calm) <= patience {
		return
	}
	there := a.readyIn(in)
	if !settled || there != a.wanted() || len(a.pods()) != there {
		y.failf(a, "nothing has disturbed it for %v, and %d of %d pods are ready in %s, %d in all; that suits: %t", now.Sub(a.calm),
			there, a.wanted(), cmp.Or(in, "no cluster"), len(a.pods()), settled)
		a.calm = now.Add(day) // That it goes on is told once a day.
	}
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

// hindered reports whether an Application cannot run: where it is, or anywhere else if that does
// not suit. What must not run twice waits for old pods that have not ended, which those of a dead
// cluster do when it is back.
func (y *year) hindered(a *tenant, app *berthv1alpha1.Application, settled bool) bool {
	in := app.Status.ScheduledTo
	if settled {
		p := y.place(in)
		return p.dead || p.crashes || p.refuses || app.Spec.Migration == berthv1alpha1.MigrationStopFirst && a.leaving()
	}
	return !slices.ContainsFunc(y.clusters, func(p *place) bool { return p.name != in && y.suits(a, app, p.name, in, app) })
}
