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

// stdin is what --filename calls standard input.
const stdin = "-"

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

// ReadFile returns what a function makes of the contents of a file. It reads not more of them than
// is needed to see that there are too many. An error of the function names the file.
func ReadFile[T any](f *File, in io.Reader, parse func(raw []byte) (T, error)) (T, error) {
	var none T
	title := "standard input"
	if f.name != stdin {
		file, err := os.Open(f.name)
		if err != nil {
			return none, err
		}
		defer file.Close()
		in, title = file, f.name
	}
	raw, err := io.ReadAll(io.LimitReader(in, manifest.MaxInputSize+1))
	if err != nil {
		return none, err
	}
	parsed, err := parse(raw)
	if err != nil {
		return none, fmt.Errorf("%s: %w", title, err)
	}
	return parsed, nil
}
