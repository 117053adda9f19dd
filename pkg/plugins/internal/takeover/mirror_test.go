// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
)

// lagging is an informer, and the API server that it is behind of by some time.
type lagging struct {
	by      time.Duration
	client  *kubefake.Clientset
	version int
	asked   []string

	mu   sync.Mutex
	pods []*corev1.Pod
}

// has returns what the informer has.
func (b *lagging) has() []*corev1.Pod {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.pods)
}

// takeUp replaces what the informer has after some time.
func (b *lagging) takeUp(after time.Duration, pods ...*corev1.Pod) {
	time.AfterFunc(after, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.pods = pods
	})
}

// newLagging returns an informer of two pods, of which one waits, and of which the API server lists
// three. Fails returns what becomes of a write, by its number.
func newLagging(by time.Duration, fails func(write int) error) *lagging {
	b := &lagging{
		by: by, client: kubefake.NewClientset(), version: 10,
		pods: []*corev1.Pod{pod("bound", func(p *corev1.Pod) { p.Spec.NodeName = "node" }), pod("waits")},
	}
	b.client.PrependReactor("*", "pods", func(action clienttesting.Action) (bool, kruntime.Object, error) {
		b.asked = append(b.asked, action.GetVerb())
		if action.GetVerb() == "list" {
			return true, pageOf("", append(b.has(), pod("another"))...), nil
		}
		if err := fails(len(b.asked)); err != nil {
			return true, nil, err
		}
		b.version++
		written := pod("waits", func(p *corev1.Pod) { p.ResourceVersion = strconv.Itoa(b.version) })
		b.takeUp(b.by, b.has()[0], written)
		return true, written, nil
	})
	return b
}

func (b *lagging) source() *Source {
	leader := make(chan struct{})
	close(leader)
	return &Source{
		Client: b.client, Leader: leader, Elsewhere: func(*corev1.Pod) bool { return false }, NothingLate: func() bool { return false },
		Since: func() string { return "" },
		Mirror: &Mirror{
			Client: b.client, Clock: clock.RealClock{},
			All: b.has,
			Pending: func() []*corev1.Pod {
				return slices.DeleteFunc(b.has(), func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" })
			},
			Pod: func(_, name string) *corev1.Pod {
				for _, pod := range b.has() {
					if pod.Name == name {
						return pod
					}
				}
				return nil
			},
		},
	}
}

func TestTheInformerStandsForTheListOnceItIsAsNew(t *testing.T) {
	never := func(int) error { return nil }
	refused := errors.New("a webhook refuses it")
	fromInformer := []string{"begin", "bound", "waits may be bound", "end"}
	fromList := []string{"begin", "bound", "waits may be bound", "another may be bound", "end"}
	for name, tc := range map[string]struct {
		by        time.Duration
		fails     func(int) error
		edit      func(*lagging)
		want      []string
		wantAsked []string
		wantTook  time.Duration
	}{
		"two writes are waited for": {
			by: 45 * time.Millisecond, fails: never, want: fromInformer, wantAsked: []string{"patch", "patch"}, wantTook: 100 * time.Millisecond,
		},
		"it stays behind": {
			by: time.Hour, fails: never, want: fromList, wantAsked: []string{"patch", "list"}, wantTook: mirrorTimeout,
		},
		"the first write is refused": {
			fails: func(int) error { return refused }, want: fromList, wantAsked: []string{"patch", "list"},
		},
		"the second write is refused": {
			by: mirrorPoll / 2,
			fails: func(write int) error {
				if write == 2 {
					return refused
				}
				return nil
			},
			want: fromList, wantAsked: []string{"patch", "patch", "list"}, wantTook: mirrorPoll,
		},
		"nobody waits": {
			fails: never, edit: func(b *lagging) { b.pods = b.pods[:1] },
			want: []string{"begin", "bound", "another may be bound", "end"}, wantAsked: []string{"list"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newLagging(tc.by, tc.fails)
				if tc.edit != nil {
					tc.edit(b)
				}
				read, seed, began := &reader{}, NewSeed(), time.Now()
				seed.Run(t.Context(), clock.RealClock{}, b.source(), []ListReader{read}, func() {})
				if took := time.Since(began); took != tc.wantTook {
					t.Errorf("it took %v, want %v", took, tc.wantTook)
				}
				if diff := cmp.Diff(tc.want, read.read); diff != "" {
					t.Errorf("read (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tc.wantAsked, b.asked); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A pod of the same name, or none, shows that the one that was written has gone since.
func TestAPodThatHasGoneShowsThatTheInformerIsNew(t *testing.T) {
	for name, after := range map[string][]*corev1.Pod{
		"gone":         {pod("bound")},
		"another pod":  {pod("bound"), pod("waits", func(p *corev1.Pod) { p.UID = "other" })},
		"a newer copy": {pod("bound"), pod("waits", func(p *corev1.Pod) { p.ResourceVersion = "99" })},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newLagging(time.Hour, func(int) error { return nil })
				m := b.source().Mirror
				b.takeUp(time.Second-mirrorPoll/2, after...)
				began := time.Now()
				if err := m.touch(t.Context(), b.has()[1]); err != nil || time.Since(began) != time.Second {
					t.Errorf("after %v: %v, want nil after a second", time.Since(began), err)
				}
			})
		})
	}
}
