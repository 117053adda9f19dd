// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"berth.dev/berth/pkg/cli/internal/output"
)

// page is where each check is explained, under its ID.
const page = "docs/reference/checks.md"

// results of a check.
const (
	passed = "success"
	warned = "warning"
	failed = "error"
)

// warning is a finding that does not make an installation unsound.
type warning struct{ error }

// warnf returns a finding that does not make an installation unsound.
func warnf(format string, args ...any) error { return warning{fmt.Errorf(format, args...)} }

// check is one thing that can be wrong.
type check struct {
	// id names the check in the documentation, and in scripts.
	id string
	// category groups checks on the screen.
	category string
	// description tells what is the case when nothing is wrong.
	description string
	// find returns what is wrong. Warnings alone do not make the check fail.
	find func(*state) []error
	// vital ends everything if it fails: nothing else can be known then.
	vital bool
}

// report is what all checks have found.
type report struct {
	Success    bool       `json:"success"`
	Categories []category `json:"categories"`
}

type category struct {
	Name   string    `json:"categoryName"`
	Checks []outcome `json:"checks"`
}

// outcome is what a check has found.
type outcome struct {
	ID          string   `json:"id"`
	Description string   `json:"description"`
	Result      string   `json:"result"`
	Findings    []string `json:"findings,omitempty"`
	// Hint is where to read on. Empty if nothing was found.
	Hint string `json:"hint,omitempty"`
}

// examine runs checks, in their order.
func examine(all []check, s *state) report {
	result := report{Success: true}
	for i := range all {
		c := &all[i]
		found := c.examine(s)
		if len(result.Categories) == 0 || result.Categories[len(result.Categories)-1].Name != c.category {
			result.Categories = append(result.Categories, category{Name: c.category})
		}
		last := &result.Categories[len(result.Categories)-1]
		last.Checks = append(last.Checks, found)
		if found.Result == failed {
			result.Success = false
			if c.vital {
				break
			}
		}
	}
	return result
}

func (c *check) examine(s *state) outcome {
	found := outcome{ID: c.id, Description: c.description, Result: passed}
	for _, err := range c.find(s) {
		var mild warning
		switch {
		case !errors.As(err, &mild):
			found.Result = failed
		case found.Result == passed:
			found.Result = warned
		}
		found.Findings = append(found.Findings, output.OneLine(err.Error()))
	}
	if found.Result != passed {
		found.Hint = page + "#" + c.id
	}
	return found
}

// count returns how many checks have a result.
func (r report) count(result string) int {
	number := 0
	for _, group := range r.Categories {
		for _, c := range group.Checks {
			if c.Result == result {
				number++
			}
		}
	}
	return number
}

var ticks = map[string]string{passed: "√", warned: "‼", failed: "×"}

// write returns what prints the report for people, briefly only what is wrong.
func (r report) write(brief bool) func(io.Writer) error {
	return func(w io.Writer) error {
		var text strings.Builder
		for _, group := range r.Categories {
			group.write(&text, brief)
		}
		result := ticks[passed]
		if !r.Success {
			result = ticks[failed]
		}
		fmt.Fprintf(&text, "Status check results are %s\n", result)
		_, err := io.WriteString(w, text.String())
		return err
	}
}

func (g category) write(text *strings.Builder, brief bool) {
	var lines strings.Builder
	for _, c := range g.Checks {
		if brief && c.Result == passed {
			continue
		}
		fmt.Fprintf(&lines, "%s %s (%s)\n", ticks[c.Result], c.Description, c.ID)
		for _, finding := range c.Findings {
			fmt.Fprintf(&lines, "    %s\n", finding)
		}
		if c.Hint != "" {
			fmt.Fprintf(&lines, "    see %s\n", c.Hint)
		}
	}
	if lines.Len() > 0 {
		fmt.Fprintf(text, "%s\n%s\n%s\n", g.Name, strings.Repeat("-", len(g.Name)), lines.String())
	}
}
