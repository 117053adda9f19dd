// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"berth.dev/berth/pkg/minor"
	"berth.dev/berth/test/perf/report"
)

// newestScenarios are the decisions that are measured with the newest Kubernetes as well.
const newestScenarios = "^(bystanders-1000|crowded-5000)$"

// withNewest measures some decisions with the newest minor of Kubernetes that Berth is built for,
// in a program that is compiled with it.
func withNewest(ctx context.Context, out io.Writer) (*report.Newest, error) {
	version := fmt.Sprintf("1.%d", minor.Newest)
	fmt.Fprintf(out, "newest: compiling with Kubernetes %s, which takes minutes the first time\n", version)
	folder, err := os.MkdirTemp("", "berth-perf-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the newest Kubernetes: %w", err)
	}
	defer os.RemoveAll(folder)
	program, measured := filepath.Join(folder, "perf"), filepath.Join(folder, "results.json")
	build := exec.CommandContext(ctx, "go", "build", "-modfile=build/kubernetes-"+version+"/go.mod", "-o", program,
		"-tags=kubernetes_"+strings.ReplaceAll(version, ".", "_"), "./test/perf")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling with Kubernetes %s: %w\n%s", version, err, lastLines(out))
	}
	run := exec.CommandContext(ctx, program, "-only", newestScenarios, "-json", measured)
	if out, err := run.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("measuring with Kubernetes %s: %w\n%s", version, err, lastLines(out))
	}
	results, err := report.ReadJSON[report.Results](measured)
	if err != nil {
		return nil, err
	}
	return &report.Newest{Kubernetes: version, Decisions: results.Decisions}, nil
}
