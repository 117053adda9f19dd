// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
)

// pagesOf lets a client answer the first lists with pages, of which an error stands for a failure.
func pagesOf(client *kubefake.Clientset, pages ...any) {
	next := 0
	client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, kruntime.Object, error) {
		page := pages[next]
		next++
		if err, failed := page.(error); failed {
			return true, nil, err
		}
		list := page.(*corev1.PodList)
		return true, list, nil
	})
}

// stepUntil lets the clock pass the intervals that are waited for, until done is closed.
func stepUntil(clock *clocktesting.FakeClock, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
			runtime.Gosched()
			if clock.HasWaiters() {
				clock.Step(seedInterval)
			}
		}
	}
}

// reader notes what it is given.
type reader struct{ read []string }

func (r *reader) Begin() { r.read = append(r.read, "begin") }

func (r *reader) Read(pod *corev1.Pod, claimant bool) {
	if claimant {
		r.read = append(r.read, pod.Name+" may be bound")
	} else {
		r.read = append(r.read, pod.Name)
	}
}

func (r *reader) End() { r.read = append(r.read, "end") }

func pageOf(next string, pods ...*corev1.Pod) *corev1.PodList {
	list := &corev1.PodList{}
	list.Continue = next
	for _, pod := range pods {
		list.Items = append(list.Items, *pod)
	}
	return list
}

func TestSeed(t *testing.T) {
	bound := pod("bound", func(p *corev1.Pod) { p.Spec.NodeName = "node" })
	waits := pod("waits")
	gated := pod("gated", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} })
	leaves := pod("leaves", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} })
	ended := pod("ended", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
	theirs := pod("theirs")
	all := []string{"begin", "bound", "waits may be bound", "gated", "leaves", "ended", "theirs", "end"}
	for name, tc := range map[string]struct {
		pages []any
		// nothingLate is what the process before says of its Bindings.
		nothingLate bool
		// since is the version from which on nothing was sent.
		since string
		want  []string
		// wantChanges is how often news are told.
		wantChanges int
	}{
		"one page":  {pages: []any{pageOf("", bound, waits, gated, leaves, ended, theirs)}, want: all, wantChanges: 1},
		"two pages": {pages: []any{pageOf("more", bound, waits), pageOf("", gated, leaves, ended, theirs)}, want: all, wantChanges: 1},
		"after a process that has nothing under way": {
			pages: []any{pageOf("", bound, waits)}, nothingLate: true, want: []string{"begin", "bound", "waits", "end"}, wantChanges: 1,
		},
		"after a process that had sent nothing when one was changed": {
			pages: []any{pageOf("", pod("same", func(p *corev1.Pod) { p.ResourceVersion = "9" }), pod("newer", func(p *corev1.Pod) { p.ResourceVersion = "10" }), waits)},
			since: "9", want: []string{"begin", "same may be bound", "newer", "waits may be bound", "end"}, wantChanges: 1,
		},
		"failures, of which the first is made known": {
			pages:       []any{errors.New("down"), pageOf("more", bound), errors.New("down"), pageOf("", waits)},
			want:        []string{"begin", "begin", "bound", "begin", "waits may be bound", "end"},
			wantChanges: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			client, clock := kubefake.NewClientset(), clocktesting.NewFakeClock(time.Unix(0, 0))
			pagesOf(client, tc.pages...)
			leader := make(chan struct{})
			seed, read, changes, done := NewSeed(), &reader{}, 0, make(chan struct{})
			source := &Source{
				Client: client, Leader: leader, Elsewhere: func(pod *corev1.Pod) bool { return pod.Name == "theirs" },
				NothingLate: func() bool { return tc.nothingLate }, Since: func() string { return tc.since },
			}
			go func() {
				defer close(done)
				seed.Run(t.Context(), clock, source, []ListReader{read}, func() { changes++ })
			}()
			if seed.Done() || len(client.Actions()) > 0 {
				t.Error("the list is read before the process leads")
			}
			close(leader)
			stepUntil(clock, done)
			if diff := cmp.Diff(tc.want, read.read); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			if !seed.Done() || changes != tc.wantChanges {
				t.Errorf("done: %t after %d changes, want %d", seed.Done(), changes, tc.wantChanges)
			}
		})
	}
}

func TestTheSeedSaysWhyItFails(t *testing.T) {
	seed, client := NewSeed(), kubefake.NewClientset()
	pagesOf(client, errors.New("down"))
	failed := make(chan struct{})
	leader := make(chan struct{})
	close(leader)
	go seed.Run(t.Context(), clocktesting.NewFakeClock(time.Unix(0, 0)), &Source{
		Client: client, Leader: leader, NothingLate: func() bool { return false }, Since: func() string { return "" },
	}, nil,
		func() { close(failed) })
	<-failed
	if seed.Done() || seed.Failure() == nil || seed.Failure().Error() != "listing pods: down" {
		t.Errorf("done: %t, failure: %v", seed.Done(), seed.Failure())
	}
}
