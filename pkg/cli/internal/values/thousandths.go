// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
	"strings"
)

// Thousandths is a flag that holds a decimal number with at most three digits behind the point,
// counted in thousandths. It is a pflag.Value.
type Thousandths struct {
	within Range
	value  int64
}

// NewThousandths returns a number that is 0 until it is set; the range is in thousandths.
func NewThousandths(within Range) *Thousandths {
	return &Thousandths{within: within}
}

// Value returns the number in thousandths.
func (n *Thousandths) Value() int64 { return n.value }

// Set reads the number; an error says which range is allowed.
func (n *Thousandths) Set(text string) error {
	whole, part, point := strings.Cut(text, ".")
	if len(part) <= 3 && (!point || part != "") && len(whole) <= 9 {
		if value, ok := digits(whole + part + "000"[len(part):]); ok && whole != "" && value >= n.within.Min && value <= n.within.Max {
			n.value = value
			return nil
		}
	}
	return fmt.Errorf("must be a number from %s to %s with at most three digits behind the point, not %s",
		thousandths(n.within.Min), thousandths(n.within.Max), quote(text))
}

// String returns the number with two or three digits behind the point.
func (n *Thousandths) String() string { return thousandths(n.value) }

// Type names the kind of the value in usage texts.
func (n *Thousandths) Type() string { return "number" }

func thousandths(value int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%d.%03d", value/1000, value%1000), "0")
}
