// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"context"
	"errors"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"berth.dev/berth/cmd/controller-manager/app"
)

// started is a running manager that notes what it is given.
type started struct {
	ctrl.Manager
	given int
}

func (m *started) Add(manager.Runnable) error {
	m.given++
	return nil
}

// twofold is a controller that adds two runnables, and goes on to register watches after each.
type twofold struct {
	running *started
	// early is true if the manager got something before the controller had all its watches.
	early bool
	err   error
}

func (c *twofold) SetupWithManager(mgr ctrl.Manager) error {
	before := c.running.given
	for range 2 {
		if err := mgr.Add(manager.RunnableFunc(func(context.Context) error { return nil })); err != nil {
			return err
		}
		c.early = c.early || c.running.given > before
	}
	return c.err
}

// A controller that is set up while the manager runs starts when it has all its watches, not when
// it has the first: it would wait for that one under a lock that the second one has to take.
func TestSetUpStartsControllersWithAllTheirWatches(t *testing.T) {
	mgr := &started{}
	first, second := &twofold{running: mgr}, &twofold{running: mgr}
	if err := app.SetUp(mgr, first, second); err != nil {
		t.Fatal(err)
	}
	if first.early || second.early {
		t.Errorf("a controller was started before it had all its watches")
	}
	if mgr.given != 4 {
		t.Errorf("the manager runs %d of 4", mgr.given)
	}
}

func TestSetUpStartsNothingOfAControllerThatFails(t *testing.T) {
	mgr := &started{}
	c := &twofold{running: mgr, err: errors.New("no kind")}
	if err := app.SetUp(mgr, c); !errors.Is(err, c.err) {
		t.Errorf("the error is %v, want %v", err, c.err)
	}
	if mgr.given != 0 {
		t.Errorf("the manager runs %d parts of a controller that could not be set up", mgr.given)
	}
}
