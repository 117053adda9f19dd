// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
)

// A tail is for an error message: enough lines to see the cause, and no more
// bytes than a terminal shows.
const (
	tailLines = 12
	tailBytes = 16 << 10
)

// tailOf returns the last lines of the file, at most n of them. If the process
// panicked they begin with the panic, whose message a stack trace would push
// out.
func tailOf(path string, n int) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a log: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading a log: %w", err)
	}
	start := max(0, info.Size()-tailBytes)
	data, err := io.ReadAll(io.NewSectionReader(file, start, info.Size()-start))
	if err != nil {
		return nil, fmt.Errorf("reading a log: %w", err)
	}
	if start > 0 {
		// The first line is cut off somewhere in the middle.
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			data = data[i+1:]
		}
	}
	data = bytes.TrimRight(data, "\n")
	if len(data) == 0 {
		return nil, nil
	}
	lines := bytes.Split(data, []byte("\n"))
	lines = lastOf(lines, n)
	tail := make([]string, len(lines))
	for i, line := range lines {
		tail[i] = string(line)
	}
	return tail, nil
}

// lastOf returns the last n lines, or n lines from where a crash begins.
func lastOf(lines [][]byte, n int) [][]byte {
	for i, line := range slices.Backward(lines) {
		if bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: ")) {
			return lines[i:min(i+n, len(lines))]
		}
	}
	return lines[max(0, len(lines)-n):]
}
