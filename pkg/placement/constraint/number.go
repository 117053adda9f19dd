// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package constraint

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"strconv"
)

// Number is an exact decimal number, or infinity. The zero value is not a number and compares with
// nothing.
type Number struct {
	value *big.Rat
	// infinite is 1 or -1 for the two infinities.
	infinite int
}

// number is the syntax of a number. It bounds the digits and the exponent, to 308, before anything
// is computed.
const number = `[+-]?(?:\d{1,60}(?:[.]\d{1,60})?|[.]\d{1,60})(?:[eE][+-]?0?(?:[0-2]?\d{1,2}|30[0-8]))?`

var (
	numberSyntax = regexp.MustCompile(`^(?:` + number + `)$`)

	errNotANumber = errors.New("not a number with up to 60 digits and an exponent between -308 and 308")
)

// ParseNumber reads a decimal number such as 5, -0.5, .5 or 1e3, or inf. The error says what is
// wrong without repeating the text.
func ParseNumber(text string) (Number, error) {
	if text == "inf" {
		return Number{infinite: 1}, nil
	}
	if !numberSyntax.MatchString(text) {
		return Number{}, errNotANumber
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		return Number{}, errNotANumber
	}
	return Number{value: value}, nil
}

// NumberOf returns the number that a float stands for in its shortest decimal form, so that 0.1 is
// 0.1. Not-a-number stays not a number.
func NumberOf(value float64) Number {
	switch {
	case math.IsNaN(value):
		return Number{}
	case math.IsInf(value, 1):
		return Number{infinite: 1}
	case math.IsInf(value, -1):
		return Number{infinite: -1}
	}
	exact, ok := new(big.Rat).SetString(strconv.FormatFloat(value, 'g', -1, 64))
	if !ok {
		return Number{}
	}
	return Number{value: exact}
}

// float returns the float nearest to the number.
func (n Number) float() float64 {
	if n.value == nil {
		return math.Inf(n.infinite)
	}
	nearest, _ := n.value.Float64()
	return nearest
}

// NumberOfInt returns a whole number.
func NumberOfInt(value int64) Number {
	return Number{value: new(big.Rat).SetInt64(value)}
}

// compare returns -1, 0 or 1 as n is less than, equal to or more than other, and false if one of
// them is not a number.
func (n Number) compare(other Number) (order int, ordered bool) {
	if n.infinite == 0 && n.value == nil || other.infinite == 0 && other.value == nil {
		return 0, false
	}
	if n.infinite != 0 || other.infinite != 0 {
		return min(1, max(-1, n.infinite-other.infinite)), true
	}
	return n.value.Cmp(other.value), true
}
