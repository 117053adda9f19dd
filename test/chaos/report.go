// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"berth.dev/berth/test/internal/proxy"
	"berth.dev/berth/test/internal/record"
)

// counted counts the requests that go astray.
func (c *chaos) counted(fate func(*http.Request) proxy.Fate) func(*http.Request) proxy.Fate {
	return func(r *http.Request) proxy.Fate {
		f := fate(r)
		if f != (proxy.Fate{}) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.counts["request astray"]++
		}
		return f
	}
}

// done returns what was done.
func (c *chaos) done(took time.Duration) *record.Chaos {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.judge.Counts()
	d := &record.Chaos{
		Runs: 1, Seconds: int(took.Seconds()), Storms: c.storms, Revisions: seen.Revisions, Bindings: seen.Bindings,
		Evictions: seen.Evictions, Disturbances: maps.Clone(c.counts),
	}
	for _, p := range c.programs {
		p.mu.Lock()
		d.Starts += p.starts
		p.mu.Unlock()
	}
	if c.pages != nil {
		d.PageSeconds, d.Compared = d.Seconds, c.pages.compared
		for _, s := range c.pages.servers {
			d.Loads += int(s.visitor.Loads.Load())
		}
	}
	return d
}

// report says what was done.
func (c *chaos) report(d *record.Chaos) {
	c.sayf("seed %d: kept in %d storms in %s: %d revisions of pods, %d Bindings, %d evictions; %d starts of Berth's programs",
		c.seed, d.Storms, time.Duration(d.Seconds)*time.Second, d.Revisions, d.Bindings, d.Evictions, d.Starts)
	for _, kind := range slices.Sorted(maps.Keys(d.Disturbances)) {
		fmt.Fprintf(c.out, "  %-26s %d\n", kind, d.Disturbances[kind])
	}
}

// keep adds what was done to the record in a folder, unless that is empty.
func keep(folder string, done *record.Chaos, problem error) error {
	if folder == "" {
		return nil
	}
	return record.Update(folder, func(all *record.Record) {
		switch broken := errors.Is(problem, errBroken); {
		case problem != nil && !broken:
			all.Chaos.NotJudged++
			return
		case broken:
			all.Chaos.Broken++
		}
		if done != nil {
			all.Chaos.Add(done)
		}
	})
}

// panics finds a panic in a log, whether it ended the process or was survived. The API server
// writes "panicked: false" of a request whose client has gone.
var panics = regexp.MustCompile(`(?m)^panic: .*|^.*Observed a panic.*`)

// crashed returns an error if one of the programs has panicked.
func crashed(logs string) error {
	files, err := filepath.Glob(filepath.Join(logs, "*.log"))
	if err != nil {
		return fmt.Errorf("looking for logs: %w", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("reading a log: %w", err)
		}
		if found := panics.Find(text); found != nil {
			return fmt.Errorf("%w: %s has: %s", errBroken, filepath.Base(path), found)
		}
	}
	return nil
}
