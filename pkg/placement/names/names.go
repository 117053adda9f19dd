// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package names shortens names that are made of other names, keeps them apart by a hash, lists the
// first of many, and counts things in words.
// Objects are stored under such names and found again by them: for the same input a [Form] must
// return the same name for ever.
package names

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// Form is how names of one kind are shortened.
type Form struct {
	// Max is the length in bytes up to which Shorten leaves a name as it is.
	Max int

	// Keep is how many bytes of a name are kept before the hash; with 0 the hash stands alone.
	Keep int

	// Trim are the characters that what is kept must not end in.
	Trim string

	// Hash returns a short text that stands for a long one.
	Hash func(string) string
}

// Shorten returns the name if it is no longer than Max, else what Hashed returns of it.
func (f *Form) Shorten(name string) string {
	if len(name) <= f.Max {
		return name
	}
	return f.Hashed(name, name)
}

// Hashed returns the beginning of a name, however short it is, and the hash of what it stands for:
// "shop-web" for "shop/apps/Deployment/web" becomes "shop-web-0123456789abcdef".
func (f *Form) Hashed(name, identity string) string {
	hash := f.Hash(identity)
	if f.Keep == 0 {
		return hash
	}
	return strings.TrimRight(name[:min(len(name), f.Keep)], f.Trim) + "-" + hash
}

// FNV returns the 64-bit FNV-1a hash of a text in 16 hexadecimal digits.
func FNV(text string) string {
	hash := fnv.New64a()
	hash.Write([]byte(text))
	return fmt.Sprintf("%016x", hash.Sum64())
}

// SHA256 returns the first 10 hexadecimal digits of the SHA-256 hash of a text.
func SHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:5])
}

// First joins texts by a separator, but no more than so many of them: of five with most 2 it makes
// "a, b, and 3 more".
func First(texts []string, most int, separator string) string {
	shown := strings.Join(texts[:min(len(texts), most)], separator)
	if more := len(texts) - most; more > 0 {
		shown += fmt.Sprintf("%sand %d more", separator, more)
	}
	return shown
}

// maxMessage is the length in bytes to which messages in the status of objects are clipped.
const maxMessage = 1024

// Count writes a number with what is counted: "1 move", "2 moves".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Are writes a number with what is counted and is said of: "1 pod is", "2 pods are".
func Are(n int, what string) string {
	if n == 1 {
		return Count(n, what) + " is"
	}
	return Count(n, what) + " are"
}

// Clip returns a message with at most maxMessage bytes, the last of which are "..." if something is
// missing.
func Clip(message string) string { return ClipTo(message, maxMessage) }

// ClipTo returns a text with at most so many bytes, which are three at least; the last of them are
// "..." if something is missing.
func ClipTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("...")], "") + "..."
}
