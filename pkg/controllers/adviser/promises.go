// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package adviser

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/simulator"
)

// Promise is room in a Cluster for pods that are to come.
type Promise struct {
	// By is who promises, and Owner the workload that the pods are of.
	By    string
	Owner workload.ID
	// Cluster is where there is room for so many copies of the pod.
	Cluster string
	Pod     *corev1.Pod
	Copies  int
	// Away reports that they wait for nodes that are away, see simulator.Snapshot.FillAway.
	Away bool
}

// IsTo reports whether the pods are those of a workload. Whoever makes workloads knows no UID of
// one that is not there yet.
func (p *Promise) IsTo(owner workload.ID) bool {
	known := p.Owner
	if known.UID == "" || owner.UID == "" {
		known.UID, owner.UID = "", ""
	}
	return known == owner
}

// Fits reports whether the room may be meant for a pod: it is like those that were promised.
func (p *Promise) Fits(pod *corev1.Pod) bool {
	if p.Pod.Namespace != pod.Namespace || len(p.Pod.Labels) == 0 {
		return false
	}
	for key, value := range p.Pod.Labels {
		if is, found := pod.Labels[key]; !found || is != value {
			return false
		}
	}
	return true
}

// Reserve is Ask of somebody who relies on the answer: what the question returns is promised, in
// place of what he has promised before, and nobody else is answered in between. If it fails, what
// he has promised before still counts.
func (a *Adviser) Reserve(
	ctx context.Context, by string, except func(*Promise) bool, question func(*simulator.Snapshot) ([]Promise, error),
) error {
	replaced := func(p *Promise) bool { return p.By == by || except != nil && except(p) }
	return a.Ask(ctx, replaced, func(snapshot *simulator.Snapshot) error {
		promises, err := question(snapshot)
		if err == nil {
			a.promise(by, promises)
		}
		return err
	})
}

// Promise replaces what somebody has promised without a question: by less, or by what does not
// depend on how much room there is. It counts until it is replaced, so whoever promises must take
// back what nobody wants any more, and what nobody has come for in time. Those who wait for room
// are told when he keeps none any more.
func (a *Adviser) Promise(by string, promises []Promise) {
	a.mu.Lock()
	ends := len(promises) == 0 && len(a.promises[by]) > 0
	a.promise(by, promises)
	listeners := a.listeners
	a.mu.Unlock()
	if ends {
		notify(listeners)
	}
}

func (a *Adviser) promise(by string, promises []Promise) {
	if len(promises) == 0 {
		delete(a.promises, by)
		return
	}
	if a.promises == nil {
		a.promises = map[string][]Promise{}
	}
	for i := range promises {
		promises[i].By = by
	}
	a.promises[by] = promises
}

// Confine tells where pods of a namespace that wait for a node may get one, as far as their
// policies say so: units of a ClusterResource are kept for them there and nowhere else. It replaces
// what was told of the namespace before. The shortages must not be changed afterwards.
func (a *Adviser) Confine(namespace string, shortages modelpolicy.Shortages) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(shortages) == 0 {
		delete(a.shortages, namespace)
	} else {
		a.shortages[namespace] = shortages
	}
}

// Hold tells who makes the pods that a Subscription holds back, by workload.Maker: units of a
// ClusterResource are not kept for them. It replaces what was told before. The makers must not be
// changed afterwards.
func (a *Adviser) Hold(makers map[types.UID]bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.snapshot.Hold(makers)
}

// keepPromises places a pod for each that is to come, as far as there is a node for it.
func (a *Adviser) keepPromises(ctx context.Context, except func(*Promise) bool) error {
	for _, by := range slices.Sorted(maps.Keys(a.promises)) {
		for i := range a.promises[by] {
			p := &a.promises[by][i]
			if except != nil && except(p) {
				continue
			}
			if err := a.keep(ctx, p); err != nil {
				return fmt.Errorf("keeping room for pods of %s %s: %w", p.Owner.Kind, p.Owner.Name, err)
			}
		}
	}
	return nil
}

// keep places the pods of a promise. Those that waited for nodes which are back by now are about to
// get a place there.
func (a *Adviser) keep(ctx context.Context, p *Promise) error {
	copies := p.Copies
	if p.Away {
		away, err := a.snapshot.FillAway(ctx, p.Cluster, p.Pod, copies)
		if err != nil {
			return err
		}
		copies -= away.Copies
	}
	_, err := a.snapshot.Fill(ctx, p.Cluster, p.Pod, copies)
	return err
}
