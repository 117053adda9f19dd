// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cyclestate reads what a plugin has kept in the state of a scheduling cycle.
package cyclestate

import (
	"fmt"

	fwk "k8s.io/kube-scheduler/framework"
)

// Read returns what a plugin has written under the key in this cycle. It returns the zero value of
// T, which is nil for a pointer, if there is nothing: PreFilter has skipped or rejected the pod, or
// has not run. It allocates nothing.
func Read[T fwk.StateData](cycle fwk.CycleState, key fwk.StateKey) T {
	data, _ := cycle.Read(key) // the only error is that there is nothing
	state, _ := data.(T)
	return state
}

// Missing returns the status of an extension point that the framework must not call without the
// state under the key. It is a fault of the framework or of the plugin.
func Missing(key fwk.StateKey) *fwk.Status {
	return fwk.AsStatus(fmt.Errorf("%q is not in the cycle state", key))
}
