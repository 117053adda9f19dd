// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"berth.dev/berth/pkg/model/topology"
)

// writeEach writes every Cluster of a snapshot, in the order of their names, and asks for the next
// pass at the earliest time after which there is more to write: that is what write returns, 0 for
// never. One Cluster that cannot be written keeps no other from being written.
func writeEach(snapshot *topology.Snapshot, write func(*topology.Cluster) (time.Duration, error)) (reconcile.Result, error) {
	clusters := snapshot.Clusters()
	var result reconcile.Result
	errs := make([]error, 0, len(clusters))
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		again, err := write(clusters[name])
		if apierrors.IsConflict(err) {
			// The cache lags behind, or another controller wrote its conditions in between.
			again, err = afterConflict, nil
		}
		if again > 0 && (result.RequeueAfter == 0 || again < result.RequeueAfter) {
			result.RequeueAfter = again
		}
		errs = append(errs, err)
	}
	return result, errors.Join(errs...)
}
