// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package application_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/application"
)

// TestEveryEventInEveryStep lets everything happen in every step of every way to move. The move
// ends as it should, within the time that it may take, and the Application runs as a whole after
// it.
func TestEveryEventInEveryStep(t *testing.T) {
	var room application.Adviser
	for way, of := range ways {
		for i, step := range []berthv1alpha1.MoveStep{"Prepare", "Start", "Available", "Shrink"} {
			if of.steps != nil && !slices.Contains(of.steps, step) {
				continue
			}
			for name, e := range happenings {
				t.Run(fmt.Sprintf("%s/%s/%s", way, step, name), func(t *testing.T) {
					ends := strings.Split(e.ends[of.column], " | ")
					if len(ends) != 1 && len(ends) != 4 {
						t.Fatal("nobody says how the move ends")
					}
					c := newCrossing(t, room, of.edit)
					room = c.room
					c.moveTo(step)
					e.do(c)
					c.until(time.Hour, func() bool { return c.ended != "" })
					c.run(40 * time.Minute)
					c.arrives(ends[min(i, len(ends)-1)])
				})
			}
		}
	}
}

// TestAYear lets Applications run for months in clusters whose metrics go up and down, lie and
// fail, and that die and come back, are drained, and let no pod start. Set BERTH_YEAR to
// SEEDS:DAYS:APPLICATIONS:CLUSTERS, 20:365:200:30 for instance, for more of it.
func TestAYear(t *testing.T) {
	seeds, days, apps, clusters := 1, 4, 12, 6
	if asked := os.Getenv("BERTH_YEAR"); asked != "" {
		if _, err := fmt.Sscanf(strings.ReplaceAll(asked, ":", " "), "%d %d %d %d", &seeds, &days, &apps, &clusters); err != nil {
			t.Fatalf("BERTH_YEAR=%s: %v", asked, err)
		}
	}
	// Next to nothing lives for longer than a pass, so most of the work would be to collect it.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	for seed := range uint64(seeds) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			y := newYear(t, seed, apps, clusters)
			for done := 1; done <= days; done++ {
				y.run(day)
				if done%30 == 0 || done == days {
					t.Logf("%d days: %+v", done, y.counts)
				}
			}
			c := &y.counts
			for what, n := range map[string]int{
				"moves": c.Moves, "moves that are given up": c.GivenUp, "moves that wait for their turn": c.Limited, "deaths": c.Deaths, "drains": c.Drains, "pods deleted": c.Shrunk,
				"writes that fail": len(c.Restarts), "passes between another's reads and writes": c.Between, "suspensions": c.Suspended,
				"deletions": c.Deleted, "outages": c.Outages, "lies": c.Lies, "changes by autoscalers": c.Scaled,
			} {
				if n == 0 {
					t.Errorf("there were no %s, so nothing is shown of them", what)
				}
			}
		})
	}
}
