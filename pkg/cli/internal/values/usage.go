// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"errors"
	"fmt"
)

// ErrNegative says that a command did what it was asked to do, and that the answer is no. It has
// been printed.
var ErrNegative = errors.New("the answer is no")

// UsageError says that a command cannot be carried out as it was written. Callers that are programs
// want to know this from a command that failed.
type UsageError struct {
	message string
}

// Error returns one line.
func (e *UsageError) Error() string { return e.message }

// UsageErrorf returns a *UsageError.
func UsageErrorf(format string, args ...any) error {
	return &UsageError{message: fmt.Sprintf(format, args...)}
}
