// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	"berth.dev/berth/test/perf/report"
)

// cost is what one decision costs, the mean of those of a turn.
type cost struct {
	nanoseconds, cpuNanoseconds, allocations, bytes float64
}

// leastDecisions is how many decisions a turn has at least.
const leastDecisions = 3

// measure lets the contestant decide on the first pod again and again for about the given
// milliseconds.
func (c *contestant) measure(ctx context.Context, milliseconds int) (cost, error) {
	pod := c.pod(0)
	limit := time.Duration(milliseconds) * time.Millisecond
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	// The turns of the others have driven the data of this one out of the caches of the processor,
	// and ReadMemStats those of the allocator out of its own.
	if _, _, err := c.decide(ctx, pod); err != nil {
		return cost{}, fmt.Errorf("deciding: %w", err)
	}
	cpuBefore, err := cpuTime()
	if err != nil {
		return cost{}, err
	}
	started, decisions := time.Now(), 0
	for time.Since(started) < limit || decisions < leastDecisions {
		if _, _, err := c.decide(ctx, pod); err != nil {
			return cost{}, fmt.Errorf("deciding: %w", err)
		}
		decisions++
	}
	took := time.Since(started)
	cpuAfter, err := cpuTime()
	if err != nil {
		return cost{}, err
	}
	runtime.ReadMemStats(&after)
	timed, all := float64(decisions), float64(decisions+1)
	return cost{
		nanoseconds:    float64(took.Nanoseconds()) / timed,
		cpuNanoseconds: float64((cpuAfter - cpuBefore).Nanoseconds()) / timed,
		allocations:    float64(after.Mallocs-before.Mallocs) / all,
		bytes:          float64(after.TotalAlloc-before.TotalAlloc) / all,
	}, nil
}

// note adds the costs of a round to the results of a peer. Of several turns the median counts, as
// few of them meet with a collection of garbage or with other programs; but of the work of all
// processors, to which the collection belongs, the mean.
func note(p *report.Peer, turns []cost) {
	median := func(of func(*cost) float64) float64 {
		values := make([]float64, len(turns))
		for i := range turns {
			values[i] = of(&turns[i])
		}
		return report.SpreadOf(values).Median
	}
	work := 0.0
	for i := range turns {
		work += turns[i].cpuNanoseconds
	}
	p.Nanoseconds = append(p.Nanoseconds, median(func(c *cost) float64 { return c.nanoseconds }))
	p.CPUNanoseconds = append(p.CPUNanoseconds, work/float64(len(turns)))
	p.Allocations = append(p.Allocations, median(func(c *cost) float64 { return c.allocations }))
	p.Bytes = append(p.Bytes, median(func(c *cost) float64 { return c.bytes }))
}

// placeAll places the whole workload pod by pod, counts what is wrong with the result, and takes it
// back.
func (c *contestant) placeAll(ctx context.Context, p *report.Peer) error {
	all := make([]*placed, 0, replicas)
	times := make([]time.Duration, 0, replicas)
	perSite := map[string]int{}
	for number := range replicas {
		one, took, err := c.place(ctx, c.pod(number))
		if err != nil {
			return err
		}
		times = append(times, took)
		if one == nil {
			p.Unplaced++
			continue
		}
		all = append(all, one)
		perSite[c.layout.siteOf[one.node]]++
		if c.bound != nil {
			c.bound(one.node)
		}
	}
	for _, one := range slices.Backward(all) {
		if err := c.forget(ctx, one); err != nil {
			return err
		}
	}
	if c.reset != nil {
		c.reset()
	}
	p.Placed += len(all)
	slices.Sort(times)
	p.PlacingNanoseconds = append(p.PlacingNanoseconds, float64(times[len(times)/2].Nanoseconds()))
	if c.shares == nil {
		return nil
	}
	p.Limited = true
	for site, pods := range perSite {
		p.Violations += max(0, pods-c.shares[site])
	}
	return nil
}

// cpuTime returns how long all processors together have worked for this process. Unlike time it
// does not grow while other processes have the machine.
func cpuTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("reading the processor time: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
