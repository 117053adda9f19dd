// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hunks changes files as a list says: it replaces pieces of them by others, in a copy that
// Go is shown in the place of the file.
package hunks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is what is changed at a time.
type Change struct {
	Name string
	// Remark is what the list says of it.
	Remark string

	hunks map[string][]*hunk
}

// hunk is a piece of a file, and what stands in its place.
type hunk struct {
	right, wrong []string
}

// Parse reads a list of changes: a name behind "==", the path of a file behind "--", lines of it
// behind "-" and what stands in their place behind "+", and behind "!" a remark. Lines that begin
// with "#" are for who reads the list.
func Parse(text string) ([]*Change, error) {
	var all []*Change
	var path string
	for number, line := range strings.Split(text, "\n") {
		name, named := strings.CutPrefix(line, "== ")
		if named {
			all, path = append(all, &Change{Name: name, hunks: map[string][]*hunk{}}), ""
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("line %d belongs to no change: %s", number+1, line)
		}
		c := all[len(all)-1]
		switch file, begins := strings.CutPrefix(line, "-- "); {
		case begins:
			path = file
		case line[0] == '!':
			c.Remark = strings.TrimSpace(c.Remark + " " + strings.TrimSpace(line[1:]))
		case path == "" || line[0] != '-' && line[0] != '+':
			return nil, fmt.Errorf("line %d cannot be read: %s", number+1, line)
		default:
			c.add(path, line)
		}
	}
	return all, nil
}

// add adds a line to the last piece of a file, or begins one.
func (c *Change) add(path, line string) {
	last := len(c.hunks[path]) - 1
	if last < 0 || line[0] == '-' && len(c.hunks[path][last].wrong) > 0 {
		c.hunks[path] = append(c.hunks[path], &hunk{})
		last++
	}
	h := c.hunks[path][last]
	if line[0] == '-' {
		h.right = append(h.right, line[1:])
	} else {
		h.wrong = append(h.wrong, line[1:])
	}
}

// Files returns the paths of the files that are changed, in order.
func (c *Change) Files() []string { return slices.Sorted(maps.Keys(c.hunks)) }

// Apply returns the text of a file after the change. The pieces that it replaces must be there,
// each once.
func (c *Change) Apply(path, text string) (string, error) {
	for _, h := range c.hunks[path] {
		right := strings.Join(h.right, "\n") + "\n"
		if n := strings.Count(text, right); n != 1 {
			return "", fmt.Errorf("%s has %d times instead of once:\n%s", path, n, right)
		}
		wrong := strings.Join(h.wrong, "\n") + "\n"
		text = strings.Replace(text, right, wrong, 1)
	}
	return text, nil
}
