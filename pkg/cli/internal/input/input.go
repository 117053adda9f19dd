// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package input reads the files that users name, or standard input.
package input

import (
	"io"
	"os"

	"berth.dev/berth/pkg/feeds/manifest"
)

// Stdin is what --filename calls standard input.
const Stdin = "-"

// Read reads a file, not more of it than is needed to see that it is too large.
func Read(filename string, in io.Reader) ([]byte, error) {
	if filename != Stdin {
		file, err := os.Open(filename)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	return io.ReadAll(io.LimitReader(in, manifest.MaxInputSize+1))
}

// Title is what messages call the file.
func Title(filename string) string {
	if filename == Stdin {
		return "standard input"
	}
	return filename
}
