// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fence_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"berth.dev/berth/pkg/fence"
)

// lease is a lease as an API server keeps it.
type lease struct {
	mu      sync.Mutex
	record  *resourcelock.LeaderElectionRecord
	version int
}

// leaseLock is the lock of a process at a lease.
type leaseLock struct {
	resourcelock.Interface
	id, name string
	of       *lease
	seen     int
	events   []string
	// delay is how long the answer to a write takes, and down that there is none to anything.
	delay func() time.Duration
	down  atomic.Bool
}

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func (l *leaseLock) Identity() string     { return l.id }
func (l *leaseLock) Describe() string     { return l.name }
func (l *leaseLock) RecordEvent(s string) { l.events = append(l.events, s) }

func (l *leaseLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if l.down.Load() {
		return nil, nil, errors.New("nobody answers")
	}
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if l.of.record == nil {
		return nil, nil, apierrors.NewNotFound(leases, l.name)
	}
	l.seen = l.of.version
	record := *l.of.record
	raw, err := json.Marshal(record)
	return &record, append(raw, strconv.Itoa(l.of.version)...), err
}

func (l *leaseLock) Create(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(record, func() error {
		if l.of.record != nil {
			return apierrors.NewAlreadyExists(leases, l.name)
		}
		return nil
	})
}

func (l *leaseLock) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(record, func() error {
		if l.seen != l.of.version {
			return apierrors.NewConflict(leases, l.name, errors.New("it has changed"))
		}
		return nil
	})
}

func (l *leaseLock) write(record resourcelock.LeaderElectionRecord, refused func() error) error {
	if l.down.Load() {
		return errors.New("nobody answers")
	}
	l.of.mu.Lock()
	err := refused()
	if err == nil {
		l.of.record = &record
		l.of.version++
		l.seen = l.of.version
	}
	l.of.mu.Unlock()
	if l.delay != nil {
		time.Sleep(l.delay()) //nolint:forbidigo // the time of the test is not the real one
	}
	return err
}

func heldBy(holder string) *lease {
	if holder == "" {
		return &lease{}
	}
	return &lease{record: &resourcelock.LeaderElectionRecord{HolderIdentity: holder, LeaseDurationSeconds: 15}}
}

// spoil does something to a lease that only its holder should do.
func (l *lease) spoil(how int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.record == nil {
		return
	}
	l.version++
	record := *l.record
	switch l.record = &record; how {
	case 0:
		l.record = nil
	case 1:
		if record.HolderIdentity != "stranger" { // a lease of a second without a holder is one that was given back
			record.HolderIdentity = ""
		}
	default:
		record.HolderIdentity, record.LeaseDurationSeconds = "stranger", 1
	}
}

func holderOf(l *lease) string {
	if l.record == nil {
		return ""
	}
	return l.record.HolderIdentity
}

// TestAPairAsksForTheCommonLease has a process ask for both leases once, as an election does.
func TestAPairAsksForTheCommonLease(t *testing.T) {
	tests := map[string]struct {
		own, common         string // who holds them, empty if there is none
		wantHolder          string // of the record that the process sees then
		wantOwn, wantCommon string
		wantErr             bool
		wantEvents          int
	}{
		"there is neither": {wantHolder: "me", wantOwn: "me", wantCommon: "me"},
		"somebody leads by the usual one": {
			common: "other", wantHolder: "other", wantOwn: "me", wantCommon: "other", wantErr: true, wantEvents: 1,
		},
		"it holds its own one alone": {own: "me", wantHolder: "me", wantOwn: "me", wantCommon: "me"},
		"it holds both":              {own: "me", common: "me", wantHolder: "me", wantOwn: "me", wantCommon: "me"},
		"a standby":                  {own: "leader", common: "leader", wantHolder: "leader", wantOwn: "leader", wantCommon: "leader", wantErr: true},
		"two others":                 {own: "leader", common: "other", wantHolder: "leader", wantOwn: "leader", wantCommon: "other", wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			own, common := &leaseLock{id: "me", name: "own", of: heldBy(tc.own)}, &leaseLock{id: "me", name: "common", of: heldBy(tc.common)}
			pair := fence.NewPair(own, common)
			if err := ask(t.Context(), pair); (err != nil) != tc.wantErr {
				t.Errorf("asking ends with %v, want an error: %t", err, tc.wantErr)
			}
			for range 2 { // An event is for a holder, not for each look.
				record, _, err := pair.Get(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if record.HolderIdentity != tc.wantHolder {
					t.Errorf("the holder seems to be %q, want %q", record.HolderIdentity, tc.wantHolder)
				}
			}
			if diff := cmp.Diff([]string{tc.wantOwn, tc.wantCommon}, []string{holderOf(own.of), holderOf(common.of)}); diff != "" {
				t.Errorf("holders of the own and the common lease (-want +got):\n%s", diff)
			}
			if len(common.events) != tc.wantEvents {
				t.Errorf("events are %q, want %d", common.events, tc.wantEvents)
			}
		})
	}
}

// ask does what an election does that finds no lease expired.
func ask(ctx context.Context, lock resourcelock.Interface) error {
	record, _, err := lock.Get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return lock.Create(ctx, mine)
	case err != nil:
		return err
	case record.HolderIdentity != lock.Identity():
		return errors.New("somebody else has it")
	}
	return lock.Update(ctx, mine)
}

func TestAPairIsLostWithEitherLease(t *testing.T) {
	for _, lost := range []string{"own", "common"} {
		locks := map[string]*leaseLock{"own": {id: "me", name: "own", of: heldBy("me")}, "common": {id: "me", name: "common", of: heldBy("me")}}
		pair := fence.NewPair(locks["own"], locks["common"])
		if err := ask(t.Context(), pair); err != nil {
			t.Fatal(err)
		}
		locks[lost].of.record.HolderIdentity = "other"
		locks[lost].of.version++
		if err := pair.Update(t.Context(), mine); !apierrors.IsConflict(err) {
			t.Errorf("without its %s lease a renewal ends with %v, want a conflict", lost, err)
		}
		if _, _, err := pair.Get(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := pair.Update(t.Context(), released); (err == nil) != (lost == "common") {
			t.Errorf("without its %s lease giving back ends with %v", lost, err)
		}
		if holder := holderOf(locks[lost].of); holder != "other" {
			t.Errorf("the %s lease of somebody else was given back: %q holds it", lost, holder)
		}
	}
}

func TestAPairIsGivenBackWhole(t *testing.T) {
	own, common := &leaseLock{id: "me", of: heldBy("me")}, &leaseLock{id: "me", of: heldBy("me")}
	pair := fence.NewPair(own, common)
	if err := ask(t.Context(), pair); err != nil {
		t.Fatal(err)
	}
	if err := pair.Update(t.Context(), released); err != nil {
		t.Fatal(err)
	}
	if holderOf(own.of)+holderOf(common.of) != "" {
		t.Errorf("the leases are held by %q and %q", holderOf(own.of), holderOf(common.of))
	}
}

// Elections of processes that lead by the common lease, and of others that lead by one of their own
// and this one. They are cut off and come back, their answers are late, and somebody deletes the
// leases, empties them or takes them for a second. No two fences are ever open at once, and in the
// end one is.
func TestNoTwoLeadByDifferentLeases(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { (&contest{Rand: rand.New(rand.NewPCG(seed, 0))}).run(t, seed) })
		})
	}
}

// contest is between processes, of which every other one has a lease of its own.
type contest struct {
	*rand.Rand
	common, own lease
	fences      [4]*fence.Fence
	locks       [4][]*leaseLock
}

func (c *contest) run(t *testing.T, seed uint64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var processes sync.WaitGroup
	for i := range c.fences {
		late := rand.New(rand.NewPCG(seed, uint64(i)))
		lock := func(of *lease) *leaseLock {
			l := &leaseLock{id: fmt.Sprint("process ", i), of: of, delay: func() time.Duration { return time.Duration(late.Int64N(int64(3 * time.Second))) }}
			c.locks[i] = append(c.locks[i], l)
			return l
		}
		c.fences[i] = fence.New()
		var inner resourcelock.Interface = lock(&c.common)
		if i%2 == 1 {
			inner = fence.NewPair(lock(&c.own), inner)
		}
		processes.Go(func() { elect(ctx, fence.NewLock(inner, c.fences[i], 10*time.Second)) })
	}
	for range 3000 {
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the time of the test is not the real one
		if open := c.open(t); open > 1 {
			t.Errorf("%d fences are open", open)
			break
		}
		if i := c.IntN(100); i < len(c.locks) {
			c.cutOff(i, c.IntN(2) == 0)
		} else if i == 99 && c.IntN(6) == 0 { // what happens twice between two looks cannot be seen
			[]*lease{&c.common, &c.own}[c.IntN(2)].spoil(c.IntN(3))
		}
	}
	for i := range c.locks {
		c.cutOff(i, false)
	}
	// Answers are so late that a leader may lose its lease even so, so that it is not one at each
	// moment.
	open := 0
	for began := time.Now(); open != 1 && time.Since(began) < 2*time.Minute; {
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the time of the test is not the real one
		open = c.open(t)
	}
	if open != 1 {
		t.Errorf("%d fences are open in the end, want 1", open)
	}
	cancel()
	processes.Wait()
}

// cutOff cuts a process off from the API server, or lets it come back.
func (c *contest) cutOff(i int, off bool) {
	for _, lock := range c.locks[i] {
		lock.down.Store(off)
	}
}

// open returns how many may write.
func (c *contest) open(t *testing.T) (open int) {
	t.Helper()
	for _, f := range c.fences {
		if entered(t, f) {
			open++
		}
	}
	return open
}

// elect takes part in elections until the context ends.
func elect(ctx context.Context, lock resourcelock.Interface) {
	for ctx.Err() == nil {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		})
	}
}
