// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// ApplicationStickiness returns the stickiness of an application, which may set none or a part of
// it, completed by the general one.
func ApplicationStickiness(own *berthv1alpha1.ApplicationStickiness, general Stickiness) *Stickiness {
	if own != nil && own.Value != nil {
		general.Value = *own.Value
	}
	if own != nil && own.Weight != nil {
		general.Weight = *own.Weight
	}
	return &general
}
