// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"berth.dev/berth/pkg/feeds/manifest"
)

// Stdin is what --filename calls standard input.
const Stdin = "-"

// File is the flag --filename: a file, or standard input.
type File struct {
	name string
}

// AddTo adds the flag to a command. What the file is for stands before "standard input" in the
// usage.
func (f *File) AddTo(cmd *cobra.Command, what string) {
	cmd.Flags().StringVarP(&f.name, "filename", "f", "", what+", - for standard input")
	// It fails only for a flag that does not exist.
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml", "json")
}

// Given reports whether the user named a file.
func (f *File) Given() bool { return f.name != "" }

// ReadFile returns what a function makes of the contents of the file of the flag. It reads not more
// of them than is needed to see that there are too many for a manifest. An error of the function
// names the file.
func ReadFile[T any](f *File, in io.Reader, parse func(raw []byte) (T, error)) (T, error) {
	return Read(f.name, in, manifest.MaxInputSize, parse)
}

// Read is ReadFile for a file by name, "-" for standard input. It reads at most one byte more than
// the limit.
func Read[T any](name string, in io.Reader, limit int64, parse func(raw []byte) (T, error)) (T, error) {
	var none T
	if name != Stdin {
		file, err := os.Open(name)
		if err != nil {
			return none, err
		}
		defer file.Close()
		in = file
	}
	raw, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return none, err
	}
	parsed, err := parse(raw)
	if err != nil {
		return none, fmt.Errorf("%s: %w", Title(name), err)
	}
	return parsed, nil
}

// Title returns what messages call a file.
func Title(name string) string {
	if name == Stdin {
		return "standard input"
	}
	return name
}
