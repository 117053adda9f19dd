// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package visitor

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Usage is what a process that serves pages has taken.
type Usage struct {
	// Files are open files and connections, Memory is resident, in MiB.
	Files, Memory int
	// Goroutines is 0 for a program that does not tell.
	Goroutines int
}

// String implements fmt.Stringer.
func (u Usage) String() string {
	text := fmt.Sprintf("%d files, %d MiB", u.Files, u.Memory)
	if u.Goroutines > 0 {
		text += fmt.Sprintf(", %d goroutines", u.Goroutines)
	}
	return text
}

// UsageOf returns what a process has taken, without its goroutines.
func UsageOf(pid int) (Usage, error) {
	var u Usage
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return u, fmt.Errorf("counting files: %w", err)
	}
	u.Files = len(files)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, fmt.Errorf("reading the memory: %w", err)
	}
	_, line, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return u, fmt.Errorf("process %d tells no memory", pid)
	}
	const kibibytes = 1024
	size, err := strconv.Atoi(fields[0])
	u.Memory = size / kibibytes
	if err != nil {
		return u, fmt.Errorf("reading the memory: %w", err)
	}
	return u, nil
}

// Goroutines returns how many goroutines a server has, by the metrics that it serves beside the
// pages.
func (v *Visitor) Goroutines(ctx context.Context) (int, error) {
	beside := *v
	beside.Site = strings.TrimSuffix(v.Site, "ui/")
	response, err := beside.Get(ctx, "metrics")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if value, found := bytes.CutPrefix(lines.Bytes(), []byte("go_goroutines ")); found {
			return strconv.Atoi(string(value))
		}
	}
	return 0, fmt.Errorf("%s tells of no goroutines", v.Site)
}
