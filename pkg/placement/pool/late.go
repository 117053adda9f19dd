// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

// Withheld returns how many units of a pool a scheduler must not give out yet that has taken over
// from another one, because Bindings which that one has sent may still arrive. Free is how many
// units were free when it took over: a late Binding can only use these. Claimed is how many the
// pods ask for together to which one may still happen. What has become free since is given out at
// once.
//
// Of a pool of 5 units 3 were held at the take-over, and pods that asked for 4 waited: 2 are
// withheld, and a third unit that comes back can be given out. If the pods that waited asked for 1,
// then 1 is withheld. Once all of them are known not to be bound by a late Binding, nothing is.
func Withheld(free, claimed int64) int64 {
	return max(0, min(free, claimed))
}
