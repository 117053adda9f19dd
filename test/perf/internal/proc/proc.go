// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package proc tells what processes cost the machine, as Linux accounts it.
package proc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which /proc tells processor time, on every architecture that Go runs on.
const tick = 10 * time.Millisecond

// CPUTime returns how long all processors together have worked for a process.
func CPUTime(pid int) (time.Duration, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of a process: %w", err)
	}
	// The second field, the name in brackets, may hold blanks. After it come the state, eleven
	// others, and then the time as a user and that in the kernel.
	fields := strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:]))
	const user, kernel = 11, 12
	if len(fields) <= kernel {
		return 0, errors.New("reading the processor time of a process: the file of its state is short")
	}
	total := int64(0)
	for _, field := range fields[user : kernel+1] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the processor time of a process: %w", err)
		}
		total += ticks
	}
	return time.Duration(total) * tick, nil
}

// MachineTime returns how long all processors together have worked since the machine was started,
// for whatever.
func MachineTime() (time.Duration, error) {
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of the machine: %w", err)
	}
	line, _, _ := strings.Cut(string(content), "\n")
	fields := strings.Fields(line)
	// After the name come user, nice, system, idle, waiting for disks, and two kinds of interrupts.
	const idle, waiting, kinds = 4, 5, 8
	if len(fields) < kinds {
		return 0, errors.New("reading the processor time of the machine: the file has another form")
	}
	total := int64(0)
	for i, field := range fields[1:kinds] {
		if kind := i + 1; kind == idle || kind == waiting {
			continue
		}
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the processor time of the machine: %w", err)
		}
		total += ticks
	}
	return time.Duration(total) * tick, nil
}

// PeakMemory returns how many bytes a process has held in memory at most.
func PeakMemory(pid int) (float64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of a process: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "VmHWM:" {
			kibibytes, err := strconv.ParseInt(fields[1], 10, 64)
			return float64(kibibytes) * 1024, err
		}
	}
	return 0, errors.New("reading the memory of a process: the system does not tell it")
}
