// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"berth.dev/berth/test/internal/proxy"
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

// report says what was done.
func (c *chaos) report(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, starts := c.judge.Counts(), 0
	for _, p := range c.programs {
		p.mu.Lock()
		starts += p.starts
		p.mu.Unlock()
	}
	c.sayf("seed %d: kept in %d storms in %s: %d revisions of pods, %d Bindings, %d evictions; %d starts of Berth's programs",
		c.seed, c.storms, took.Round(time.Second), seen.Revisions, seen.Bindings, seen.Evictions, starts)
	for _, kind := range slices.Sorted(maps.Keys(c.counts)) {
		fmt.Fprintf(c.out, "  %-26s %d\n", kind, c.counts[kind])
	}
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
