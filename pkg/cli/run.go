// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/values"
)

const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
	// exitNegative is for a command that was carried out and whose answer is no.
	exitNegative = 2

	// maxErrorLength bounds an error message in bytes: it may repeat an argument of any length.
	maxErrorLength = 900
)

// Run runs berthctl with the arguments that follow the name of the program, and returns the exit
// status. An error is printed as one line.
func Run(ctx context.Context, o Options, args []string) int {
	root := newCommand(o)
	if strings.HasPrefix(baseName(o.Program), completerPrefix) {
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(splitResourceName(joinPairs(longFlags(args))))
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, values.ErrNegative):
		return exitNegative
	}
	fmt.Fprintln(o.Streams.ErrOut, "error:", message(err))
	var wrong *values.UsageError
	if errors.As(err, &wrong) {
		return exitUsage
	}
	return exitError
}

// message returns an error as one line of bearable length.
func message(err error) string {
	line := output.OneLine(err.Error())
	if len(line) > maxErrorLength {
		return strings.ToValidUTF8(line[:maxErrorLength], "") + "..."
	}
	return line
}
