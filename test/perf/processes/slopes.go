// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"io"

	"berth.dev/berth/test/perf/report"
)

// slopes measures starts in a cluster, and in others that have twice as many of one thing each:
// what one more of it costs is the difference.
func slopes(ctx context.Context, out io.Writer, o *ScaleOptions) ([]report.Slope, error) {
	from := slopeFrom.times(o.Factor)
	sizes := []struct {
		what string
		size extent
		more int
	}{
		{"", from, 0},
		{"node", extent{2 * from.Nodes, from.Pods, from.Clusters, from.Policies}, from.Nodes},
		{"pod", extent{from.Nodes, 2 * from.Pods, from.Clusters, from.Policies}, from.Pods},
		{"cluster", extent{from.Nodes, from.Pods, 2 * from.Clusters, from.Policies}, from.Clusters},
		{"policy", extent{from.Nodes, from.Pods, from.Clusters, 2 * from.Policies}, from.Policies},
	}
	var found []report.Slope
	for _, one := range sizes {
		slope := report.Slope{
			What: one.what, More: one.more,
			Nodes: one.size.Nodes, Pods: one.size.Pods, Clusters: one.size.Clusters, Policies: one.size.Policies,
		}
		err := inWorld(ctx, out, o, one.size, func(w *world) error { return w.measureStarts(ctx, &slope) })
		if err != nil {
			return found, err
		}
		found = append(found, slope)
	}
	return found, nil
}

// measureStarts notes what it costs to start the scheduler and the controllers.
func (w *world) measureStarts(ctx context.Context, slope *report.Slope) error {
	controllers, err := w.startOnce(ctx, "controllers")
	if err != nil {
		return err
	}
	slope.Controllers = *controllers.start
	if err := controllers.process.Stop(stopGrace); err != nil {
		return err
	}
	peers := w.scalePeers()
	for i := range peers {
		p, d := &peers[i], report.Drain{}
		if p.name != "policy" {
			continue
		}
		if err := w.drainIn(ctx, p, backlogNamespace(p), nil, &d); err != nil {
			return err
		}
		slope.Scheduler = report.Start{
			Milliseconds: d.FirstMilliseconds[0], CPUMilliseconds: d.FirstCPUMilliseconds[0], MemoryBytes: d.MemoryBytes[0],
		}
		slope.PodCPUMilliseconds = d.CPUMilliseconds[0]
	}
	return nil
}
