// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// MaxQuantityLength bounds the text of a quantity that a user wrote, before it is parsed.
	MaxQuantityLength = 16

	// maxSumLength bounds the text of a sum of such quantities.
	maxSumLength = 40
)

// quantitySyntax has no exponent: to parse or to compare 1e-2147483647 takes practically for ever.
var quantitySyntax = regexp.MustCompile(`^([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i)?$`)

// ParseQuantity reads an amount such as 5, 0.5, 500m, 10G or 1Gi, of at most MaxQuantityLength characters. Amounts are not
// negative and have no exponent.
func ParseQuantity(text string) (resource.Quantity, error) {
	return parse(text, MaxQuantityLength)
}

// ParseSum reads an amount that was summed up from such quantities, as Quantity.String writes it.
func ParseSum(text string) (resource.Quantity, error) {
	return parse(text, maxSumLength)
}

func parse(text string, maxLength int) (resource.Quantity, error) {
	if len(text) > maxLength {
		return resource.Quantity{}, fmt.Errorf("a quantity has at most %d characters", maxLength)
	}
	if !quantitySyntax.MatchString(text) {
		return resource.Quantity{}, fmt.Errorf("%q is not a quantity such as 5, 500m, 10G or 1Gi", text)
	}
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return resource.Quantity{}, fmt.Errorf("%q is not a quantity: %w", text, err)
	}
	return quantity, nil
}

var (
	// ErrTooFine says that an amount is no multiple of the unit.
	ErrTooFine = errors.New("is no multiple of the unit")

	// ErrTooLarge says that an amount is more units than an int64 can hold.
	ErrTooLarge = errors.New("is too large")

	one = resource.MustParse("1")
)

// Units returns the amount as a number of units. The error is ErrTooFine or ErrTooLarge; with ErrTooFine the number is
// rounded up.
func Units(amount, unit resource.Quantity) (int64, error) {
	if whole, ok := amount.AsInt64(); ok && unit.Equal(one) {
		return whole, nil
	}
	quotient := new(big.Rat).Quo(rat(amount), rat(unit))
	whole, rest := new(big.Int).QuoRem(quotient.Num(), quotient.Denom(), new(big.Int))
	var err error
	if rest.Sign() != 0 {
		whole.Add(whole, big.NewInt(1))
		err = ErrTooFine
	}
	if !whole.IsInt64() {
		return math.MaxInt64, ErrTooLarge
	}
	return whole.Int64(), err
}

func rat(q resource.Quantity) *big.Rat {
	dec := q.AsDec()
	r := new(big.Rat).SetInt(dec.UnscaledBig())
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(dec.Scale(), -dec.Scale()))), nil)
	if dec.Scale() < 0 {
		return r.Mul(r, new(big.Rat).SetInt(scale))
	}
	return r.Quo(r, new(big.Rat).SetInt(scale))
}
