// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rendezvous

// Logarithms with a fixed number of binary digits, of which tests look at single values.
var MinusLog2 = minusLog2

// One is 1 with that number of digits.
const One = 1 << fraction
