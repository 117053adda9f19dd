// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrTooLarge says that a profile exceeds MaxSize.
var ErrTooLarge = errors.New("the cluster profile is larger than 1 MiB")

// InputError says what is wrong with an encoded profile, and where.
type InputError struct {
	// Line and Column are where the fault is, counted from 1; a column is a character.
	Line, Column int
	// Field is the path of the value, such as
	// "cluster_profile.cluster_spec.flavors[2].TotalCapacity". It is empty if the text is no JSON.
	Field string
	// Reason is what is wrong.
	Reason string
}

// Error returns all of it on one line.
func (e *InputError) Error() string {
	where := fmt.Sprintf("line %d, column %d: ", e.Line, e.Column)
	if e.Field != "" {
		where += e.Field + ": "
	}
	return where + e.Reason
}

// IdentityError says that a request would make a cluster another one.
type IdentityError struct {
	*InputError
	// ID reports whether the cluster_id is another one, rather than the name.
	ID bool
}

// Unwrap returns the place and the reason.
func (e *IdentityError) Unwrap() error { return e.InputError }

// inputError makes an error about the byte at an offset.
func inputError(data []byte, offset int, field, reason string) *InputError {
	before := data[:min(max(offset, 0), len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return &InputError{
		Line:   bytes.Count(before, []byte{'\n'}) + 1,
		Column: utf8.RuneCount(before[start:]) + 1,
		Field:  field,
		Reason: reason,
	}
}

// typographicQuotes are what word processors make of quotes.
const typographicQuotes = "“”„‟‘’‚‛«»"

// syntaxError explains why the text is no JSON. The offending byte is the one before the offset.
func syntaxError(data []byte, offset int, reason string) *InputError {
	at := max(offset-1, 0)
	if found, _ := utf8.DecodeRune(data[min(at, len(data)):]); strings.ContainsRune(typographicQuotes, found) {
		reason = fmt.Sprintf(`%c is a typographic quote, JSON wants the straight one "`, found)
	}
	return inputError(data, at, "", "this is no JSON: "+reason)
}
