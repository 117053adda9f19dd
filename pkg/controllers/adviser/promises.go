// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package adviser

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
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

// Promise replaces what somebody has promised. It counts until it is replaced, so whoever promises
// must take back what nobody wants any more, and what nobody has come for in time.
func (a *Adviser) Promise(by string, promises []Promise) {
	a.mu.Lock()
	defer a.mu.Unlock()
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

// keepPromises places a pod for each that is to come, as far as there is a node for it.
func (a *Adviser) keepPromises(ctx context.Context, except func(*Promise) bool) error {
	for _, by := range slices.Sorted(maps.Keys(a.promises)) {
		for i := range a.promises[by] {
			p := &a.promises[by][i]
			if except(p) {
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
