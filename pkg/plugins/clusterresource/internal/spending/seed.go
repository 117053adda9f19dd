// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// Seed finds out what pods hold that another process bound. The informers of a new leader may be
// behind the last bindings of the old one, so before the first pod is charged there is one list
// that is not.
type Seed struct {
	done    atomic.Bool
	failure atomic.Pointer[error]
}

const (
	seedPage     = 500
	seedInterval = time.Second
)

// unfinished are the pods that may hold something, or may come to.
const unfinished = "status.phase!=Succeeded,status.phase!=Failed"

// Done reports whether the list has been read.
func (s *Seed) Done() bool {
	return s.done.Load()
}

// Skip stands for the list in a process that has no predecessor.
func (s *Seed) Skip() {
	s.done.Store(true)
}

// Failure returns why it could not be read, nil if it has not failed.
func (s *Seed) Failure() error {
	if failure := s.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// Run reads the list once this process is the leader, and again until it succeeds. Known reports
// whether the informer knows a pod as bound; the others are put as unseen. Late gets the pods that
// the process before may still bind. Changed is called when the answer of Done or, for the first
// time, of Failure changes.
func (s *Seed) Run(
	ctx context.Context, clock clock.Clock, leader <-chan struct{}, client kubernetes.Interface,
	pending *ledger.Pending, late *Late, known func(*corev1.Pod) bool, changed func(),
) {
	select {
	case <-ctx.Done():
		return
	case <-leader:
	}
	for {
		err := read(ctx, client, pending, late, known)
		if err == nil {
			s.done.Store(true)
			changed()
			return
		}
		if s.failure.Swap(&err) == nil {
			changed()
		}
		select {
		case <-ctx.Done():
			return
		case <-clock.After(seedInterval):
		}
	}
}

func read(
	ctx context.Context, client kubernetes.Interface, pending *ledger.Pending, late *Late, known func(*corev1.Pod) bool,
) error {
	options := metav1.ListOptions{FieldSelector: unfinished, Limit: seedPage}
	held, claimants := pool.NewAccount(), []Claimant(nil)
	for {
		list, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
		if err != nil {
			return fmt.Errorf("listing pods: %w", err)
		}
		for i := range list.Items {
			pod := &list.Items[i]
			if c, may := late.claimant(pod); may {
				claimants = append(claimants, c)
			}
			charges, charged := stamp.ChargesOf(pod)
			if !charged {
				continue
			}
			held.Add(charges)
			if known(pod) {
				pending.Put(ledger.Ref(pod), charges)
			} else {
				pending.PutUnseen(ledger.Ref(pod), charges)
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			late.expect(held, claimants)
			return nil
		}
	}
}
