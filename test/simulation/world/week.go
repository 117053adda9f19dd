// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/internal/record"
	"berth.dev/berth/test/simulation/apiserver"
)

// Week says how long, and how large, the life of many Applications is that Live simulates.
type Week struct {
	Length                 time.Duration
	Applications, Clusters int
	// Progress gets a line for each day.
	Progress io.Writer
}

const (
	day = 24 * time.Hour
	// measured is how often metrics change and are read.
	measured = 10 * time.Minute
	// looked is how often is looked at what runs, and trimmed how often is forgotten what nobody can
	// ask for any more.
	looked  = 30 * time.Second
	trimmed = 5 * time.Minute
	// nodesEach is how many nodes a site has, and podsEach how many pods one of them takes: all
	// Applications fit everywhere.
	nodesEach, podsEach = 2, 1000
	// maxFailures is how many broken promises end the week before its time.
	maxFailures = 5
)

// Live runs a world of many Applications in many Clusters with all programs of Berth for a long
// time, and judges what becomes of the Applications. Clusters die and return, are drained, and let
// no pod become ready; metrics walk at random, with gaps, lies and outages; pods start within five
// seconds to three minutes and lose their readiness; quotas refuse them; users scale, and so do
// autoscalers; requests meet with a fault now and then, and the controllers are killed at writes of
// all kinds. The error lists the promises that were broken. It must be called in a synctest bubble.
func Live(options *Options, week *Week) (*World, error) {
	w, err := newWorld(options.Seed, options.Definitions)
	if err != nil {
		return nil, err
	}
	w.trace, w.sites, w.length = options.Trace, week.Clusters, week.Length
	w.rates = rates{perMille: 1}
	w.fleet = newFleet(w)
	w.fleet.populate(week.Clusters)
	w.bookmark()
	w.run()
	w.fleet.deploy(week.Applications)
	w.fleet.disturb()
	w.fleet.trim(0)
	w.faulty = true
	for left := week.Length; left > 0 && err == nil; left -= day {
		err = w.pass(min(day, left))
		fmt.Fprintf(week.Progress, "%s: %s\n", time.Since(w.began), w.fleet.summary())
	}
	if failures := w.fleet.failures; len(failures) > 0 {
		err = fmt.Errorf("%d promises are broken: %s", len(failures), strings.Join(failures, "; "))
	}
	return w, err
}

// fleet is what a world is about that Live runs.
type fleet struct {
	*World
	places  []*place
	tenants []*tenant
	byName  map[string]*tenant
	// walk are the values of the metrics as they are, also of those that nobody can read.
	walk map[string]float64
	// out are the metrics that nobody can read at present.
	out map[string]bool
	// looking is true if the controllers of workloads are to look soon.
	looking bool
	counts  record.Counts
	// kills are the writes at which the controllers were killed, by kind and when.
	kills    record.Counts
	failures []string
}

func newFleet(w *World) *fleet {
	return &fleet{
		World: w, byName: map[string]*tenant{}, walk: map[string]float64{}, out: map[string]bool{}, counts: record.Counts{}, kills: record.Counts{},
	}
}

// The metrics, which a provider has one value of for each Cluster.
var (
	metrics   = berthv1alpha1.SchemeGroupVersion.WithResource("globalmetrics")
	providers = berthv1alpha1.SchemeGroupVersion.WithResource("globalmetricsproviders")
	weights   = []berthv1alpha1.MetricReference{{Name: "green", Weight: 1}, {Name: "cheap", Weight: 0.5}}
)

const provider = "feed"

// populate makes the nodes, the Clusters and what they are compared by.
func (f *fleet) populate(count int) {
	values := map[string]float64{}
	for n := range count {
		p := &place{fleet: f, name: siteName(n)}
		f.places = append(f.places, p)
		for node := range nodesEach {
			f.addNode(fmt.Sprintf("%s-node-%d", p.name, node), p.name)
		}
		labels := map[string]string{siteLabel: p.name, "side": []string{"east", "west"}[n%2]}
		f.create(clusters, &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: p.name, Labels: labels},
			Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{siteLabel: p.name}, Metrics: weights},
		})
		for _, m := range weights {
			values[m.Name+"-"+p.name] = f.extra.Float64()
		}
	}
	f.walk = values
	f.create(providers, &berthv1alpha1.GlobalMetricsProvider{
		ObjectMeta: metav1.ObjectMeta{Name: provider},
		Spec: berthv1alpha1.GlobalMetricsProviderSpec{MetricsProviderSpec: berthv1alpha1.MetricsProviderSpec{
			Type: berthv1alpha1.StaticMetrics, Static: &berthv1alpha1.StaticProvider{Metrics: values},
		}},
	})
	for _, m := range weights {
		f.create(metrics, &berthv1alpha1.GlobalMetric{
			ObjectMeta: metav1.ObjectMeta{Name: m.Name},
			Spec: berthv1alpha1.MetricSpec{
				Max: 1, Provider: berthv1alpha1.MetricSource{Name: provider, Metric: m.Name + "-$(cluster)"},
			},
		})
	}
	f.create(serviceAccounts, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: namespace}})
}

// trim forgets what nobody can ask for any more.
func (f *fleet) trim(revision int64) {
	now := f.server.Revision()
	watches := make([]*apiserver.Watch, 0, len(f.streams))
	for _, o := range f.streams {
		if !o.body.over() {
			watches = append(watches, o.call.answer.Watch)
		}
	}
	f.server.Trim(revision, watches)
	f.after(trimmed, func() { f.trim(now) })
}

// endedOf returns what is closed when the client of a process that is no more has ended as well.
func (w *World) endedOf(r *http.Request) <-chan struct{} {
	if w.fleet == nil {
		return nil
	}
	return r.Context().Done()
}

// killsAt reports whether the controllers are killed before or after a write: soon at those of a
// kind at which they never were, and seldom at others.
func (f *fleet) killsAt(c *call) (when string) {
	if !f.faulty || c.process.program.Name != controllersName || !c.request.Writes() || time.Since(c.process.began) < time.Minute {
		return ""
	}
	h := f.hash("a kill at " + c.name)
	when = []string{"before", "after"}[h%2]
	one := uint64(20)
	key := when + " " + c.request.Kind()
	if f.kills[key] > 0 {
		one = 20_000
	}
	if (h/2)%one > 0 {
		return ""
	}
	f.kills[key]++
	return when
}

// every does something at even distances, often at random ones with a mean.
func (f *fleet) every(d time.Duration, do func()) {
	f.after(d, func() { do(); f.every(d, do) })
}

func (f *fleet) often(mean time.Duration, do func()) {
	f.after(time.Duration(f.extra.ExpFloat64()*float64(mean)), func() { do(); f.often(mean, do) })
}

// spell returns how long something lasts.
func (f *fleet) spell(least, most time.Duration) time.Duration {
	return least + time.Duration(f.extra.Int64N(int64(most-least)))
}

// failf notes a promise that is broken.
func (f *fleet) failf(a *tenant, format string, args ...any) {
	text := fmt.Sprintf("%s after %s: ", a.name, time.Since(f.began)) + fmt.Sprintf(format, args...)
	f.notef("BROKEN: %s", text)
	if f.failures = append(f.failures, text); len(f.failures) >= maxFailures {
		f.violatef("enough is broken")
	}
}

// summary tells what has happened.
func (f *fleet) summary() string {
	return fmt.Sprintf("%d requests, %d writes, %d faults, %v, %d pods bound, %d kinds of writes with a kill, revision %d", f.Counts.Requests,
		f.Counts.Writes.Sum(), len(f.injected), f.counts, f.Counts.Bound, len(f.kills), f.server.Revision())
}
