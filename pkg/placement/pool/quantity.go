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
	// maxQuantityLength bounds the text of a quantity that a user wrote, before it is parsed.
	maxQuantityLength = 16

	// maxSumLength bounds the text of a sum of such quantities.
	maxSumLength = 40
)

// quantitySyntax has no exponent: to parse or to compare 1e-2147483647 takes practically for ever.
var quantitySyntax = regexp.MustCompile(`^([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i)?$`)

// ParseQuantity reads an amount such as 5, 0.5, 500m, 10G or 1Gi, of at most maxQuantityLength
// characters. Amounts are not negative, have no exponent and are no larger than Check allows.
func ParseQuantity(text string) (resource.Quantity, error) {
	quantity, err := parse(text, maxQuantityLength)
	if err != nil {
		return resource.Quantity{}, err
	}
	if err := Check(quantity); err != nil {
		return resource.Quantity{}, fmt.Errorf("%q %w", text, err)
	}
	return quantity, nil
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

	// errTooLarge says that an amount is more units than an int64 can hold.
	errTooLarge = errors.New("is too large")

	// errNegative says that an amount is less than 0.
	errNegative = errors.New("must not be negative")

	one     = resource.MustParse("1")
	largest = *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
)

// Powers of ten that are computed with. A quantity that was read without ParseQuantity can be
// 1e2147483647; one finer than a billionth prints as another one.
const (
	largestScale = 100
	finestScale  = 9
)

// Check reports whether an amount can be computed with: it is not negative and not more than
// 2^63-1, the most that a resource.Quantity is meant to hold. Beyond that a Quantity may print as
// another one, or take for ever to compare. The error is errNegative, errTooLarge or ErrTooFine.
func Check(amount resource.Quantity) error {
	if err := checkScale(amount); err != nil {
		return err
	}
	switch {
	case amount.Sign() < 0:
		return errNegative
	case amount.Cmp(largest) > 0:
		return errTooLarge
	}
	return nil
}

func checkScale(amount resource.Quantity) error {
	switch scale := amount.AsDec().Scale(); {
	case scale < -largestScale:
		return errTooLarge
	case scale > finestScale:
		return ErrTooFine
	}
	return nil
}

// Units returns the amount as a number of units. The error is ErrTooFine or errTooLarge; with
// ErrTooFine the number is rounded up.
func Units(amount, unit resource.Quantity) (int64, error) {
	if whole, ok := amount.AsInt64(); ok && unit.Equal(one) {
		return whole, nil
	}
	if amount.IsZero() {
		return 0, nil
	}
	switch err := checkScale(amount); {
	case errors.Is(err, errTooLarge):
		return math.MaxInt64, err
	case err != nil:
		return 1, err
	}
	quotient := new(big.Rat).Quo(rat(amount), rat(unit))
	whole, rest := new(big.Int).QuoRem(quotient.Num(), quotient.Denom(), new(big.Int))
	var err error
	if rest.Sign() != 0 {
		whole.Add(whole, big.NewInt(1))
		err = ErrTooFine
	}
	if !whole.IsInt64() {
		return math.MaxInt64, errTooLarge
	}
	return whole.Int64(), err
}

// UnitsUp returns the amount as a number of units, rounded up and at most what an int64 can hold.
func UnitsUp(amount, unit resource.Quantity) int64 {
	units, err := Units(amount, unit)
	if errors.Is(err, errTooLarge) {
		return math.MaxInt64
	}
	return units
}

// Quantity returns a number of units as an amount. It is false if that is more than an amount can
// be.
func Quantity(units int64, unit resource.Quantity) (resource.Quantity, bool) {
	if unit.Equal(one) {
		return *resource.NewQuantity(units, unit.Format), true
	}
	amount := unit.DeepCopy()
	amount.Mul(units)
	return amount, Check(amount) == nil
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
