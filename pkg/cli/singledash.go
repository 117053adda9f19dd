// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
)

// singleDash are the flags that Global Resource Scheduler writes with a single dash.
var singleDash = []string{"filename", "name", "id"}

// longFlags gives these flags the second dash that the parser wants, in the commands of Global
// Resource Scheduler only: elsewhere -name is -n with the namespace "ame".
func longFlags(args []string) []string {
	if !takesSingleDash(args) {
		return args
	}
	changed := slices.Clone(args)
	for i, arg := range changed {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && slices.Contains(singleDash, name) {
			changed[i] = "-" + arg
		}
	}
	return changed
}

// takesSingleDash looks for the words of these commands. Flags of all commands may stand before
// them.
func takesSingleDash(args []string) bool {
	for i, arg := range args {
		switch arg {
		case "--":
			return false
		case "register", "unregister":
			return true
		case "get":
			return i+1 < len(args) && args[i+1] == "cluster"
		}
	}
	return false
}
