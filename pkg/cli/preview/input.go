// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"io"
	"os"

	"berth.dev/berth/pkg/feeds/manifest"
)

// stdin is what --filename calls standard input.
const stdin = "-"

// readInput reads a file of objects, not more of it than is needed to see that it is too large.
func readInput(filename string, in io.Reader) ([]byte, error) {
	if filename != stdin {
		file, err := os.Open(filename)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	return io.ReadAll(io.LimitReader(in, manifest.MaxInputSize+1))
}

// inputError puts the name of the file before an error about its content.
func inputError(filename string, err error) error {
	if filename == stdin {
		filename = "standard input"
	}
	return fmt.Errorf("%s: %w", filename, err)
}
