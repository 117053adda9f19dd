// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"berth.dev/berth/test/internal/hunks"
)

// changeRuntime makes a copy of Go's tree, of links but for the packages that are changed, whose
// paths it returns.
func changeRuntime(root, folder string) (changed []string, err error) {
	all, err := hunks.Parse(changes)
	if err != nil {
		return nil, err
	}
	texts, err := apply(all, filepath.Join(root, "src"))
	if err != nil {
		return nil, err
	}
	packages := map[string]bool{}
	for path, text := range texts {
		packages[filepath.Dir(path)] = true
		if err := write(filepath.Join(folder, "src", path), text); err != nil {
			return nil, err
		}
	}
	return slices.Collect(maps.Keys(packages)), mirror(root, folder)
}

// apply returns the texts of all files that are changed. A file may be changed more than once.
func apply(all []*hunks.Change, source string) (texts map[string]string, err error) {
	texts = map[string]string{}
	for _, change := range all {
		for _, path := range change.Files() {
			before, done := texts[path]
			if !done {
				read, err := os.ReadFile(filepath.Join(source, path))
				if err != nil {
					return nil, fmt.Errorf("reading a file of Go: %w", err)
				}
				before = string(read)
			}
			if texts[path], err = change.Apply(path, before); err != nil {
				return nil, err
			}
		}
	}
	return texts, nil
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing a changed file: %w", err)
	}
	return nil
}

// mirror links everything of a tree that the copy has not got.
func mirror(root, folder string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("reading the tree of Go: %w", err)
	}
	for _, entry := range entries {
		from, to := filepath.Join(root, entry.Name()), filepath.Join(folder, entry.Name())
		switch _, err := os.Lstat(to); {
		case os.IsNotExist(err):
			err = os.Symlink(from, to)
			if err != nil {
				return fmt.Errorf("linking the tree of Go: %w", err)
			}
		case entry.IsDir():
			if err := mirror(from, to); err != nil {
				return err
			}
		}
	}
	return nil
}
