// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
)

// pairFlags are the flags that Krake follows with two words: the name of a metric, and its weight.
var pairFlags = []string{"--metric", "-m", "--global-metric"}

// pairedKinds are the commands below which create and update have such flags.
var pairedKinds = []string{"cluster", "cloud", "globalcloud", "gcloud", "gc", "project"}

// joinPairs makes one word of the two that follow such a flag, as the parser wants it: "--metric
// load 0.5" becomes "--metric load=0.5". Words that have the weight already are left alone, and so
// is a flag at the end.
func joinPairs(args []string) []string {
	if !takesPairs(args) {
		return args
	}
	joined := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(joined, args[i:]...)
		}
		joined = append(joined, args[i])
		if !slices.Contains(pairFlags, args[i]) || i+1 == len(args) {
			continue
		}
		i++
		name := args[i]
		if i+1 < len(args) && isFirstOfPair(name) && !isFlag(args[i+1]) {
			i++
			name += "=" + args[i]
		}
		joined = append(joined, name)
	}
	return joined
}

func isFirstOfPair(word string) bool { return !strings.ContainsAny(word, "= ") && !isFlag(word) }

// isFlag tells a flag from a negative number, which is a weight, although a wrong one.
func isFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.'
}

// takesPairs looks for the words of these commands. Flags of all commands may stand before them.
func takesPairs(args []string) bool {
	for i, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "create" && i > 0 && slices.Contains(pairedKinds, args[i-1]) {
			return true
		}
	}
	return false
}
