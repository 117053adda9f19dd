// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package usage tells a command line that makes no sense from a command that failed, for commands whose callers are
// programs that want to know.
package usage

import "fmt"

// Error says that a command cannot be carried out as it was written.
type Error struct {
	message string
}

// Error returns one line.
func (e *Error) Error() string { return e.message }

// Errorf returns an *Error.
func Errorf(format string, args ...any) error {
	return &Error{message: fmt.Sprintf(format, args...)}
}
