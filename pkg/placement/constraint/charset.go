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

// isKey reports whether a text is "[prefix/]name".
func isKey(key string) bool {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		return isPart(key, maxPartLength)
	}
	return isPart(prefix, maxPrefixLength) && isPart(name, maxPartLength)
}

// isPart reports whether a text can be a name or value: it has one to most letters, digits, '_',
// '-' and '.', and starts and ends with a letter, digit or '_'.
func isPart(text string, most int) bool {
	if text == "" || len(text) > most {
		return false
	}
	for i := range len(text) {
		if !letter(text[i]) && text[i] != '-' && text[i] != '.' {
			return false
		}
	}
	return letter(text[0]) && letter(text[len(text)-1])
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
