// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package remember is what the programs that remember their decisions have in common.
package remember

import (
	"os"
	"strings"

	"github.com/spf13/pflag"

	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/history/serve"
)

// Flag is the name of the flag that says where the history is served.
const Flag = "history-bind-address"

// AddFlag adds the flag. Empty, its default, means that nothing is remembered.
func AddFlag(flags *pflag.FlagSet, address *string) {
	flags.StringVar(address, Flag, *address, "Address, such as 127.0.0.1:10263, where "+serve.Path+" is served over TLS: what this "+
		"process has decided, for berthctl explain --history. Callers need the right to get that path, and are told what they may get. "+
		"At most 16 MiB of the last day are kept in memory. Without an address nothing is remembered.")
}

// Handler returns what serves a Ring under the name of this process: that of its pod, whose name
// begins with that of the program, or else that of the program.
func Handler(program string, ring *history.Ring) *serve.Handler {
	name, err := os.Hostname()
	if err != nil || !strings.HasPrefix(name, program) {
		name = program
	}
	return &serve.Handler{Process: name, Ring: ring}
}
