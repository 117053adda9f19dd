// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth.dev/berth/test/simulation/world"
)

// lasting are the terms of a world that goes on for long.
var lasting = terms{
	patience: 6 * time.Hour, environment: []string{"GOMAXPROCS=1", "GOGC=400", "GODEBUG=memprofilerate=0"}, progress: os.Stderr,
}

// weekOf reads what -week says, nil for nothing.
func weekOf(text string) (*world.Week, error) {
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%.40s is not like 168h:200:30", text)
	}
	length, err := time.ParseDuration(parts[0])
	if err != nil || length <= 0 {
		return nil, fmt.Errorf("%.40s is no length, such as 168h", parts[0])
	}
	week := &world.Week{Length: length, Progress: os.Stderr}
	for i, count := range []*int{&week.Applications, &week.Clusters} {
		if *count, err = strconv.Atoi(parts[i+1]); err != nil || *count <= 0 || *count > 1000 {
			return nil, fmt.Errorf("%.40s is no number from 1 to 1000", parts[i+1])
		}
	}
	return week, nil
}

// All programs of Berth live with a few Applications for an hour.
func TestAnHour(t *testing.T) { live(t, "1h:6:4") }

// live lets all programs of Berth live with Applications, for as long as the text says.
func live(t *testing.T, text string) {
	t.Helper()
	r, err := lasting.run(t.Context(), 1, nil, "-week="+text)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s simulated: %d requests, %d writes, %d faults, %v", r.Virtual, r.Counts.Requests, r.Counts.Writes.Sum(), r.faults(), r.Counts.Disturbances)
	if r.Violation != "" {
		t.Errorf("%s\n%s", r.Violation, r.History)
	}
}
