// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"berth.dev/berth/test/internal/serving"
)

// ours is what functions of Berth are called by, and locking what those that wait for a lock are.
const ours, locking = "berth.dev/berth/", "sync.("

// lockWaits returns how long goroutines of the scheduler that was started last have waited for each
// lock of Berth since its start, by the function that has asked for it. The scheduler notes that
// itself: its configuration has enableContentionProfiling by default.
func (w *world) lockWaits(ctx context.Context) (map[string]time.Duration, error) {
	waits, err := serving.Get(ctx, w.plane.Config(), w.address, "/debug/pprof/block")
	if err != nil {
		return nil, err
	}
	return waitsIn(waits)
}

// waitsIn reads a profile of what goroutines have waited for.
func waitsIn(data []byte) (map[string]time.Duration, error) {
	blocked, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("reading a profile of waits: %w", err)
	}
	delay := slices.IndexFunc(blocked.SampleType, func(t *profile.ValueType) bool { return t.Type == "delay" && t.Unit == "nanoseconds" })
	if delay < 0 {
		return nil, errors.New("reading a profile of waits: it tells no delay in nanoseconds")
	}
	waits := map[string]time.Duration{}
	for _, sample := range blocked.Sample {
		if asker := askerOf(sample); strings.HasPrefix(asker, ours) {
			waits[strings.TrimPrefix(asker, ours)] += time.Duration(sample.Value[delay])
		}
	}
	return waits, nil
}

// askerOf returns the function that has asked for the lock that a sample waits for, "" if it does
// not wait for a lock. Functions stand in a sample from the innermost one on.
func askerOf(sample *profile.Sample) string {
	locks := false
	for _, location := range sample.Location {
		for _, line := range location.Line {
			switch {
			case line.Function == nil:
			case strings.HasPrefix(line.Function.Name, locking):
				locks = true
			case locks:
				return line.Function.Name
			}
		}
	}
	return ""
}
