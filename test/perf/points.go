// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"

	"berth.dev/berth/test/perf/report"
)

// points runs the Go benchmarks of the plugins and of the decisions they make, but for those whose
// names match skip, if it is not empty.
func points(ctx context.Context, benchtime, skip string) ([]report.Point, error) {
	packages, err := withBenchmarks("pkg/plugins", "pkg/placement")
	if err != nil {
		return nil, fmt.Errorf("looking for benchmarks of single extension points: %w", err)
	}
	arguments := slices.Concat([]string{"test", "-run", "^$", "-bench", ".", "-benchmem", "-vet=off", "-benchtime", benchtime, "-skip", skip, "-p", "1"}, packages)
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("running the benchmarks of single extension points: %w\n%s", err, out)
	}
	return parsePoints(out), nil
}

// withBenchmarks returns the packages below the folders that have benchmarks. go test would link
// the tests of all others as well, which takes longer than to measure.
func withBenchmarks(folders ...string) ([]string, error) {
	found, repository := map[string]bool{}, os.DirFS(".")
	for _, folder := range folders {
		err := fs.WalkDir(repository, folder, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, "_test.go") {
				return err
			}
			content, err := fs.ReadFile(repository, file)
			if bytes.Contains(content, []byte("\nfunc Benchmark")) {
				found["./"+path.Dir(file)] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// parsePoints reads the lines of go test that tell a benchmark. Names begin with the last part of
// their package.
func parsePoints(out []byte) []report.Point {
	var found []report.Point
	folder := ""
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 2 && words[0] == "pkg:" {
			folder = words[1][strings.LastIndexByte(words[1], '/')+1:]
			continue
		}
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		p := report.Point{Name: folder + " " + strings.TrimPrefix(withoutProcs(words[0]), "Benchmark")}
		for i := 2; i+1 < len(words); i += 2 {
			value, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				continue
			}
			switch words[i+1] {
			case "ns/op":
				p.Nanoseconds = value
			case "B/op":
				p.Bytes = value
			case "allocs/op":
				p.Allocations = value
			}
		}
		found = append(found, p)
	}
	return found
}

// withoutProcs strips the number of processors that go test appends.
func withoutProcs(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			return name[:i]
		}
	}
	return name
}
