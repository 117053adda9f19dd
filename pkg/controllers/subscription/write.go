// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"errors"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// write makes known how a Subscription is divided, and returns it with its new status. Where room
// is promised the promise is written before the policy that makes use of it; otherwise the policy
// is, because no pod may start without it once the status tells of the feed. A copy comes after its
// policy, and before the status, which says what is wrong with it.
func (r *Reconciler) write(ctx context.Context, o *outcome) (*berthv1alpha1.Subscription, error) {
	if o.promises() {
		after := o.withStatus(nil)
		if err := r.writeStatus(ctx, o.object, after); err != nil {
			return after, err
		}
		return after, r.writePromised(ctx, o, after)
	}
	if err := r.writePolicies(ctx, o); err != nil {
		return o.withStatus(nil), err
	}
	missing, err := r.writeCopies(ctx, o)
	after := o.withStatus(missing)
	return after, errors.Join(err, r.writeStatus(ctx, o.object, after))
}

// writePromised writes what makes use of a promise, and removes the copies of a strategy that the
// Subscription had before. What that tells comes into the status too, which was written already.
func (r *Reconciler) writePromised(ctx context.Context, o *outcome, promised *berthv1alpha1.Subscription) error {
	_, failure := r.writeCopies(ctx, o)
	failure = errors.Join(failure, r.writePolicies(ctx, o))
	if o.denied != "" {
		after := o.withStatus(nil)
		after.ResourceVersion = promised.ResourceVersion
		failure = errors.Join(failure, r.writeStatus(ctx, promised, after))
	}
	return failure
}
