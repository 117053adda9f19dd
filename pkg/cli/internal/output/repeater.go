// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Repeater prints the answers of a command that watches, each unless it is the same as the one
// before. For people an empty line separates them. It is not safe for concurrent use.
type Repeater struct {
	streams   genericiooptions.IOStreams
	forPeople bool

	printed    bool
	out, notes []byte
}

// NewRepeater returns a repeater that prints in the format of the flag.
func NewRepeater(streams genericiooptions.IOStreams, format *Flag) *Repeater {
	return &Repeater{streams: streams, forPeople: format.ForPeople()}
}

// Printed reports whether there was an answer before.
func (r *Repeater) Printed() bool { return r.printed }

// Print prints an answer to standard output and the notes beside it to standard error.
func (r *Repeater) Print(out, notes []byte) error {
	again := r.printed
	if again && bytes.Equal(out, r.out) && bytes.Equal(notes, r.notes) {
		return nil
	}
	r.printed, r.out, r.notes = true, bytes.Clone(out), bytes.Clone(notes)
	if again && r.forPeople && len(out) > 0 {
		out = append([]byte("\n"), out...)
	}
	if _, err := r.streams.Out.Write(out); err != nil {
		return err
	}
	_, err := r.streams.ErrOut.Write(notes)
	return err
}
