// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/chaos/judge"
	"berth.dev/berth/test/internal/record"
)

// errTooSlow says that nothing was judged.
var errTooSlow = errors.New("this machine is too slow: nothing was judged")

// errBroken says that Berth has not kept a promise.
var errBroken = errors.New("VIOLATED")

// options are what the flags say.
type options struct {
	seed     uint64
	duration time.Duration
	pods     int
	// outage is how long no API server is there, in one storm of four.
	outage time.Duration
	storm  time.Duration
	// pages is how many pages are open.
	pages int
	// record is the folder of the record to add to, empty for none.
	record string
}

// chaos is one run.
type chaos struct {
	options
	out  io.Writer
	rng  *rand.Rand
	logs string

	plane   *localplane.ControlPlane
	replica int // the port of the second API server
	dialled atomic.Int64
	client  kubernetes.Interface
	berth   versioned.Interface
	shipped []byte

	pace  *pace
	judge *judge.Judge

	// alive ends with the run.
	alive context.Context //nolint:containedctx // what a storm starts outlives it
	tasks sync.WaitGroup

	mu       sync.Mutex
	programs []*program
	failure  error
	counts   map[string]int

	startingAPI, startingEtcd, comingOrGoing sync.Mutex
	fourth                                   *program

	nodes          int
	apps, policies []string

	pages   *pages
	pending chan event
	acting  sync.WaitGroup
	storms  int
}

// run plays storms and calms until the time is up, and returns what was done and what is wrong.
func run(ctx context.Context, out io.Writer, o options) (done *record.Chaos, err error) {
	c := &chaos{
		options: o, out: out, counts: map[string]int{}, pending: make(chan event, 1000),
		rng: rand.New(rand.NewPCG(o.seed, 0)), //nolint:gosec // it is to be the same every time
	}
	if c.logs, err = os.MkdirTemp(os.Getenv("BERTH_TEST_LOGS"), "berth-chaos-"); err != nil {
		return nil, fmt.Errorf("making a folder for the logs: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		if c.plane != nil {
			err = errors.Join(err, c.plane.Stop())
		}
		c.tasks.Wait()
		if err == nil {
			err = os.RemoveAll(c.logs)
		} else {
			c.sayf("the logs are in %s", c.logs)
		}
	}()
	c.alive = ctx
	c.pace = newPace()
	c.judge = judge.New(c.pace.Now)
	c.tasks.Go(func() { c.pace.run(ctx) })
	began := time.Now()
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	c.sayf("%d workloads run after %s", len(c.apps), time.Since(began).Round(time.Second))
	began = time.Now()
	for ; c.storms == 0 || time.Since(began) < c.duration; c.storms++ {
		if err := c.play(ctx); err != nil {
			return c.done(time.Since(began)), err
		}
	}
	done = c.done(time.Since(began))
	c.report(done)
	return done, errors.Join(c.closePages(ctx), crashed(c.logs))
}

// prepare starts everything, and waits until the first pods are where they should be.
func (c *chaos) prepare(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	c.tasks.Go(func() {
		if err := follow(ctx, c.plane, c.judge.See); err != nil {
			c.fail(err)
		}
	})
	if err := c.populate(ctx); err != nil {
		return err
	}
	for _, name := range []string{"a", "b"} {
		if _, err := c.controllers(ctx, name); err != nil {
			return err
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		if _, err := c.scheduler(ctx, name); err != nil {
			return err
		}
	}
	if err := c.untilShared(ctx); err != nil {
		return err
	}
	if err := c.deploy(ctx); err != nil {
		return err
	}
	if err := c.quiet(ctx); err != nil {
		return err
	}
	return c.openPages(ctx)
}

// fail notes why the run cannot go on. The first counts.
func (c *chaos) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == nil {
		c.failure = err
	}
}

// wrong returns why the run cannot go on, nil if it can.
func (c *chaos) wrong(ctx context.Context) error {
	if err := c.judge.Breach(); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure != nil {
		return c.failure
	}
	return ctx.Err()
}

func (c *chaos) sayf(format string, args ...any) {
	fmt.Fprintf(c.out, time.Now().Format("15:04:05.000 ")+format+"\n", args...)
}
