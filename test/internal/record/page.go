// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The marks around what is written by a program. The name of a part stands in the first.
const (
	beginMark = "<!-- BEGIN sums of %s; written by the runs, do not edit. -->\n"
	endMark   = "<!-- END -->"
)

// fill returns a page with the sums in it, between the marks.
func (r *Record) fill(page string) (string, error) {
	for _, part := range []struct{ name, text string }{
		{"simulated worlds", r.Simulation.markdown()}, {"kills", r.Kills.markdown()}, {"objects", r.Objects.markdown()},
		{"chaos", r.Chaos.markdown()}, {"planted faults", r.planted()},
	} {
		begin := fmt.Sprintf(beginMark, part.name)
		before, rest, found := strings.Cut(page, begin)
		_, after, ended := strings.Cut(rest, endMark)
		if !found || !ended {
			return "", fmt.Errorf("there is no place for the sums of %s", part.name)
		}
		page = before + begin + "\n" + part.text + "\n" + endMark + after
	}
	return page, nil
}

// spelled writes a number with a comma before each three digits.
func spelled(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func hours(seconds int) string {
	length := time.Duration(seconds) * time.Second
	return fmt.Sprintf("%s h %d min", spelled(int(length.Hours())), int(length.Minutes())%60)
}

// table writes rows of a Markdown table.
func table(head []string, rows [][]string) string {
	var text strings.Builder
	line := func(cells []string) { fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	fmt.Fprintf(&text, "|%s\n", strings.Repeat("---|", len(head)))
	for _, row := range rows {
		line(row)
	}
	return text.String()
}

// byName writes counts as two columns, in the order of the names.
func byName(what string, c Counts) string {
	rows := make([][]string, 0, len(c))
	for _, name := range slices.Sorted(maps.Keys(c)) {
		rows = append(rows, []string{name, spelled(c[name])})
	}
	return table([]string{what, "times"}, rows)
}

func (s *Simulation) markdown() string {
	injected := 0
	for _, counts := range s.Faults {
		injected += counts.Sum()
	}
	return fmt.Sprintf("%s worlds were judged, %s of virtual time: %s requests of Berth's programs, %s API writes of theirs and %s of "+
		"everybody else's,\n%s faults of requests and %s other disturbances. %s pods were bound and %s evicted. Worlds in which a promise was "+
		"broken: %d; not judged: %d.\n\n%s\n%s",
		spelled(s.Worlds), hours(s.Seconds), spelled(s.Requests), spelled(s.Writes.Sum()), spelled(s.OtherWrites),
		spelled(injected), spelled(s.Disturbances.Sum()), spelled(s.Bound), spelled(s.Evicted), s.Broken, s.NotJudged,
		s.faults(), byName("disturbance", s.Disturbances))
}

// kindsOf returns the names that any of some counts has, in order.
func kindsOf(all ...Counts) []string {
	kinds := map[string]bool{}
	for _, counts := range all {
		for name := range counts {
			kinds[name] = true
		}
	}
	return slices.Sorted(maps.Keys(kinds))
}

// often is how often each fault is to have happened to each kind of write.
const often = 100

// faults writes which fault has happened how often to which kind of write: a row for each kind, a
// column for each fault.
func (s *Simulation) faults() string {
	kinds := kindsOf(append(slices.Collect(maps.Values(s.Faults)), s.Writes)...)
	columns := slices.Sorted(maps.Keys(s.Faults))
	rows := make([][]string, 0, len(kinds))
	enough := 0
	for _, kind := range kinds {
		row := append(make([]string, 0, 2+len(columns)), kind, spelled(s.Writes[kind]))
		for _, fault := range columns {
			n := s.Faults[fault][kind]
			if n >= often {
				enough++
			}
			row = append(row, spelled(n))
		}
		rows = append(rows, row)
	}
	return fmt.Sprintf("Of the %d pairs of a fault and a kind of write, %d have come up %d times or more.\n\n%s",
		len(rows)*len(columns), enough, often, table(append([]string{"write", "all"}, columns...), rows))
}

func (k *Kills) markdown() string {
	kinds := kindsOf(k.Kept, k.Broken, k.NotSent, k.NotJudged)
	rows := make([][]string, 0, len(kinds))
	for _, kind := range kinds {
		rows = append(rows, []string{
			kind, spelled(k.Kept[kind]), spelled(k.Broken[kind]), spelled(k.NotSent[kind]), spelled(k.NotJudged[kind]),
		})
	}
	return fmt.Sprintf("Worlds: %d; kills: %s after which all was kept, %s after which it was not.\n\n%s",
		k.Worlds, spelled(k.Kept.Sum()), spelled(k.Broken.Sum()),
		table([]string{"killed at", "kept", "broken", "not sent", "not judged"}, rows))
}

func (o *Objects) markdown() string {
	verbs := []string{"create", "patch", "delete"}
	rows := make([][]string, 0, len(o.Done))
	for _, kind := range slices.Sorted(maps.Keys(o.Done)) {
		row := append(make([]string, 0, 1+len(verbs)), kind)
		for _, verb := range verbs {
			row = append(row, spelled(o.Done[kind][verb]))
		}
		rows = append(rows, row)
	}
	return fmt.Sprintf("%s worlds were judged, with %s API writes of Berth's programs. Worlds in which a promise was broken: %d; "+
		"not judged: %d.\n\n%s",
		spelled(o.Worlds), spelled(o.Writes), o.Broken, o.NotJudged, table([]string{"objects", "made", "changed", "deleted"}, rows))
}

func (r *Record) planted() string {
	rows, found := make([][]string, 0, len(r.Planted)), 0
	for _, name := range slices.Sorted(maps.Keys(r.Planted)) {
		p := r.Planted[name]
		switch {
		case p.Seed > 0:
			found++
			rows = append(rows, []string{name, fmt.Sprintf("after %d s, by seed %d", p.Seconds, p.Seed), p.Said})
		case p.Unseen != "":
			rows = append(rows, []string{name, "by none", p.Unseen})
		default:
			rows = append(rows, []string{name, fmt.Sprintf("not in %d s", p.Seconds), ""})
		}
	}
	return fmt.Sprintf("Of %d faults worlds have found %d.\n\n%s", len(rows), found,
		table([]string{"fault", "found", "what was wrong, or why not"}, rows))
}

func (c *Chaos) markdown() string {
	return fmt.Sprintf("Runs: %d, storms: %d, %s of storm and calm: %s revisions of pods, %s Bindings, %s evictions, "+
		"%s starts of Berth's programs.\n"+
		"Pages were open for %s of that: %s loads; compared with the API at %d calms.\n"+
		"Runs in which a promise was broken: %d; not judged: %d.\n\n%s",
		c.Runs, c.Storms, hours(c.Seconds), spelled(c.Revisions), spelled(c.Bindings), spelled(c.Evictions), spelled(c.Starts),
		hours(c.PageSeconds), spelled(c.Loads), c.Compared, c.Broken, c.NotJudged, byName("disturbance", c.Disturbances))
}
