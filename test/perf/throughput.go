// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"berth.dev/berth/test/perf/report"
)

// throughputs runs scheduler_perf with the workloads of an enabled label, each in a cluster of its own. It needs etcd in bin/.
func throughputs(ctx context.Context, label string, runs int) ([]report.Throughput, error) {
	folder, err := os.MkdirTemp(memoryFolder(), "berth-perf-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for scheduler_perf: %w", err)
	}
	defer os.RemoveAll(folder)
	binaries, err := filepath.Abs("bin")
	if err != nil {
		return nil, fmt.Errorf("looking for etcd: %w", err)
	}
	found := &collection{}
	for range runs {
		command := exec.CommandContext(ctx, "go", "test", "-tags", "schedulerperf", "-run", "^$", "-bench", ".", "-benchtime", "1ns",
			"-timeout", "30m", "./test/perf/scheduler_perf", "-perf-scheduling-label-filter="+label, "-data-items-dir="+folder)
		// The disk has no part in what is measured, neither for Berth nor for its peers.
		command.Env = append(os.Environ(), "PATH="+binaries+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+folder,
			"ETCD_UNSAFE_NO_FSYNC=true", "KUBE_CACHE_MUTATION_DETECTOR=false")
		if out, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("running scheduler_perf: %w\n%s", err, lastLines(out, 20))
		}
		if err := found.readAll(folder); err != nil {
			return nil, err
		}
	}
	if runs > 0 && len(found.throughputs) == 0 {
		return nil, errors.New("the results of scheduler_perf tell no throughput")
	}
	return found.throughputs, nil
}

// memoryFolder returns a folder in memory if there is one, and the default otherwise.
func memoryFolder() string {
	const shared = "/dev/shm"
	if info, err := os.Stat(shared); err == nil && info.IsDir() {
		return shared
	}
	return ""
}

func lastLines(out []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// collection is what scheduler_perf has measured, in the order of its workloads.
type collection struct {
	throughputs []report.Throughput
}

// readAll reads what scheduler_perf has written to a folder, and removes it.
func (c *collection) readAll(folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return errors.New("scheduler_perf has written no results")
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("reading results of scheduler_perf: %w", err)
		}
		if err := c.read(content); err != nil {
			return fmt.Errorf("decoding results of scheduler_perf: %w", err)
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("removing results of scheduler_perf: %w", err)
		}
	}
	return nil
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
	for i := range c.throughputs {
		if t := &c.throughputs[i]; t.Workload == workload && t.Peer == peer {
			t.Pods = append(t.Pods, pods)
			return
		}
	}
	c.throughputs = append(c.throughputs, report.Throughput{Workload: workload, Peer: peer, Pods: []float64{pods}})
}
