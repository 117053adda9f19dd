// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// maxQuantityLength bounds a quantity before it is parsed, and maxExponent what it can grow or
// shrink to: to parse or to compare 1e-2147483647 takes practically for ever.
const (
	maxQuantityLength = 32
	maxExponent       = 18
)

var (
	quantitySyntax = regexp.MustCompile(`^(-?)\+?([0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,2})|[numkMGTPE]|[KMGTPE]i)?$`)

	// maxQuantity is the largest number whose thousandths fit an int64, in which schedulers count cpu.
	maxQuantity = *resource.NewQuantity(math.MaxInt64/1000, resource.DecimalSI)

	errTooLarge = fmt.Errorf("is larger than %s", maxQuantity.String())
)

// quantities are amounts by name of the resource.
type quantities map[corev1.ResourceName]quantity

func (q quantities) list() corev1.ResourceList {
	if len(q) == 0 {
		return nil
	}
	list := make(corev1.ResourceList, len(q))
	for name, amount := range q {
		list[name] = amount.Quantity
	}
	return list
}

// quantity is an amount that is bounded before it is parsed.
type quantity struct{ resource.Quantity }

// UnmarshalJSON reads an amount, written as a text or as a number. Nothing is 0.
func (q *quantity) UnmarshalJSON(raw []byte) error {
	text := string(raw)
	if text == "null" {
		return nil
	}
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
	}
	amount, err := ParseQuantity(text)
	if err != nil {
		return fmt.Errorf("the quantity %.40q %w", text, err)
	}
	q.Quantity = amount
	return nil
}

// ParseQuantity reads an amount that somebody else wrote, such as 500m or 1Gi. It is what
// resource.ParseQuantity is for texts that are trusted: it refuses what is negative, and what would
// take practically for ever to parse or to compare.
func ParseQuantity(text string) (resource.Quantity, error) {
	if len(text) > maxQuantityLength {
		return resource.Quantity{}, fmt.Errorf("has more than %d characters", maxQuantityLength)
	}
	parts := quantitySyntax.FindStringSubmatch(text)
	if parts == nil {
		return resource.Quantity{}, errors.New("must be a number such as 2, 0.5, 500m or 1Gi")
	}
	if parts[1] != "" {
		return resource.Quantity{}, errors.New("must not be negative")
	}
	if parts[3] != "" {
		if exponent, err := strconv.Atoi(parts[3]); err != nil || exponent < -maxExponent || exponent > maxExponent {
			return resource.Quantity{}, fmt.Errorf("must have an exponent from -%d to %d", maxExponent, maxExponent)
		}
	}
	amount, err := resource.ParseQuantity(text)
	if err != nil {
		return resource.Quantity{}, errors.New("must be a number such as 2, 0.5, 500m or 1Gi")
	}
	if amount.Cmp(maxQuantity) > 0 {
		return resource.Quantity{}, errTooLarge
	}
	return amount, nil
}
