// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"berth.dev/berth/test/internal/record"
)

const empty = `# Page

<!-- BEGIN sums of simulated worlds; written by the runs, do not edit. -->
<!-- END -->
between
<!-- BEGIN sums of kills; written by the runs, do not edit. -->
<!-- END -->
<!-- BEGIN sums of objects; written by the runs, do not edit. -->
<!-- END -->
<!-- BEGIN sums of chaos; written by the runs, do not edit. -->
<!-- END -->
<!-- BEGIN sums of planted faults; written by the runs, do not edit. -->
<!-- END -->
after
`

func pageOf(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, record.Page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What several processes add at the same time is all counted, and the page shows the sums between
// its marks and keeps everything else.
func TestRunsAddUp(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, record.Page), []byte(empty), 0o600); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			err := record.Update(folder, func(r *record.Record) {
				r.Simulation.Worlds += 100
				r.Simulation.Writes.Add(record.Counts{"create pods/binding": 50})
				r.Simulation.Faults.Add(record.Table{"lost": {"create pods/binding": 3}, "late": {"reads": 1}})
				r.Kills.Kept.Add(record.Counts{"controllers: patch pods": 2})
				r.Objects.Done.Add(record.Table{"metrics": {"delete": 4}})
				r.Chaos.Disturbances.Add(record.Counts{"SIGKILL": 7})
				r.Plant("a fault", record.Planted{Seed: 3, Seconds: 40, Said: "a pool is over"})
				r.Plant("another", record.Planted{Seconds: 600, Unseen: "because"})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	page := pageOf(t, folder)
	for _, want := range []string{
		"# Page\n", "\nbetween\n", "\nafter\n", "2,000 worlds were judged", "| write | all | late | lost |",
		"Of the 4 pairs of a fault and a kind of write, 0 have",
		"| create pods/binding | 1,000 | 0 | 60 |", "| reads | 0 | 20 | 0 |", "| controllers: patch pods | 40 | 0 | 0 | 0 |",
		"| SIGKILL | 140 |", "Of 2 faults worlds have found 1.",
		"| a fault | after 40 s, by seed 3 | a pool is over |", "| another | by none | because |", "| metrics | 0 | 0 | 80 |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if err := record.Update(folder, func(*record.Record) {}); err != nil {
		t.Fatal(err)
	}
	if again := pageOf(t, folder); again != page {
		t.Errorf("the page changes although nothing was added:\n%s", again)
	}
}

func TestAPageWithoutAPlace(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, record.Page), []byte("# Page\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := record.Update(folder, func(*record.Record) {})
	if err == nil || !strings.Contains(err.Error(), "no place for the sums of simulated worlds") {
		t.Errorf("the error is %v", err)
	}
}

var update = flag.Bool("update", false, "write the page of the project anew")

// The page of the project shows what its record has.
func TestThePageIsThatOfTheRecord(t *testing.T) {
	folder, own := t.TempDir(), filepath.Join("..", "..", "..", "docs", "reference")
	if *update {
		if err := record.Update(own, func(*record.Record) {}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{record.File, record.Page} {
		text, err := os.ReadFile(filepath.Join(own, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := pageOf(t, folder)
	if err := record.Update(folder, func(*record.Record) {}); err != nil {
		t.Fatal(err)
	}
	if after := pageOf(t, folder); after != before {
		t.Errorf("%s is not what the record makes of it; run go test ./test/internal/record -update", record.Page)
	}
}
