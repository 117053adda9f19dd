// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package constraint

import (
	"strings"
)

const (
	maxPartLength   = 63
	maxPrefixLength = 253
)

// checkKey returns what is wrong with a key, "[prefix/]name", empty if nothing is.
func checkKey(key string) string {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		name = key
	} else if message := checkText(prefix, maxPrefixLength); message != "" {
		return "the part before the slash " + message
	}
	if message := checkPart(name); message != "" {
		return "the name " + message
	}
	return ""
}

// checkPart returns what is wrong with a name or value: it has 1 to 63 letters, digits, '_', '-' and '.', and starts and
// ends with a letter, digit or '_'.
func checkPart(text string) string {
	return checkText(text, maxPartLength)
}

func checkText(text string, most int) string {
	switch {
	case text == "":
		return "must not be empty"
	case len(text) > most:
		if most == maxPartLength {
			return "must have at most 63 characters"
		}
		return "must have at most 253 characters"
	}
	for i := range len(text) {
		if !letter(text[i]) && text[i] != '-' && text[i] != '.' {
			return "must have only letters, digits, '_', '-' and '.'"
		}
	}
	if !letter(text[0]) || !letter(text[len(text)-1]) {
		return "must start and end with a letter, a digit or '_'"
	}
	return ""
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
