// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	model "berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/test/internal/oracle"
)

// place is a site of a fleet.
type place struct {
	fleet *fleet
	name  string
	// dead is true while no node works, crashes while no pod becomes ready.
	dead, crashes bool
	// died is when it died last.
	died time.Time
	// now is the Cluster as it is, and before what it was of late, with the time at which that ended.
	now    *berthv1alpha1.Cluster
	before []version
}

// version is what a Cluster was until some time.
type version struct {
	cluster *berthv1alpha1.Cluster
	until   time.Time
}

// saw takes up what a Cluster has become.
func (p *place) saw(cluster *berthv1alpha1.Cluster) {
	now := time.Now()
	for len(p.before) > 0 && now.Sub(p.before[0].until) > oracle.Settled {
		p.before = p.before[1:]
	}
	if p.now != nil {
		p.before = append(p.before, version{p.now, now})
	}
	p.now = cluster
}

// versions returns what a decision of now may have been made of.
func (p *place) versions() []*berthv1alpha1.Cluster {
	list := []*berthv1alpha1.Cluster{p.now}
	for _, v := range p.before {
		if time.Since(v.until) <= oracle.Settled {
			list = append(list, v.cluster)
		}
	}
	return list
}

func (f *fleet) placeOf(pod *corev1.Pod) *place { return f.place(f.siteOf(pod.Spec.NodeName)) }

func (f *fleet) place(name string) *place {
	for _, p := range f.places {
		if p.name == name {
			return p
		}
	}
	return nil
}

// measure lets the metrics walk on, and hides or falsifies some.
func (f *fleet) measure() {
	told := object{}
	for _, p := range f.places {
		for _, m := range weights {
			name := m.Name + "-" + p.name
			f.walk[name] = min(1, max(0, f.walk[name]+f.extra.NormFloat64()*0.03))
			switch drawn := f.extra.IntN(100); {
			case f.out[m.Name], drawn < 5:
				told[name] = nil
			case drawn < 7:
				told[name] = 7.5
				f.counts["lies"]++
			default:
				told[name] = f.walk[name]
			}
		}
	}
	f.act("patch", providers, provider, "", object{"spec": object{"static": object{"metrics": told}}})
}

// outage lets nobody read a metric for a while.
func (f *fleet) outage(metric string) {
	f.counts["outages of a metric"]++
	f.out[metric] = true
	f.after(f.spell(time.Hour, 8*time.Hour), func() { f.out[metric] = false })
}

// pods returns those of a site in the order of their names.
func (p *place) pods() (list []*corev1.Pod) {
	for _, name := range p.fleet.podNames() {
		if pod := p.fleet.pods[name]; pod.Spec.NodeName != "" && p.fleet.siteOf(pod.Spec.NodeName) == p.name {
			list = append(list, pod)
		}
	}
	return list
}

// evictedAfter is how long a node may be unreachable until its pods are deleted, as by default.
const evictedAfter = 5 * time.Minute

// die lets no node of a site work for a while.
func (p *place) die() {
	f := p.fleet
	if p.dead {
		return
	}
	f.counts["deaths"]++
	p.dead, p.died = true, time.Now()
	p.setNodes(false)
	for _, pod := range p.pods() {
		if model.Ready(pod) {
			f.setRunning(pod.Name, false)
		}
	}
	died := p.died
	f.after(evictedAfter, func() {
		if p.dead && p.died.Equal(died) {
			p.evict()
		}
	})
	f.after(f.spell(2*time.Minute, 12*time.Hour), p.revive)
}

// evict deletes the pods of a site that is dead. They end when its kubelets are back.
func (p *place) evict() {
	for _, pod := range p.pods() {
		p.fleet.act("delete", pods, pod.Name, "", metav1.DeleteOptions{})
	}
}

func (p *place) setNodes(ready bool) {
	for node := range nodesEach {
		p.fleet.setReady(fmt.Sprintf("%s-node-%d", p.name, node), ready)
	}
}

// revive lets the nodes of a site work again.
func (p *place) revive() {
	f := p.fleet
	p.dead = false
	p.setNodes(true)
	for _, pod := range p.pods() {
		switch {
		case pod.DeletionTimestamp != nil:
			f.endPod(pod)
		default:
			f.after(f.startsIn(pod), func() { f.recover(pod) })
		}
	}
}

// recover lets a pod run and be ready if nothing keeps it from that.
func (f *fleet) recover(pod *corev1.Pod) {
	now := f.pods[pod.Name]
	if now == nil || now.UID != pod.UID || model.Ready(now) || now.DeletionTimestamp != nil || !f.nodeWorks(now.Spec.NodeName) {
		return
	}
	f.setRunning(pod.Name, f.starts(now))
}

// crash lets no pod of a site become ready for a while.
func (p *place) crash() {
	f := p.fleet
	if p.crashes {
		return
	}
	f.counts["crash loops"]++
	p.crashes = true
	f.after(f.spell(5*time.Minute, 3*time.Hour), func() {
		p.crashes = false
		for _, pod := range p.pods() {
			f.after(f.startsIn(pod), func() { f.recover(pod) })
		}
	})
}

// drain lets Applications leave a site for a while.
func (p *place) drain() {
	f := p.fleet
	if p.now.Spec.Drain {
		return
	}
	f.counts["drains"]++
	set := func(is bool) {
		f.act("patch", clusters, p.name, "", object{"spec": object{"unschedulable": is, "drain": is}})
	}
	set(true)
	f.after(f.spell(time.Hour, 6*time.Hour), func() { set(false) })
}
