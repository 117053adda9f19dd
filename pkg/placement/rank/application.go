// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// ApplicationQuery returns what a place is looked for on behalf of an application: where it is now
// is what its status says, and the stickiness is its own, completed by the general one.
func ApplicationQuery(app *berthv1alpha1.Application, constraints Constraints, general Stickiness) *Query {
	return &Query{
		UID: string(app.UID), Current: app.Status.ScheduledTo, LastScore: app.Status.Score, Constraints: constraints,
		Stickiness: applicationStickiness(app.Spec.Stickiness, general),
	}
}

// applicationStickiness returns the stickiness of an application, which may set none or a part of
// it, completed by the general one.
func applicationStickiness(own *berthv1alpha1.ApplicationStickiness, general Stickiness) *Stickiness {
	if own != nil && own.Value != nil {
		general.Value = *own.Value
	}
	if own != nil && own.Weight != nil {
		general.Weight = *own.Weight
	}
	return &general
}
