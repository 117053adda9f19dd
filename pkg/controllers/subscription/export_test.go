// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import "time"

// Later has a function called instead of the queue of the controller.
func (r *Reconciler) Later(ask func(time.Duration)) { r.later.Store(&ask) }
