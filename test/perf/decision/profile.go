// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"
)

// Profile writes where processors work while a peer of a scenario decides for about the given time.
func Profile(ctx context.Context, out io.Writer, scenario, name string, c *Configurations, length time.Duration) error {
	scenarios := Scenarios()
	i := slices.IndexFunc(scenarios, func(s Scenario) bool { return s.Name == scenario })
	if i < 0 {
		return fmt.Errorf("there is no scenario %s", scenario)
	}
	s := &scenarios[i]
	j := slices.IndexFunc(s.peers, func(p peer) bool { return p.name == name })
	if j < 0 {
		return fmt.Errorf("scenario %s has no peer %s", scenario, name)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	one, err := s.peers[j].start(ctx, &arena{layout: newLayout(s.Nodes, s.Sites, s.Strangers, s.Neighbours), Configurations: c})
	if err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	if _, err := one.measure(ctx, 0); err != nil {
		return err
	}
	runtime.GC()
	if err := pprof.StartCPUProfile(out); err != nil {
		return fmt.Errorf("profiling %s: %w", name, err)
	}
	defer pprof.StopCPUProfile()
	_, err = one.measure(ctx, int(length.Milliseconds()))
	return err
}
