// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package output prints what a command has found out: for people as tables or text, for programs as
// JSON or YAML. It never uses colour.
package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// Format is a form of output.
type Format string

const (
	// Table is a table for people.
	Table Format = "table"

	// Wide is a table with additional columns.
	Wide Format = "wide"

	// Text is prose for people.
	Text Format = "text"

	// JSON is one JSON document, on one line.
	JSON Format = "json"

	// YAML is one YAML document.
	YAML Format = "yaml"
)

// Flag is the flag -o of a command. It is a pflag.Value.
type Flag struct {
	format  Format
	formats []Format
}

// NewFlag returns the flag -o for the given formats; the first one is the default.
func NewFlag(formats ...Format) *Flag {
	return &Flag{format: formats[0], formats: formats}
}

// AddTo adds the flag and its shell completion to a command.
func (f *Flag) AddTo(cmd *cobra.Command) {
	cmd.Flags().VarP(f, "output", "o", "output format, one of "+f.list())
	complete := cobra.FixedCompletions(f.names(), cobra.ShellCompDirectiveNoFileComp)
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("output", complete)
}

// Wide reports whether additional columns are wanted.
func (f *Flag) Wide() bool { return f.format == Wide }

// ForPeople reports whether the output is for people rather than programs.
func (f *Flag) ForPeople() bool { return f.format != JSON && f.format != YAML }

// Print writes the object in the format of the flag. The form for people is left to the function.
// Nothing is written if an error occurs before the first byte is ready.
func (f *Flag) Print(w io.Writer, object any, forPeople func(io.Writer) error) error {
	var out bytes.Buffer
	if err := f.render(&out, object, forPeople); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

func (f *Flag) render(out *bytes.Buffer, object any, forPeople func(io.Writer) error) error {
	switch f.format {
	case JSON:
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(object)
	case YAML:
		text, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		out.Write(text)
		return nil
	default:
		return forPeople(out)
	}
}

// Set reads a format; an error says which ones there are.
func (f *Flag) Set(text string) error {
	if !slices.Contains(f.formats, Format(text)) {
		return fmt.Errorf("unknown output format %.64q, use one of %s", text, f.list())
	}
	f.format = Format(text)
	return nil
}

// String returns the name of the format.
func (f *Flag) String() string { return string(f.format) }

// Type names the kind of the value in usage texts.
func (f *Flag) Type() string { return "format" }

func (f *Flag) list() string { return strings.Join(f.names(), ", ") }

func (f *Flag) names() []string {
	names := make([]string, 0, len(f.formats))
	for _, format := range f.formats {
		names = append(names, string(format))
	}
	return names
}
