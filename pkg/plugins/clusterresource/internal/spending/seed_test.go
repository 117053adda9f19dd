// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"berth.dev/berth/pkg/plugins/internal/ledger"
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

// wantCharged checks that each of the pods is charged.
func wantCharged(t *testing.T, pending *ledger.Pending, pods ...*corev1.Pod) {
	t.Helper()
	for _, pod := range pods {
		if _, charged := pending.Get(pod.UID); !charged {
			t.Errorf("pod %s is not charged", pod.Name)
		}
	}
}

func TestSeed(t *testing.T) {
	known, missed := holder("known", charge("", "1")), holder("missed", charge("", "1"))
	plain := waiting("plain")
	plain.Spec.NodeName = "node"
	page := func(next string, pods ...*corev1.Pod) *corev1.PodList {
		list := &corev1.PodList{}
		list.Continue = next
		for _, pod := range pods {
			list.Items = append(list.Items, *pod)
		}
		return list
	}
	for name, tc := range map[string]struct {
		pages []any
		// wantUnseen are the pods that the informer does not know as bound, wantChanges how often that is
		// told.
		wantUnseen  []ledger.PodRef
		wantChanges int
	}{
		"one page": {
			pages: []any{page("", known, missed, plain)}, wantUnseen: []ledger.PodRef{ledger.Ref(missed)}, wantChanges: 1,
		},
		"two pages": {
			pages: []any{page("more", known), page("", missed, plain)}, wantUnseen: []ledger.PodRef{ledger.Ref(missed)}, wantChanges: 1,
		},
		"failures, of which the first is made known": {
			pages:      []any{errors.New("down"), page("more", known), errors.New("down"), page("", known, missed)},
			wantUnseen: []ledger.PodRef{ledger.Ref(missed)}, wantChanges: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			client, pending, clock := kubefake.NewClientset(), ledger.NewPending(), clocktesting.NewFakeClock(time.Unix(0, 0))
			pagesOf(client, tc.pages...)
			leader := make(chan struct{})
			seed, changes, done := &Seed{}, 0, make(chan struct{})
			go func() {
				defer close(done)
				seed.Run(t.Context(), clock, leader, client, pending, NewLate(""),
					func(pod *corev1.Pod) bool { return pod.Name == "known" }, func() { changes++ })
			}()
			if seed.Done() || len(client.Actions()) > 0 {
				t.Error("the list is read before the process leads")
			}
			close(leader)
			stepUntil(clock, done)
			if diff := cmp.Diff(tc.wantUnseen, pending.AllUnseen()); diff != "" {
				t.Errorf("unseen (-want +got):\n%s", diff)
			}
			wantCharged(t, pending, known, missed)
			if _, charged := pending.Get(plain.UID); charged {
				t.Error("a pod that holds nothing is charged")
			}
			if !seed.Done() || changes != tc.wantChanges {
				t.Errorf("done: %t after %d changes, want %d", seed.Done(), changes, tc.wantChanges)
			}
		})
	}
}

func TestTheSeedSaysWhyItFails(t *testing.T) {
	seed, client := &Seed{}, kubefake.NewClientset()
	pagesOf(client, errors.New("down"))
	failed := make(chan struct{})
	leader := make(chan struct{})
	close(leader)
	go seed.Run(t.Context(), clocktesting.NewFakeClock(time.Unix(0, 0)), leader, client, ledger.NewPending(), NewLate(""),
		func(*corev1.Pod) bool { return true }, func() { close(failed) })
	<-failed
	if seed.Done() || seed.Failure() == nil || seed.Failure().Error() != "listing pods: down" {
		t.Errorf("done: %t, failure: %v", seed.Done(), seed.Failure())
	}
}
