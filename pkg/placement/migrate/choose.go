// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"slices"

	"berth.dev/berth/pkg/placement/rank"
)

// Application is what decides whether an application moves.
type Application struct {
	// Current is the cluster that is chosen for it, empty for none.
	Current string
	// Never reports whether it stays in the first cluster that was chosen for it.
	Never bool
	// Moving reports whether one of its workloads is still on its way to Current.
	Moving bool
	// Waits reports whether Current is offline, and not left yet.
	Waits bool
	// Closed reports whether a move to a better cluster may not begin now.
	Closed bool
}

// Choose returns the cluster where the application should be, given all clusters from the best to
// the worst. It stays where it is while no cluster is eligible, and while it is moving to a cluster
// that still is, or while it waits for one that is offline, or may not begin to leave one that
// still is. The result is empty if the application has no cluster yet and none is eligible.
func Choose(app Application, ranking []rank.Ranked) string {
	if len(ranking) == 0 || !ranking[0].Eligible {
		return app.Current
	}
	if app.Current == "" {
		return ranking[0].Name
	}
	suits := slices.ContainsFunc(ranking, func(r rank.Ranked) bool { return r.Name == app.Current && r.Eligible })
	if app.Never || app.Waits || suits && (app.Moving || app.Closed) {
		return app.Current
	}
	return ranking[0].Name
}
