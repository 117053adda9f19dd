// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"
	testingclock "k8s.io/utils/clock/testing"

	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/ui"
)

// looking opens Sources, and notes which have ended.
type looking struct {
	t       *testing.T
	sources ui.Sources
	lasts   map[ui.Key]context.Context
}

func (l *looking) get(key ui.Key) error {
	_, err := l.sources.Get(l.t.Context(), key, func(ctx context.Context) (*ui.Source, error) {
		if l.lasts == nil {
			l.lasts = map[ui.Key]context.Context{}
		}
		l.lasts[key] = ctx //nolint:fatcontext // the test looks at when each of them ends
		return ui.NewSource(ctx, ui.Clients{Kubernetes: fake.NewClientset(), Berth: berthfake.NewSimpleClientset()}, key.Namespace, nil)
	})
	return err
}

func (l *looking) ended(key ui.Key) bool { return l.lasts[key].Err() != nil }

func of(viewer, namespace string) ui.Key {
	return ui.Key{Viewer: viewer, Credentials: "token of " + viewer, Namespace: namespace}
}

func TestNobodyTakesAllPlaces(t *testing.T) {
	clock := testingclock.NewFakeClock(time.Now())
	l := &looking{t: t, sources: ui.Sources{Most: 3, MostEach: 2, Clock: clock}}
	for _, namespace := range []string{"a", "b", "a", "c"} {
		if err := l.get(of("greedy", namespace)); err != nil {
			t.Fatalf("namespace %s: %v", namespace, err)
		}
		clock.Step(time.Second)
	}
	if l.ended(of("greedy", "a")) || !l.ended(of("greedy", "b")) || l.ended(of("greedy", "c")) {
		t.Error("not the one that was asked for least lately has ended")
	}
	another := ui.Key{Viewer: "greedy", Credentials: "another token", Namespace: "a"}
	if err := l.get(another); err != nil || !l.ended(of("greedy", "a")) {
		t.Errorf("another token is another viewer: %v", err)
	}
	if err := l.get(of("modest", "a")); err != nil {
		t.Errorf("another viewer: %v", err)
	}
	if err := l.get(of("late", "a")); !errors.Is(err, ui.ErrTooMany) {
		t.Errorf("beyond all places: %v", err)
	}
	if err := l.get(of("modest", "b")); err != nil || !l.ended(of("modest", "a")) {
		t.Errorf("another namespace when all places are taken: %v", err)
	}
}

// TestSourcesEndByThemselves asks for nothing while a Source gets idle.
func TestSourcesEndByThemselves(t *testing.T) {
	clock := testingclock.NewFakeClock(time.Now())
	l := &looking{t: t, sources: ui.Sources{Most: 3, MostEach: 2, Clock: clock}}
	idle, used := of("x", "idle"), of("x", "used")
	for _, key := range []ui.Key{idle, used} {
		if err := l.get(key); err != nil {
			t.Fatal(err)
		}
	}
	clock.Step(6 * time.Minute)
	if err := l.get(used); err != nil {
		t.Fatal(err)
	}
	clock.Step(5 * time.Minute)
	eventually(t, "the idle one ends", func() bool { return l.ended(idle) })
	if l.ended(used) {
		t.Error("the one that is used has ended")
	}
	eventually(t, "the one that is used waits again", clock.HasWaiters)
	clock.Step(10 * time.Minute)
	eventually(t, "the other one ends", func() bool { return l.ended(used) })
}

func TestLeavingEndsWhatIsWatched(t *testing.T) {
	l := &looking{t: t, sources: ui.Sources{Most: 3, MostEach: 2}}
	leaving, staying := of("x", "a"), of("y", "a")
	for _, key := range []ui.Key{leaving, staying} {
		if err := l.get(key); err != nil {
			t.Fatal(err)
		}
	}
	l.sources.End(leaving.Credentials)
	if !l.ended(leaving) || l.ended(staying) {
		t.Error("not that of the one who leaves has ended")
	}
	if err := l.get(leaving); err != nil || l.ended(leaving) {
		t.Errorf("after coming back: %v", err)
	}
}
