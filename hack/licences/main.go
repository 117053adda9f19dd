// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Licences checks that every module whose code is built here, for a program of ours, for the
// playground's control plane or for a test, comes under a licence that allows it: Apache-2.0, MIT,
// BSD, ISC or MPL-2.0. It reads the licence texts in the module cache, so what it says holds for
// the very files that are compiled.
//
// Usage: go run ./hack/licences [-v].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenceFile matches the names that licence texts go by.
var licenceFile = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`)

// module is a module whose packages are compiled.
type module struct {
	path, version, dir string
	// packages are the directories of those of its packages that are compiled.
	packages []string
}

func main() {
	verbose := flag.Bool("v", false, "list every module with its licences")
	flag.Parse()
	if err := run(context.Background(), *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, verbose bool) error {
	modules, err := listModules(ctx)
	if err != nil {
		return err
	}
	refused := 0
	for _, m := range modules {
		found, err := m.licences()
		if err != nil {
			refused++
			fmt.Fprintf(os.Stderr, "%s %s: %v\n", m.path, m.version, err)
			continue
		}
		if verbose {
			fmt.Printf("%s %s: %s\n", m.path, m.version, strings.Join(found, ", "))
		}
	}
	if refused > 0 {
		return fmt.Errorf("%d of %d modules have no licence from the list of allowed ones", refused, len(modules))
	}
	fmt.Printf("all %d modules are under an allowed licence\n", len(modules))
	return nil
}

// listModules returns the modules of all packages that a program or a test of this repository is
// built from, without this repository itself.
func listModules(ctx context.Context) ([]module, error) {
	const format = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}"
	command := exec.CommandContext(ctx, "go", "list", "-deps", "-test", "-tags=deps", "-f="+format, "./...")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages: %w", err)
	}
	return parseModules(string(output))
}

// parseModules reads lines of module path, version, directory and package directory. It returns the
// modules in the order of their paths.
func parseModules(output string) ([]module, error) {
	byPath := map[string]*module{}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 4 {
			return nil, fmt.Errorf("unexpected output of go list: %q", line)
		}
		m := byPath[fields[0]]
		if m == nil {
			m = &module{path: fields[0], version: fields[1], dir: fields[2]}
			byPath[fields[0]] = m
		}
		if !slices.Contains(m.packages, fields[3]) {
			m.packages = append(m.packages, fields[3])
		}
	}
	modules := make([]module, 0, len(byPath))
	for _, m := range byPath {
		modules = append(modules, *m)
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return modules, nil
}

// licences names the licences of the module's compiled packages. Every licence text between the
// root of the module and a package counts: modules keep forked code with its own terms in
// subdirectories.
func (m module) licences() ([]string, error) {
	seen := map[string]bool{}
	names := map[string]bool{}
	texts := 0
	for _, pkg := range m.packages {
		for _, dir := range dirsUpTo(pkg, m.dir) {
			if seen[dir] {
				continue
			}
			seen[dir] = true
			n, err := licencesIn(dir, names)
			if err != nil {
				return nil, err
			}
			texts += n
		}
	}
	if texts == 0 {
		return nil, errors.New("no licence text")
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted, nil
}

// dirsUpTo returns dir and its parents up to and including root.
func dirsUpTo(dir, root string) []string {
	var dirs []string
	for ; strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

// isLicenceText tells whether a file holds terms for code: source files called license.go do not,
// nor do LICENSE.docs, the terms for a project's prose.
func isLicenceText(name string) bool {
	extension := filepath.Ext(name)
	return licenceFile.MatchString(name) && extension != ".go" && extension != ".docs"
}

// licencesIn adds the licences of the texts in dir to names and returns the number of texts.
func licencesIn(dir string, names map[string]bool) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("reading the module: %w", err)
	}
	texts := 0
	for _, entry := range entries {
		if entry.IsDir() || !isLicenceText(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return 0, fmt.Errorf("reading a licence: %w", err)
		}
		found := classify(string(text))
		if len(found) == 0 {
			return 0, fmt.Errorf("%s is not an allowed licence", path)
		}
		for _, name := range found {
			names[string(name)] = true
		}
		texts++
	}
	return texts, nil
}
