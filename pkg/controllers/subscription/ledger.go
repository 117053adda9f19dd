// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/controllers/room"
)

// ledger tells how much room is left when what has been promised in this pass is taken off.
type ledger struct {
	fresh     func() *room.Estimator
	estimator *room.Estimator
	entries   []entry
}

type entry struct {
	nodes  []*corev1.Node
	sample *corev1.Pod
	n      int64
}

func newLedger(fresh func() *room.Estimator) *ledger {
	return &ledger{fresh: fresh, estimator: fresh()}
}

// room returns how many pods like the sample the nodes would take, at most limit.
func (l *ledger) room(nodes []*corev1.Node, sample *corev1.Pod, limit int64) (int64, error) {
	n, err := l.estimator.Count(nodes, sample, nil, int(min(limit, math.MaxInt32)))
	return int64(n), err
}

// promise takes room for n pods off.
func (l *ledger) promise(nodes []*corev1.Node, sample *corev1.Pod, n int64) error {
	if n <= 0 {
		return nil
	}
	l.entries = append(l.entries, entry{nodes, sample, n})
	return l.estimator.Reserve(nodes, sample, nil, int(n))
}

// mark returns a point to which withdraw can go back.
func (l *ledger) mark() int { return len(l.entries) }

// withdraw takes back all promises since the mark.
func (l *ledger) withdraw(mark int) error {
	if mark == len(l.entries) {
		return nil
	}
	kept := l.entries[:mark]
	l.estimator, l.entries = l.fresh(), nil
	for _, e := range kept {
		if err := l.promise(e.nodes, e.sample, e.n); err != nil {
			return err
		}
	}
	return nil
}
