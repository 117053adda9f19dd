// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fairqueue_test

import (
	"testing"
	"time"

	"berth.dev/berth/pkg/controllers/internal/fairqueue"
)

// A namespace has its turns at once, and then some a second; another one does not wait for it, and
// what asks again keeps its turn.
func TestTurnsOfANamespaceArePaced(t *testing.T) {
	var a fairqueue.Allowances
	now := time.Now()
	for i := range fairqueue.AtOnce {
		if wait := a.Book(request("loud", i).NamespacedName, now); wait > 0 {
			t.Fatalf("number %d waits for %v", i, wait)
		}
	}
	const step = time.Second / fairqueue.PerSecond
	for i := range 3 {
		key, want := request("loud", fairqueue.AtOnce+i).NamespacedName, time.Duration(i+1)*step
		for range 2 {
			if wait := a.Book(key, now); wait != want {
				t.Errorf("number %d after those at once waits for %v, want %v", i, wait, want)
			}
		}
	}
	if wait := a.Book(request("quiet", 0).NamespacedName, now); wait > 0 {
		t.Errorf("that of the other namespace waits for %v", wait)
	}
	first := request("loud", fairqueue.AtOnce).NamespacedName
	if wait := a.Book(first, now.Add(step)); wait > 0 {
		t.Errorf("it waits for another %v when its turn has come", wait)
	}
	if wait := a.Book(first, now.Add(step)); wait != 3*step {
		t.Errorf("its next turn is in %v, want %v", wait, 3*step)
	}
	if wait := a.Book(request("loud", 0).NamespacedName, now.Add(time.Hour)); wait > 0 {
		t.Errorf("after an hour it waits for %v", wait)
	}
}

// What has gone keeps no turn.
func TestATurnCanBeCanceled(t *testing.T) {
	var a fairqueue.Allowances
	now := time.Now()
	for i := range fairqueue.AtOnce {
		a.Spend("loud", now)
		if spent := a.Spent("loud", now); spent != (i == fairqueue.AtOnce-1) {
			t.Fatalf("after %d turns, has it had all: %t", i+1, spent)
		}
	}
	key := request("loud", 0).NamespacedName
	before := a.Book(key, now)
	a.Cancel(key)
	if after := a.Book(key, now); after <= before {
		t.Errorf("it waits for %v as before", after)
	}
}
