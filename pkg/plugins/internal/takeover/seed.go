// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/model/workload"
)

// Seed is one list of pods, read when this process becomes the leader. The informers of a new
// leader may be behind the last bindings of the old one, so before the first pod is given anything
// there is one list that is not, or an informer that is known not to be. It is safe for concurrent
// use.
type Seed struct {
	done    chan struct{}
	once    sync.Once
	failure atomic.Pointer[error]
}

// ListReader takes over what the list shows. Its methods are called one after the other.
type ListReader interface {
	// Begin is called before the first pod, again if the list had to be begun anew.
	Begin()
	// Read is called for each pod that has not finished. Claimant is true for those that the
	// process before may still bind.
	Read(pod *corev1.Pod, claimant bool)
	// End is called after the last pod.
	End()
}

const (
	seedPage     = 500
	seedInterval = time.Second
)

// unfinished are the pods that may hold something, or may come to.
const unfinished = "status.phase!=Succeeded,status.phase!=Failed"

// NewSeed returns a list that has not been read.
func NewSeed() *Seed {
	return &Seed{done: make(chan struct{})}
}

// Done reports whether the list has been read.
func (s *Seed) Done() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Listed returns a channel that is closed once the list has been read.
func (s *Seed) Listed() <-chan struct{} {
	return s.done
}

// Skip stands for the list in a process that has no predecessor.
func (s *Seed) Skip() {
	s.once.Do(func() { close(s.done) })
}

// Failure returns why it could not be read, nil if it has not failed.
func (s *Seed) Failure() error {
	if failure := s.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// Source is where the list comes from.
type Source struct {
	// Client lists pods.
	Client kubernetes.Interface
	// Leader is closed once this process has become the leader.
	Leader <-chan struct{}
	// Elsewhere reports whether only another scheduler may place a pod. The process before that has
	// bound it has seen it as it is in the list.
	Elsewhere func(*corev1.Pod) bool
	// NothingLate reports, once this process is the leader, whether nothing that the process before
	// has sent can still be carried out.
	NothingLate func() bool
	// Mirror is used in place of a list if it can be, unless it is nil.
	Mirror *Mirror
	// Since returns a version of the pods, empty for none. Whoever has a newer one has been changed
	// when nothing was sent any more, so no late Binding can happen to it.
	Since func() string
}

// Run reads the list once this process is the leader, and again until it succeeds. Changed is
// called when the answer of Done or, for the first time, of Failure changes.
func (s *Seed) Run(ctx context.Context, clk clock.Clock, source *Source, readers []ListReader, changed func()) {
	select {
	case <-ctx.Done():
		return
	case <-source.Leader:
	}
	for {
		if err := source.readNow(ctx, readers); err == nil {
			s.Skip()
			changed()
			return
		} else if s.failure.Swap(&err) == nil {
			changed()
		}
		select {
		case <-ctx.Done():
			return
		case <-clk.After(seedInterval):
		}
	}
}

// readNow reads what the informer has if that is known to be new enough, and lists the pods
// otherwise.
func (s *Source) readNow(ctx context.Context, readers []ListReader) error {
	if s.Mirror != nil {
		err := s.Mirror.catchUp(ctx, s.claimant)
		if err == nil {
			begin(readers)
			hand := s.handing(readers)
			for _, pod := range s.Mirror.All() {
				hand(pod)
			}
			end(readers)
			return nil
		}
		klog.FromContext(ctx).V(2).Info("The pods are listed, since the informer may be behind", "err", err)
	}
	_, err := s.Read(ctx, readers)
	return err
}

func begin(readers []ListReader) {
	for _, r := range readers {
		r.Begin()
	}
}

func end(readers []ListReader) {
	for _, r := range readers {
		r.End()
	}
}

// handing returns what hands pods to the readers.
func (s *Source) handing(readers []ListReader) func(*corev1.Pod) {
	late, since := !s.NothingLate(), s.Since()
	return func(pod *corev1.Pod) {
		claimant := late && s.claimant(pod) && (since == "" || !newer(pod.ResourceVersion, since))
		for _, r := range readers {
			r.Read(pod, claimant)
		}
	}
}

// Read lists the pods once, and returns the version of the list.
func (s *Source) Read(ctx context.Context, readers []ListReader) (version string, _ error) {
	begin(readers)
	hand := s.handing(readers)
	options := metav1.ListOptions{FieldSelector: unfinished, Limit: seedPage}
	for {
		list, err := s.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
		if err != nil {
			return "", fmt.Errorf("listing pods: %w", err)
		}
		if version == "" {
			version = list.ResourceVersion
		}
		for i := range list.Items {
			hand(&list.Items[i])
		}
		if options.Continue = list.Continue; options.Continue != "" {
			continue
		}
		end(readers)
		return version, nil
	}
}

// claimant reports whether a late Binding can happen to a pod of the list, if there are any. It
// cannot to those that have a node or a scheduling gate, since whoever writes that changes the pod.
func (s *Source) claimant(pod *corev1.Pod) bool {
	return workload.Tried(pod) && !s.Elsewhere(pod)
}
