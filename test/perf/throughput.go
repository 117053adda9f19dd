// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"berth.dev/berth/test/perf/report"
)

// workloadsFolder is where scheduler_perf and its workloads are.
const workloadsFolder = "test/perf/scheduler_perf"

// judged are the workloads for which there is a goal; there are several runs of each.
var judged = regexp.MustCompile(`^PlainPods\.`)

// judgedRuns is how many runs a goal is judged on.
const judgedRuns = 5

// throughputs runs the workloads of scheduler_perf that have its default label and are wanted,
// again and again in turns. Each run has a process and a cluster of its own, so that none suffers
// from what another one has left behind. It needs etcd in bin/.
func throughputs(ctx context.Context, out io.Writer, wanted func(name string) bool, runs int) ([]report.Throughput, error) {
	folder, err := os.MkdirTemp(memoryFolder(), "berth-perf-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for scheduler_perf: %w", err)
	}
	defer os.RemoveAll(folder)
	binaries, err := filepath.Abs("bin")
	if err != nil {
		return nil, fmt.Errorf("looking for etcd: %w", err)
	}
	names, err := workloadNames(filepath.Join(workloadsFolder, "testdata", "workloads.yaml"))
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !wanted(name) })
	program := filepath.Join(folder, "scheduler_perf.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-tags", "schedulerperf", "-o", program, "./"+workloadsFolder)
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building scheduler_perf: %w\n%s", err, lastLines(out))
	}
	found := &collection{}
	for round := range runs {
		for _, name := range names {
			command := exec.CommandContext(ctx, program, "-test.run", "^$", "-test.benchtime", "1ns", "-test.timeout", "10m",
				"-test.bench", "^BenchmarkPerfScheduling$/^"+regexp.QuoteMeta(name)+"$",
				"-data-items-dir="+folder)
			command.Dir = workloadsFolder
			// The disk has no part in what is measured, neither for Berth nor for its peers.
			command.Env = append(os.Environ(), "PATH="+binaries+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+folder,
				"ETCD_UNSAFE_NO_FSYNC=true", "KUBE_CACHE_MUTATION_DETECTOR=false")
			if out, err := command.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("running workload %s of scheduler_perf: %w\n%s", name, err, lastLines(out))
			}
			last, err := found.readAll(folder)
			if err != nil {
				return nil, fmt.Errorf("workload %s: %w", name, err)
			}
			fmt.Fprintf(out, "scheduler_perf, round %d of %d: %s: %.0f pods/s\n", round+1, runs, name, last)
		}
	}
	return found.throughputs, nil
}

// workloadNames returns the names of the workloads in a file of scheduler_perf, in their order.
func workloadNames(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the workloads of scheduler_perf: %w", err)
	}
	var cases []struct {
		Name string `json:"name"`
	}
	if err := yaml.Unmarshal(content, &cases); err != nil {
		return nil, fmt.Errorf("decoding the workloads of scheduler_perf: %w", err)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("decoding the workloads of scheduler_perf: %s has none", path)
	}
	names := make([]string, len(cases))
	for i := range cases {
		names[i] = cases[i].Name
	}
	return names, nil
}

// memoryFolder returns a folder in memory if there is one, and the default otherwise.
func memoryFolder() string {
	const shared = "/dev/shm"
	if info, err := os.Stat(shared); err == nil && info.IsDir() {
		return shared
	}
	return ""
}

func lastLines(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// collection is what scheduler_perf has measured, in the order of its workloads.
type collection struct {
	throughputs []report.Throughput
	// last is the throughput that was added last, 0 if there was none since it was reset.
	last float64
}

// readAll reads what scheduler_perf has written to a folder, and removes it. It returns the last
// throughput.
func (c *collection) readAll(folder string) (float64, error) {
	c.last = 0
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return 0, err
	}
	if len(paths) == 0 {
		return 0, errors.New("scheduler_perf has written no results")
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return 0, fmt.Errorf("reading results of scheduler_perf: %w", err)
		}
		if err := c.read(content); err != nil {
			return 0, fmt.Errorf("decoding results of scheduler_perf: %w", err)
		}
		if err := os.Remove(path); err != nil {
			return 0, fmt.Errorf("removing results of scheduler_perf: %w", err)
		}
	}
	if c.last == 0 {
		return 0, errors.New("scheduler_perf tells no throughput")
	}
	return c.last, nil
}

// read adds the throughputs of one file. Names are BENCHMARK/WORKLOAD.PEER/SIZE/NAMESPACE.
func (c *collection) read(content []byte) error {
	var file struct {
		DataItems []struct {
			Data   map[string]float64 `json:"data"`
			Labels map[string]string  `json:"labels"`
		} `json:"dataItems"`
	}
	if err := json.Unmarshal(content, &file); err != nil {
		return err
	}
	for _, item := range file.DataItems {
		parts := strings.Split(item.Labels["Name"], "/")
		if item.Labels["Metric"] != "SchedulingThroughput" || len(parts) != 4 {
			continue
		}
		workload, peer, _ := strings.Cut(parts[1], ".")
		c.add(workload+" "+parts[2], peer, item.Data["Average"])
	}
	return nil
}

func (c *collection) add(workload, peer string, pods float64) {
	c.last = pods
	for i := range c.throughputs {
		if t := &c.throughputs[i]; t.Workload == workload && t.Peer == peer {
			t.Pods = append(t.Pods, pods)
			return
		}
	}
	c.throughputs = append(c.throughputs, report.Throughput{Workload: workload, Peer: peer, Pods: []float64{pods}})
}
