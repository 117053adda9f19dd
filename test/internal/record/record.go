// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package record adds up what all runs of the simulated worlds and of chaos have done, in a file
// beside the page about reliability, and writes the sums into that page.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The names of the file with the sums, and of the page.
const (
	File = "reliability.json"
	Page = "reliability.md"
)

// Record is what there has been of everything.
type Record struct {
	Simulation Simulation `json:"simulation"`
	Kills      Kills      `json:"kills"`
	Objects    Objects    `json:"objects"`
	Chaos      Chaos      `json:"chaos"`
	// Planted are the faults that were planted last, by their names.
	Planted map[string]Planted `json:"planted,omitempty"`
}

// Counts counts by a name.
type Counts map[string]int

// Table counts by two names.
type Table map[string]Counts

// Simulation is what simulated worlds have done.
type Simulation struct {
	// Worlds are those that were judged, Broken those of them that broke a promise.
	Worlds    int `json:"worlds"`
	Broken    int `json:"broken"`
	NotJudged int `json:"notJudged"`
	// Seconds are those of virtual time.
	Seconds  int `json:"seconds"`
	Requests int `json:"requests"`
	Bound    int `json:"bound"`
	Evicted  int `json:"evicted"`
	// Writes are those that Berth's programs have sent, by kind, and OtherWrites those of everybody
	// else.
	Writes      Counts `json:"writes"`
	OtherWrites int    `json:"otherWrites"`
	// Faults are what has happened to requests, by what it was and the kind of write; reads are one
	// kind.
	Faults Table `json:"faults"`
	// Disturbances are everything else that has happened.
	Disturbances Counts `json:"disturbances"`
}

// Kills is what killing a process at each of its writes has done, by the kind of the write.
type Kills struct {
	Worlds    int    `json:"worlds"`
	Kept      Counts `json:"kept"`
	Broken    Counts `json:"broken"`
	NotSent   Counts `json:"notSent"`
	NotJudged Counts `json:"notJudged"`
}

// Objects is what worlds of random objects have done.
type Objects struct {
	// Worlds are those that were judged, Broken those of them that broke a promise.
	Worlds    int `json:"worlds"`
	Broken    int `json:"broken"`
	NotJudged int `json:"notJudged"`
	// Writes are those that Berth's programs have sent.
	Writes int `json:"writes"`
	// Done is what users have done to the objects, by the kind and the verb.
	Done Table `json:"done"`
}

// Chaos is what real processes have gone through.
type Chaos struct {
	// Runs are those that were judged, Broken those of them that broke a promise.
	Runs      int `json:"runs"`
	Broken    int `json:"broken"`
	NotJudged int `json:"notJudged"`
	// Seconds are those of storms and calms, without the time that it takes to start everything.
	Seconds   int `json:"seconds"`
	Storms    int `json:"storms"`
	Revisions int `json:"revisions"`
	Bindings  int `json:"bindings"`
	Evictions int `json:"evictions"`
	Starts    int `json:"starts"`
	// PageSeconds are those of Seconds in which pages were open, Loads how often one was loaded, and
	// Compared the calms at which what they show was compared with the API.
	PageSeconds int `json:"pageSeconds"`
	Loads       int `json:"loads"`
	Compared    int `json:"compared"`
	// Disturbances are what has happened, by kind.
	Disturbances Counts `json:"disturbances"`
}

// Planted is what simulated worlds have made of a fault in the code.
type Planted struct {
	// Seed is that of the world that has found it, 0 if none has, and Said what is wrong there.
	Seed int    `json:"seed,omitempty"`
	Said string `json:"said,omitempty"`
	// Seconds is how long worlds were run.
	Seconds int `json:"seconds"`
	// Unseen is why no world can find it, empty if one should.
	Unseen string `json:"unseen,omitempty"`
}

// Plant notes what became of a fault. One that is planted anew takes the place of the last time.
func (r *Record) Plant(name string, found Planted) {
	if r.Planted == nil {
		r.Planted = map[string]Planted{}
	}
	r.Planted[name] = found
}

// Add adds to counts, and makes them if there are none.
func (c *Counts) Add(other Counts) {
	if *c == nil {
		*c = Counts{}
	}
	for name, n := range other {
		(*c)[name] += n
	}
}

// Sum returns how many there are of all names.
func (c Counts) Sum() (sum int) {
	for _, n := range c {
		sum += n
	}
	return sum
}

// Add adds to a table, and makes it if there is none.
func (t *Table) Add(other Table) {
	if *t == nil {
		*t = Table{}
	}
	for name, counts := range other {
		row := (*t)[name]
		row.Add(counts)
		(*t)[name] = row
	}
}

// Add adds what the kills of other worlds have done.
func (k *Kills) Add(other *Kills) {
	k.Worlds += other.Worlds
	k.Kept.Add(other.Kept)
	k.Broken.Add(other.Broken)
	k.NotSent.Add(other.NotSent)
	k.NotJudged.Add(other.NotJudged)
}

// Add adds what another run has done.
func (c *Chaos) Add(other *Chaos) {
	c.Runs += other.Runs
	c.Seconds += other.Seconds
	c.Storms += other.Storms
	c.Revisions += other.Revisions
	c.Bindings += other.Bindings
	c.Evictions += other.Evictions
	c.Starts += other.Starts
	c.PageSeconds += other.PageSeconds
	c.Loads += other.Loads
	c.Compared += other.Compared
	c.Disturbances.Add(other.Disturbances)
}

// Update changes the sums in a folder, and writes them into its page. Only one process does so at a
// time, the others wait.
func Update(folder string, change func(*Record)) error {
	lock, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("opening the folder of the record: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("waiting for the record in %s: %w", folder, err)
	}
	r, err := read(folder)
	if err != nil {
		return err
	}
	change(r)
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the record: %w", err)
	}
	if err := write(filepath.Join(folder, File), append(text, '\n')); err != nil {
		return err
	}
	path := filepath.Join(folder, Page)
	before, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	after, err := r.fill(string(before))
	if err != nil {
		return fmt.Errorf("writing the sums into %s: %w", path, err)
	}
	return write(path, []byte(after))
}

func read(folder string) (*Record, error) {
	r := &Record{}
	text, err := os.ReadFile(filepath.Join(folder, File))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record: %w", err)
	}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Join(folder, File), err)
	}
	return r, nil
}

// write replaces a file as a whole.
func write(path string, text []byte) error {
	next := path + ".next"
	if err := os.WriteFile(next, text, 0o644); err != nil { //nolint:gosec // everybody may read it
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
