// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
)

// splitResourceName makes two words of the one that names an object after explain, so that it takes
// what `kubectl get --output=name` prints: "explain deployment.apps/nginx" becomes "explain
// deployment nginx".
func splitResourceName(args []string) []string {
	for i := 1; i < len(args); i++ {
		if args[i-1] == "--" {
			break
		}
		kind, name, found := strings.Cut(args[i], "/")
		if args[i-1] == "explain" && found && !isFlag(args[i]) {
			kind, _, _ = strings.Cut(kind, ".")
			return slices.Concat(args[:i], []string{kind, name}, args[i+1:])
		}
	}
	return args
}
