// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package amount tells quantities to people.
package amount

import (
	"math/big"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Text returns exactly how much a quantity is: as Kubernetes writes it, but for parts of more than
// one whole, which are 4996.3 and not 4996300m.
func Text(q resource.Quantity) string {
	text := q.String()
	if !strings.ContainsAny(text[len(text)-1:], "mun") || q.CmpInt64(1) < 0 {
		return text
	}
	return strings.TrimRight(q.AsDec().String(), "0")
}

// unit is a suffix of quantities.
type unit struct {
	suffix string
	size   int64
}

var (
	binary  = []unit{{"Ei", 1 << 60}, {"Pi", 1 << 50}, {"Ti", 1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}}
	decimal = []unit{{"E", 1e18}, {"P", 1e15}, {"T", 1e12}, {"G", 1e9}, {"M", 1e6}}
)

// AtLeast returns a short text for a quantity that is not less, and hardly more: 31.3Gi for
// 32780148Ki.
func AtLeast(q resource.Quantity) string {
	units := decimal
	if q.Format == resource.BinarySI {
		units = binary
	}
	for _, u := range units {
		if q.CmpInt64(u.size) >= 0 {
			return tenths(q.Value(), u.size) + u.suffix
		}
	}
	return Text(q)
}

// tenths divides, and rounds up to a tenth.
func tenths(value, by int64) string {
	const parts = 10
	n := new(big.Int).Mul(big.NewInt(value), big.NewInt(parts))
	n.Add(n, big.NewInt(by-1)).Div(n, big.NewInt(by))
	whole, tenth := new(big.Int).DivMod(n, big.NewInt(parts), new(big.Int))
	if tenth.Sign() == 0 {
		return whole.String()
	}
	return whole.String() + "." + tenth.String()
}
