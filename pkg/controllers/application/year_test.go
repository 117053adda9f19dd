// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/movelimit"
)

const (
	day = 24 * time.Hour
	// maxReplicas is how many replicas an Application has at most.
	maxReplicas = 5
	// look is how often is looked at what runs and what stays.
	look = 2 * time.Minute
)

// year is a fleet that is disturbed, and watched.
type year struct {
	*fleet
	counts struct {
		Passes, Moves, GivenUp, Limited, Deaths, Drains, Shrunk, Suspended, Deleted, Outages, Lies, Between, Scaled int
		// Restarts are those by the write that has failed.
		Restarts map[string]int
	}
	failed int
	// out are the metrics that nobody can read at present.
	out map[string]bool
	// step is how far a metric goes in ten minutes, the standard deviation.
	step float64
}

// weights are the metrics of all clusters, with their weights.
var weights = []berthv1alpha1.MetricReference{{Name: "green", Weight: 1}, {Name: "cheap", Weight: 0.5}}

func newYear(tb testing.TB, seed uint64, apps, clusters int) *year {
	tb.Helper()
	y := &year{fleet: newFleet(tb, seed), out: map[string]bool{}}
	y.counts.Restarts = map[string]int{}
	// A larger fleet is disturbed as often as a small one: if each of its clusters were, there would
	// always be a better one that lets no pod start, and the Applications did nothing but move.
	y.step = 0.03 * math.Sqrt(6/float64(clusters))
	for i := range clusters {
		c := cluster(fmt.Sprintf("c%02d", i), 0)
		c.Labels["side"] = []string{"east", "west"}[i%2]
		c.Status.Conditions[0].LastTransitionTime = metav1.NewTime(y.clock.Now().Add(-day))
		c.Spec.Metrics, c.Status.Metrics = weights, nil
		for _, m := range weights {
			value := y.random.Float64()
			c.Status.Metrics = append(c.Status.Metrics, berthv1alpha1.MetricSample{Name: m.Name, Value: &value, Normalized: &value})
		}
		y.addCluster(c)
	}
	// All pods together may begin to move to one cluster within two minutes.
	y.limits = movelimit.Limits{PerMinute: maxReplicas * apps, PerCluster: maxReplicas * apps / 2}
	y.start()
	y.fleet.passed, y.fleet.shrunk = y.judge, y.judgeShrink
	y.second = watching(y.controller.Options)
	y.fails, y.meanwhile = y.failures, y.interfere
	for i := range apps {
		a := y.addApplication(y.draw(), fmt.Sprintf("app%03d", i))
		y.autoscale(a)
	}
	y.every(10*time.Minute, y.measureAll)
	y.every(look, y.judgeAll)
	for _, m := range weights {
		y.often(3*day, func() { y.outage(m.Name) })
	}
	of := func(hours int) time.Duration { return time.Duration(clusters*hours) * time.Hour }
	for _, p := range y.clusters {
		y.often(of(32), func() { y.counts.Deaths += y.die(p, y.between(2*time.Minute, 12*time.Hour)) })
		y.often(of(32), func() { y.drain(p) })
		y.often(of(8), func() { y.turn(&p.crashes, 5*time.Minute, 3*time.Hour) })
		y.often(of(8), func() { y.turn(&p.refuses, 5*time.Minute, 2*time.Hour) })
	}
	for _, a := range y.apps {
		y.often(30*day, func() { y.turn(&a.quota, 5*time.Minute, time.Hour) })
		y.often(3*day, func() { y.loseReadiness(a) })
		y.often(5*day, func() { y.edit(a) })
		y.often(10*day, func() { y.suspend(a) })
		y.often(20*day, func() { y.deleteAndMake(a) })
	}
	return y
}

// draw returns one of the Applications that there may be.
func (y *year) draw() *berthv1alpha1.Application {
	text := strings.Replace(deployment, "replicas: 2", fmt.Sprintf("replicas: %d", 1+y.random.IntN(maxReplicas)), 1)
	if y.random.IntN(3) == 0 {
		text = strings.Replace(text, "replicas:", "minReadySeconds: 10, replicas:", 1)
	}
	if y.random.IntN(4) == 0 {
		_, after, _ := strings.Cut(text, "replicas: ")
		text = strings.Replace(text, "replicas: "+after[:len("1, ")], "", 1)
	}
	app := newApplication(text)
	spec := &app.Spec
	spec.RescheduleAfter = &metav1.Duration{Duration: 10 * time.Minute}
	switch y.random.IntN(12) {
	case 0:
		spec.Migration = berthv1alpha1.MigrationStopFirst
	case 1:
		spec.Migration = berthv1alpha1.MigrationNever
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
	if y.random.IntN(6) == 0 {
		spec.Move.Windows = []berthv1alpha1.MoveWindow{{Schedule: "0 */6 * * *", Duration: metav1.Duration{Duration: time.Hour}}}
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

// failures loses the answer to a write, or the write, now and then, and the controller with it. It
// writes all objects anew then, so the more Applications there are, the rarer that must be: each
// restart would bring the next, and time would stand still.
func (y *year) failures(what string) (before, after bool) {
	if y.random.IntN(17*len(y.apps)) > 0 {
		return false, false
	}
	y.after(0, y.restart)
	before = y.random.IntN(2) == 0
	y.counts.Restarts[fmt.Sprintf("%s, done: %t", what, !before)]++
	return before, !before
}

// interfere lets the other controller make a whole pass between what one has read and what it
// writes, now and then.
func (y *year) interfere() {
	pass := y.under
	if pass == nil || pass.outer != nil || y.random.IntN(100) > 0 {
		return
	}
	y.counts.Between++
	other := y.second
	if pass.by == other {
		other = y.controller
	}
	pass.over.reconcileBy(other)
}

// every does something at even distances, and often at random ones with a mean.
func (y *year) every(d time.Duration, do func()) {
	y.after(d, func() { do(); y.every(d, do) })
}

func (y *year) often(mean time.Duration, do func()) {
	y.after(time.Duration(y.random.ExpFloat64()*float64(mean)), func() { do(); y.often(mean, do) })
}

// measureAll moves the metrics of all clusters.
func (y *year) measureAll() {
	for _, p := range y.clusters {
		y.change(p.name, func(c *berthv1alpha1.Cluster) {
			for i := range c.Status.Metrics {
				y.measure(&c.Status.Metrics[i])
			}
		})
	}
}

// measure moves a metric. Now and then it has no value for a while, or one out of its range: then
// the last one stays and is stale.
func (y *year) measure(s *berthv1alpha1.MetricSample) {
	drawn := y.random.IntN(100)
	switch s.Stale = true; {
	case y.out[s.Name], drawn < 5:
		s.Reason = berthv1alpha1.ReasonTimeout
	case drawn < 7:
		s.Reason = berthv1alpha1.ReasonOutOfRange
		y.counts.Lies++
	default:
		value := min(1, max(0, *s.Value+y.random.NormFloat64()*y.step))
		*s = berthv1alpha1.MetricSample{Name: s.Name, Value: &value, Normalized: &value}
	}
}

// outage lets nobody read a metric for a while.
func (y *year) outage(metric string) {
	y.counts.Outages++
	y.out[metric] = true
	y.after(y.between(time.Hour, 8*time.Hour), func() { y.out[metric] = false })
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

// edit changes the number of replicas, or what an autoscaler wants.
func (y *year) edit(a *tenant) {
	if a.load > 0 {
		a.load = 1 + y.random.IntN(5)
		y.scale(a)
		return
	}
	was, is := fmt.Sprintf(`"replicas":%d`, a.wanted()), fmt.Sprintf(`"replicas":%d`, 1+y.random.IntN(maxReplicas))
	a.respecify(func(spec *berthv1alpha1.ApplicationSpec) {
		spec.Manifests[0].Raw = []byte(strings.Replace(string(spec.Manifests[0].Raw), was, is, 1))
	})
}

// suspend lets an Application rest for a while.
func (y *year) suspend(a *tenant) {
	y.counts.Suspended++
	a.respecify(func(spec *berthv1alpha1.ApplicationSpec) { spec.Suspend = true })
	y.after(y.between(time.Minute, 6*time.Hour), func() {
		a.respecify(func(spec *berthv1alpha1.ApplicationSpec) { spec.Suspend = false })
	})
}

// deleteAndMake deletes an Application, and makes another one of its name.
func (y *year) deleteAndMake(a *tenant) {
	if a.stored() == nil {
		return
	}
	y.counts.Deleted++
	a.delete()
	y.after(y.between(time.Second, time.Hour), func() {
		app := y.draw()
		app.Namespace, app.Name, app.Generation = a.key.Namespace, a.key.Name, 1
		app.UID = types.UID(fmt.Sprintf("%s-%d", a.key.Name, y.counts.Deleted))
		y.put(app)
		y.autoscale(a)
		a.disturbed()
		a.poke()
	})
}

// autoscale gives an Application that says no number of replicas an autoscaler.
func (y *year) autoscale(a *tenant) {
	a.load = 0
	if !strings.Contains(string(a.stored().Spec.Manifests[0].Raw), `"replicas"`) {
		a.load, a.patient, a.lowered = 1+y.random.IntN(maxReplicas), y.random.IntN(2) == 0, 0
		y.scale(a)
	}
}

// scale is what an autoscaler does every 15 seconds while there is something to be done. Both
// halves of a move have half of the load each, so that it wants fewer than there are.
func (y *year) scale(a *tenant) {
	if a.scaling {
		return
	}
	a.scaling = true
	y.after(15*time.Second, func() {
		a.scaling = false
		d, app := a.deployment(), a.stored()
		if a.load == 0 || app == nil {
			return
		}
		if d != nil && *d.Spec.Replicas > 0 { // None switches an autoscaler off.
			y.rescale(a, d)
		}
		if d == nil || int(*d.Spec.Replicas) != a.load || app.Status.Move != nil || a.between() {
			y.scale(a)
		}
	})
}

func (y *year) rescale(a *tenant, d *appsv1.Deployment) {
	live, now := int(*d.Spec.Replicas), y.clock.Now()
	if live <= a.load {
		a.lower = time.Time{}
	} else if a.lower.IsZero() {
		a.lower = now
	}
	if live == a.load || live > a.load && a.patient && now.Sub(a.lower) < 5*time.Minute {
		return
	}
	// Its owner reads what the Application says of that, and lets it wait, after an hour and more.
	if a.lowered++; a.lowered == 300 {
		a.patient, a.returning = true, time.Time{}
	}
	y.counts.Scaled++
	a.lower = time.Time{} // It waits again before it lowers what somebody has raised meanwhile.
	after := d.DeepCopy()
	after.Spec.Replicas = new(int32(a.load))
	y.put(after)
	y.fleet.shrunk = y.judgeTaken // What it takes away is hardly anybody else's doing.
	a.fill()
	y.fleet.shrunk = y.judgeShrink
	a.disturbed()
	a.poke()
}
