// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"berth.dev/berth/pkg/minor"
)

// Environment tells where and of what results were measured.
type Environment struct {
	Date       string `json:"date"`
	Commit     string `json:"commit"`
	Go         string `json:"go"`
	Processor  string `json:"processor"`
	Processors int    `json:"processors"`
	Kernel     string `json:"kernel"`
	// Kubernetes is the minor that all but Results.Newest was measured with, such as 1.35.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Smoke says that the run was too short for its numbers to be quoted.
	Smoke bool `json:"smoke"`
}

// ThisEnvironment looks the environment up. What cannot be found out is "unknown".
func ThisEnvironment(ctx context.Context, smoke bool) Environment {
	return Environment{
		Date: time.Now().UTC().Format(time.DateOnly), Commit: commit(ctx), Go: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		Processor: field("/proc/cpuinfo", "model name"), Processors: runtime.NumCPU(),
		Kernel: firstLine("/proc/sys/kernel/osrelease"), Kubernetes: fmt.Sprintf("1.%d", minor.Minor), Smoke: smoke,
	}
}

const unknown = "unknown"

// commit returns the commit of the working tree, and whether something in it differs from the
// commit.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").Output()
	if err != nil {
		return unknown
	}
	return strings.TrimSpace(string(out))
}

// field returns the first value of a key in a file of lines "key : value".
func field(path, key string) string {
	file, err := os.Open(path)
	if err != nil {
		return unknown
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if k, v, found := strings.Cut(lines.Text(), ":"); found && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return unknown
}

func firstLine(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return unknown
	}
	line, _, _ := strings.Cut(string(content), "\n")
	return line
}
