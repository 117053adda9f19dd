// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/localplane"
)

const (
	poll = 200 * time.Millisecond
	// fits is how long what fits may wait at calm, by the machine's own pace, and longest how long
	// the machine may take for that.
	fits, longest = 60 * time.Second, 6 * time.Minute
	// still is for how long nothing may happen then.
	still = 5 * time.Second
)

// event is something that happens in a storm.
type event struct {
	at   time.Time
	kind string
	what string
	do   func(context.Context) error
}

// afterwards has something happen some time later in the storm, or when it ends.
func (c *chaos) afterwards(length time.Duration, what string, do func(context.Context) error) {
	c.pending <- event{at: time.Now().Add(length), what: what, do: do}
}

// draw returns what happens in a storm, as the seed wants it.
func (c *chaos) draw(began time.Time) []event {
	add := func(events []event, kind, what string, do func(context.Context) error) []event {
		return append(events, event{at: began.Add(time.Duration(c.rng.Int64N(int64(c.storm)))), kind: kind, what: what, do: do})
	}
	var events []event
	for range c.between(10, 25) {
		p := plans[c.rng.IntN(len(plans))]
		what, do := p.plan(c)
		events = add(events, p.kind, what, do)
	}
	switch c.storms % 4 {
	case 0:
		what, do := c.planEtcd()
		events = add(events, "etcd killed", what, do)
	case 1:
		what, do := c.planOutage(c.outage)
		events = add(events, "no API server", what, do)
	}
	return events
}

// play has a storm, and then a calm in which everything must come right.
func (c *chaos) play(ctx context.Context) error {
	began := time.Now()
	events := c.draw(began)
	often := []float64{0.02, 0.05, 0.2}[c.rng.IntN(3)]
	c.sayf("storm %d: %d disturbances, and one of %.0f requests astray", c.storms, len(events), 1/often)
	for _, p := range c.all() {
		p.proxy.Disturb(c.counted(fates(c.rng.Uint64(), p.name, often)))
	}
	if c.pages != nil {
		c.pages.link.Disturb(c.counted(fates(c.rng.Uint64(), "pages", often)))
	}
	for end := began.Add(c.storm); time.Now().Before(end); pause(ctx) {
		events = c.due(ctx, events, time.Now())
		if err := c.wrong(ctx); err != nil {
			return err
		}
	}
	c.due(ctx, events, time.Now().Add(time.Hour))
	return c.calm(ctx)
}

// due has everything happen that is due, and returns the rest.
func (c *chaos) due(ctx context.Context, events []event, now time.Time) []event {
	for len(c.pending) > 0 {
		events = append(events, <-c.pending)
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	for len(events) > 0 && !events[0].at.After(now) {
		next := events[0]
		events = events[1:]
		if next.kind != "" {
			c.counts[next.kind]++
		}
		c.sayf("  %s", next.what)
		c.acting.Go(func() {
			if err := next.do(ctx); err != nil {
				c.sayf("  in vain: %s: %v", next.what, err)
			}
		})
	}
	return events
}

// all returns the programs that run.
func (c *chaos) all() []*program {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.programs)
}

// calm ends all that disturbs, and waits until everything is as it should be.
func (c *chaos) calm(ctx context.Context) error {
	for c.acting.Wait(); len(c.pending) > 0; c.acting.Wait() {
		c.due(ctx, nil, time.Now().Add(time.Hour))
	}
	for _, name := range []string{localplane.Etcd, localplane.APIServer, localplane.APIServerReplica} {
		if err := c.startProcess(ctx, name); err != nil {
			return err
		}
	}
	for _, name := range []string{localplane.ControllerManager, localplane.Kwok} {
		if c.process(name) == nil {
			return fmt.Errorf("%s has ended by itself, so nothing can be judged", name)
		}
	}
	for _, p := range c.all() {
		p.calm()
	}
	if c.pages != nil {
		c.pages.link.Disturb(nil)
	}
	for _, p := range c.all() {
		p.proxy.Drain()
	}
	c.sayf("calm %d", c.storms)
	if err := c.quiet(ctx); err != nil {
		return err
	}
	return c.comparePages(ctx)
}

// quiet waits until everything is as it should be and stays so.
func (c *chaos) quiet(ctx context.Context) error {
	began, since := time.Now(), c.pace.Now()
	for ; ; pause(ctx) {
		if err := c.wrong(ctx); err != nil {
			return err
		}
		left := c.judge.Unsettled()
		removed, made := c.judge.Awaited()
		if removed+made > 0 {
			since = c.pace.Now()
		}
		took := c.pace.Now().Sub(since)
		switch {
		case len(left) == 0 && c.judge.SinceMove() > still:
			c.sayf("everything is as it should be after %s, %s by the machine's pace",
				time.Since(began).Round(time.Second), took.Round(time.Second))
			return nil
		case took > fits+still:
			c.dump(ctx)
			return fmt.Errorf("%w: %s after the last fault:\n  %s\n%s", errBroken, took.Round(time.Second),
				strings.Join(left, "\n  "), c.judge.History())
		case time.Since(began) > longest:
			return fmt.Errorf("%w: %s in %s, Kubernetes has %d pods to remove and %d to make", errTooSlow,
				took.Round(time.Second), longest, removed, made)
		}
	}
}

// pause waits until it is worth looking again, or the context ends.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(poll):
	}
}

// untilShared waits until each Scheduler has clusters.
func (c *chaos) untilShared(ctx context.Context) error {
	running := context.WithoutCancel(ctx)
	err := localplane.Await(ctx, longest, c.plane.Exited(), func(ctx context.Context) error {
		list, err := c.berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		homes := map[string]bool{}
		for i := range list.Items {
			homes[list.Items[i].Status.HomeScheduler] = true
		}
		if (homes[""] || len(homes) < 3) && c.wrong(running) == nil {
			return fmt.Errorf("the clusters are shared by %v", homes)
		}
		return nil
	})
	// A program that could not be started takes no clusters.
	return cmp.Or(c.wrong(running), err)
}
