// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"berth.dev/berth/test/internal/serving"
)

// ours is what functions of Berth are called by, and locking what those that wait for a lock are.
const ours, locking = "berth.dev/berth/", "sync.("

// lockWaits returns how long goroutines of the scheduler that was started last have waited for each
// lock of Berth since its start, by the function that has asked for it. The scheduler notes that
// itself: its configuration has enableContentionProfiling by default.
func (w *world) lockWaits(ctx context.Context) (map[string]time.Duration, error) {
	profile, err := serving.Get(ctx, w.plane.Config(), w.address, "/debug/pprof/block?debug=1")
	if err != nil {
		return nil, err
	}
	return parseWaits(bytes.NewReader(profile))
}

// parseWaits reads a profile of what goroutines have waited for, as text: after a line that tells
// the cycles of a second, one for each stack with its cycles, and one for each of its functions.
//
//	cycles/second=2000000000
//	4000000 2 @ 0x1 0x2
//	#	0x1	sync.(*Mutex).Lock+0x1	mutex.go:1
//	#	0x2	berth.dev/berth/pkg/fence.(*Fence).Holds+0x2	fence.go:2
func parseWaits(profile io.Reader) (map[string]time.Duration, error) {
	waits, perSecond := map[string]time.Duration{}, 0.0
	var waited time.Duration
	top := false // true until the function is known that has asked for the lock
	lines := bufio.NewScanner(profile)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if rate, found := strings.CutPrefix(line, "cycles/second="); found {
			var err error
			if perSecond, err = strconv.ParseFloat(rate, 64); err != nil || perSecond <= 0 {
				return nil, fmt.Errorf("reading a profile: %q is no rate of cycles", rate)
			}
			continue
		}
		fields := strings.Fields(line)
		switch {
		case len(fields) > 2 && fields[2] == "@":
			cycles, err := strconv.ParseFloat(fields[0], 64)
			if err != nil || perSecond == 0 {
				return nil, fmt.Errorf("reading a profile: line %q", line)
			}
			waited, top = time.Duration(cycles/perSecond*float64(time.Second)), false
		case len(fields) < 3 || fields[0] != "#":
		case strings.HasPrefix(fields[2], locking):
			top = true
		case top:
			top = false
			if name, _, _ := strings.Cut(fields[2], "+0x"); strings.HasPrefix(name, ours) {
				waits[strings.TrimPrefix(name, ours)] += waited
			}
		}
	}
	return waits, lines.Err()
}
