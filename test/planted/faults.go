// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"os"
	"strings"
)

//go:embed faults.txt
var listed string

// fault is what is planted at a time.
type fault struct {
	name string
	// hunks are what is replaced by what, by the path of the file.
	hunks map[string][]*hunk
	// unseen is why no world can see it, empty if one should.
	unseen string
}

// hunk is a piece of a file, and what stands in its place.
type hunk struct {
	right, wrong []string
}

// parse reads a list of faults: a name behind "==", the path of a file behind "--", lines of it
// behind "-" and what stands in their place behind "+", and behind "!" why no world can see it.
// Lines that begin with "#" are for who reads the list.
func parse(text string) ([]*fault, error) {
	var all []*fault
	var path string
	for number, line := range strings.Split(text, "\n") {
		name, named := strings.CutPrefix(line, "== ")
		if named {
			all, path = append(all, &fault{name: name, hunks: map[string][]*hunk{}}), ""
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("line %d belongs to no fault: %s", number+1, line)
		}
		f := all[len(all)-1]
		switch file, begins := strings.CutPrefix(line, "-- "); {
		case begins:
			path = file
		case line[0] == '!':
			f.unseen = strings.TrimSpace(f.unseen + " " + strings.TrimSpace(line[1:]))
		case path == "" || line[0] != '-' && line[0] != '+':
			return nil, fmt.Errorf("line %d cannot be read: %s", number+1, line)
		default:
			f.add(path, line)
		}
	}
	return all, nil
}

// add adds a line to the last piece of a file, or begins one.
func (f *fault) add(path, line string) {
	last := len(f.hunks[path]) - 1
	if last < 0 || line[0] == '-' && len(f.hunks[path][last].wrong) > 0 {
		f.hunks[path] = append(f.hunks[path], &hunk{})
		last++
	}
	h := f.hunks[path][last]
	if line[0] == '-' {
		h.right = append(h.right, line[1:])
	} else {
		h.wrong = append(h.wrong, line[1:])
	}
}

// planted returns the text of a file with the fault in it.
func (f *fault) planted(path string) (string, error) {
	read, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading a file to plant a fault in: %w", err)
	}
	text := string(read)
	for _, h := range f.hunks[path] {
		right := strings.Join(h.right, "\n") + "\n"
		if n := strings.Count(text, right); n != 1 {
			return "", fmt.Errorf("%s has %d times instead of once:\n%s", path, n, right)
		}
		wrong := strings.Join(h.wrong, "\n") + "\n"
		text = strings.Replace(text, right, wrong, 1)
	}
	return text, nil
}
