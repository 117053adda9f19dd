// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Publishable returns how much of a pool is published as allocatable. That is what is declared,
// unless the pool has become smaller and more is granted than that. Then it is what was published
// before, so that never more is granted than is allocatable, until the grants have shrunk to what
// is declared or to what pods hold, below which they cannot shrink.
//
// An example: of a pool of 10 units, 10 are granted and pods hold 4. Once 6 are declared, 10 stay
// published until no more than 6 are granted. Had pods held 8, 6 would be published once 8 are
// granted.
func Publishable(declared, before, granted, held resource.Quantity) resource.Quantity {
	smaller := before.Cmp(declared) > 0
	if smaller && granted.Cmp(declared) > 0 && granted.Cmp(held) > 0 {
		return before
	}
	return declared
}
