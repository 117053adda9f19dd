// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package values holds the kinds of flag values that berthctl reads: whole numbers in a range, and
// lists of them by cluster. Everything is bounded before it is parsed, and every error says what
// would have been right.
package values

import (
	"fmt"
	"strconv"
)

// Range is a range of whole numbers, both ends included. Neither end may be negative.
type Range struct{ Min, Max int64 }

// parse reads a number in decimal digits. It knows no signs, so a negative number is outside every
// range.
func (r Range) parse(text string) (int64, error) {
	n, ok := digits(text)
	if !ok || n < r.Min || n > r.Max {
		return 0, fmt.Errorf("must be a whole number from %d to %d, not %s", r.Min, r.Max, quote(text))
	}
	return n, nil
}

// digits reads a number that fits an int64.
func digits(text string) (int64, bool) {
	if text == "" || len(text) > len("9223372036854775807") {
		return 0, false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// Number is a flag that holds one number in a range. It is a pflag.Value.
type Number struct {
	within Range
	value  int64
}

// NewNumber returns a number that starts at the lower end of the range.
func NewNumber(within Range) *Number { return &Number{within: within, value: within.Min} }

// Value returns the number.
func (n *Number) Value() int64 { return n.value }

// Set reads the number; an error says which range is allowed.
func (n *Number) Set(text string) error {
	value, err := n.within.parse(text)
	if err != nil {
		return err
	}
	n.value = value
	return nil
}

// String returns the number in decimal digits.
func (n *Number) String() string { return strconv.FormatInt(n.value, 10) }

// Type names the kind of the value in usage texts.
func (n *Number) Type() string { return "number" }

// quoteLimit is how much of a wrong value an error repeats, in bytes.
const quoteLimit = 64

// quote returns a wrong value for an error message, cut off if it is long.
func quote(text string) string {
	if len(text) > quoteLimit {
		return strconv.Quote(text[:quoteLimit]) + "..."
	}
	return strconv.Quote(text)
}
