// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads Kubernetes objects that somebody else wrote, as JSON or YAML. It takes no
// text on trust: size, nesting and numbers are bounded before anything is made of them, aliases and
// duplicate keys are refused, and every error says what is wrong in one line.
package manifest

import "errors"

const (
	// MaxInputSize bounds a file of manifests, in bytes.
	MaxInputSize = 4 << 20

	// MaxObjectSize bounds a single object and a YAML document, in bytes. An API server stores
	// hardly larger objects.
	MaxObjectSize = 1 << 20

	// MaxDepth bounds how deep maps and lists are nested.
	MaxDepth = 100

	// maxObjects bounds the objects of a file, and its documents.
	maxObjects = 10_000

	// maxNumberLength bounds a number, in characters.
	maxNumberLength = 64
)

var (
	errTooDeep = errors.New("maps and lists are nested more than 100 levels deep")
	errNotUTF8 = errors.New("this is no UTF-8 text")
	errNoMap   = errors.New("this is no object: a map with apiVersion and kind is expected")
)
