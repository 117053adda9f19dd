// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	model "berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/test/simulation/apiserver"
)

// maxReplicas is how many replicas a tenant has at most.
const maxReplicas = 5

// tenant is an Application of a fleet.
type tenant struct {
	fleet *fleet
	name  string
	// replicas is how many its manifest wants, load how many its autoscaler does, 0 for none.
	replicas, load int
	// start is how long its pods take to become ready, and least how long they must be ready to be
	// available.
	start, least time.Duration
	// quota is true while its pods are refused, and ailing how many that were ready are not.
	quota  bool
	ailing int
	// scaling is true while its autoscaler is about to look, and lower since when it wants fewer.
	scaling bool
	lower   time.Time
	// app is the Application as it is stored.
	app *berthv1alpha1.Application
	// calm is when something has disturbed it last, suited whether its cluster did, and resumed when
	// it was suspended last.
	calm, resumed time.Time
	suited        bool
}

// wanted is how many replicas there are to be.
func (a *tenant) wanted() int { return max(a.replicas, a.load) }

// disturbed notes that something has happened that may keep it from running for a while.
func (a *tenant) disturbed() { a.calm = time.Now() }

// deploy makes the Applications.
func (f *fleet) deploy(count int) {
	for n := range count {
		a := &tenant{
			fleet: f, name: fmt.Sprintf("app-%03d", n), replicas: 1 + f.extra.IntN(maxReplicas),
			start: f.spell(5*time.Second, 3*time.Minute), calm: time.Now(),
		}
		if f.extra.IntN(3) == 0 {
			a.least = 10 * time.Second
		}
		if f.extra.IntN(4) == 0 {
			a.replicas, a.load = 0, a.replicas
		}
		f.tenants, f.byName[a.name] = append(f.tenants, a), a
		f.create(applications, &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: a.name}, Spec: f.draw(a)})
		a.scaleSoon()
	}
}

// draw returns what an Application may want.
func (f *fleet) draw(a *tenant) berthv1alpha1.ApplicationSpec {
	spec := berthv1alpha1.ApplicationSpec{
		Manifests:       []berthv1alpha1.Manifest{a.manifest()},
		RescheduleAfter: &metav1.Duration{Duration: measured},
		Move:            &berthv1alpha1.ApplicationMove{Deadline: &metav1.Duration{Duration: f.spell(5*time.Minute, 15*time.Minute).Round(time.Second)}},
	}
	switch f.extra.IntN(12) {
	case 0:
		spec.Migration = berthv1alpha1.MigrationStopFirst
	case 1:
		spec.Migration = berthv1alpha1.MigrationNever
	}
	switch f.extra.IntN(4) {
	case 0:
		spec.Move.MaxSurge = new(intstr.FromInt32(1))
		// As long as it takes if its pods start one after the other.
		spec.Move.Deadline.Duration = max(spec.Move.Deadline.Duration, time.Duration(maxReplicas+1)*(a.start+30*time.Second)).Round(time.Second)
	case 1:
		spec.Move.MaxSurge = new(intstr.FromString("50%"))
	}
	if f.extra.IntN(2) == 0 {
		spec.Failover = &berthv1alpha1.Failover{}
	}
	if f.extra.IntN(4) == 0 {
		spec.Constraints.ClusterLabels = []string{"side is east"}
	}
	if f.extra.IntN(4) == 0 {
		spec.Constraints.ClusterMetrics = []string{"green >= 0.2"}
	}
	if f.extra.IntN(2) == 0 {
		spec.Metrics = []berthv1alpha1.MetricReference{
			{Name: "green", Weight: f.tenths()}, {Name: "cheap", Weight: f.tenths()},
		}
	}
	return spec
}

// manifest returns that of its Deployment.
func (a *tenant) manifest() berthv1alpha1.Manifest {
	spec := object{
		"minReadySeconds": int(a.least.Seconds()), "selector": object{"matchLabels": object{"app": a.name}},
		"template": object{"metadata": object{"labels": object{"app": a.name}}, "spec": (&workload{}).podSpec()},
	}
	if a.replicas > 0 {
		spec["replicas"] = a.replicas
	}
	raw, err := json.Marshal(object{
		"apiVersion": appsv1.SchemeGroupVersion.String(), "kind": "Deployment", "metadata": object{"name": a.name}, "spec": spec,
	})
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	return berthv1alpha1.Manifest{RawExtension: runtime.RawExtension{Raw: raw}}
}

// disturb plans all that goes wrong and changes.
func (f *fleet) disturb() {
	f.every(measured, f.measure)
	f.every(looked, f.judgeAll)
	for _, m := range weights {
		f.often(2*day, func() { f.outage(m.Name) })
	}
	for _, p := range f.places {
		f.often(4*day, p.die)
		f.often(6*day, p.drain)
		f.often(3*day, p.crash)
	}
	for _, a := range f.tenants {
		f.often(10*day, a.exceedQuota)
		f.often(3*day, a.loseReadiness)
		f.often(4*day, a.edit)
		f.often(8*day, a.suspend)
	}
	for _, program := range f.programs {
		if program.scheduler {
			f.often(day, func() { f.counts["kills of a scheduler"]++; f.takeDown(program, time.Second) })
		}
	}
}

func (a *tenant) exceedQuota() {
	f := a.fleet
	f.counts["quotas"]++
	a.quota = true
	f.after(f.spell(5*time.Minute, time.Hour), func() {
		a.quota = false
		a.disturbed()
		if l := f.workloadOf(a.name); l != nil {
			l.changed = true
			f.look()
		}
	})
}

func (a *tenant) loseReadiness() {
	f := a.fleet
	for _, pod := range a.pods() {
		if model.Ready(pod) {
			f.counts["readiness lost"]++
			a.ailing++
			f.setRunning(pod.Name, false)
			f.after(f.spell(time.Minute, 10*time.Minute), func() {
				a.ailing--
				a.disturbed()
				f.recover(pod)
			})
			return
		}
	}
}

// edit changes the number of replicas, or what an autoscaler wants.
func (a *tenant) edit() {
	f := a.fleet
	f.counts["edits"]++
	a.disturbed()
	if a.load > 0 {
		a.load = 1 + f.extra.IntN(maxReplicas)
		a.scaleSoon()
		return
	}
	a.replicas = 1 + f.extra.IntN(maxReplicas)
	f.act("patch", applications, a.name, "", object{"spec": object{"manifests": []berthv1alpha1.Manifest{a.manifest()}}})
}

// suspend lets an Application rest for a while.
func (a *tenant) suspend() {
	f := a.fleet
	f.counts["suspended"]++
	set := func(is bool) {
		a.disturbed()
		a.resumed = time.Now()
		f.act("patch", applications, a.name, "", object{"spec": object{"suspend": is}})
	}
	set(true)
	f.after(f.spell(time.Minute, 6*time.Hour), func() { set(false) })
}

const (
	// scaled is how often an autoscaler looks, and stabilized how long it waits before it lowers, both
	// as by default.
	scaled     = 15 * time.Second
	stabilized = 5 * time.Minute
)

// scaleSoon lets its autoscaler look soon, and again and again until there is nothing to be done.
func (a *tenant) scaleSoon() {
	if a.scaling || a.load == 0 {
		return
	}
	a.scaling = true
	a.fleet.after(scaled, func() {
		a.scaling = false
		l := a.fleet.workloadOf(a.name)
		if l == nil || a.scale(l) || a.app.Status.Move != nil {
			a.scaleSoon()
		}
	})
}

// scale is what an autoscaler does, and reports whether there may be more to be done.
func (a *tenant) scale(l *workload) bool {
	switch live := int(l.replicas); {
	case live == 0:
		return true // None switches an autoscaler off.
	case live == a.load:
		a.lower = time.Time{}
		return false
	case live > a.load && a.lower.IsZero():
		a.lower = time.Now()
		return true
	case live > a.load && time.Since(a.lower) < stabilized:
		return true
	}
	a.lower = time.Time{}
	a.fleet.counts["scaled by an autoscaler"]++
	a.disturbed()
	a.fleet.act("patch", deployments, a.name, "", object{"spec": object{"replicas": a.load}})
	return true
}

// saw takes up what an object has become.
func (f *fleet) saw(change *apiserver.Change) {
	switch change.Resource {
	case applications.Resource:
		app := &berthv1alpha1.Application{}
		if a := f.byName[change.Name]; a != nil && change.Decode(app) {
			before := a.app
			a.app = app
			f.judgeApplication(a, before)
		}
	case clusters.Resource:
		cluster := &berthv1alpha1.Cluster{}
		if change.Decode(cluster) {
			f.place(change.Name).saw(cluster)
		}
	}
}

// startsIn returns how long it takes until a pod that was bound is ready.
func (f *fleet) startsIn(pod *corev1.Pod) time.Duration {
	return f.byName[pod.Labels["app"]].start
}

// starts reports whether a pod that runs becomes ready.
func (f *fleet) starts(pod *corev1.Pod) bool { return !f.placeOf(pod).crashes }

// refuses reports whether a quota refuses the pods of a workload.
func (f *fleet) refuses(l *workload) bool { return f.byName[l.name].quota }

// look lets the controllers of workloads look soon.
func (f *fleet) look() {
	if f.looking {
		return
	}
	f.looking = true
	f.after(controlPause, func() {
		f.looking = false
		f.controlChanged()
	})
}

// podNames returns the names of all pods in order.
func (f *fleet) podNames() []string { return slices.Sorted(maps.Keys(f.pods)) }

// pods returns those of an Application that stay, in the order of their names.
func (a *tenant) pods() []*corev1.Pod {
	l := a.fleet.workloadOf(a.name)
	if l == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(a.fleet.staying[l.uid.UID]), func(x, y *corev1.Pod) int { return strings.Compare(x.Name, y.Name) })
}

// tenths returns a number from 0.1 to 1.
func (f *fleet) tenths() float64 { return float64(1+f.extra.IntN(10)) / 10 }
