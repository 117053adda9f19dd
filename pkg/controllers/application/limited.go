// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/movelimit"
)

// limited returns the chosen cluster, or the current one while too many pods move to begin a move.
// What is under way is not limited: where it goes on has been counted when it began.
func (r *Reconciler) limited(p *pass, app migrate.Application, chosen string, objects []*object, seen *observed) string {
	if app.Current != "" && chosen != app.Current && !app.Moving && p.lost == "" && leaves(app.Current, objects, seen) {
		claim := movelimit.Claim{Key: string(p.app.UID), Cluster: chosen, Priority: seen.priority}
		for _, o := range objects {
			if o.startFirst || p.app.Spec.Migration == berthv1alpha1.MigrationStopFirst {
				claim.Pods += o.wants(p.app, seen)
			}
		}
		if wait := r.Moves.Begin(claim); wait > 0 {
			p.again(wait)
			p.condition(berthv1alpha1.ApplicationMoving, false, berthv1alpha1.ReasonMovesLimited,
				fmt.Sprintf("cluster %s is better; the move waits for --max-moves-per-minute or --max-moves-per-cluster of the controller manager",
					chosen))
			return app.Current
		}
	}
	if p.waitsForTurn() {
		p.waitsForNothing()
	}
	return chosen
}

// waitsForNothing takes back that a move waits for its turn or for a window.
func (p *pass) waitsForNothing() {
	told := apimeta.FindStatusCondition(p.app.Status.Conditions, berthv1alpha1.ApplicationMoving)
	if told != nil && (told.Reason == berthv1alpha1.ReasonMovesLimited || told.Reason == berthv1alpha1.ReasonWindowClosed) {
		apimeta.RemoveStatusCondition(&p.app.Status.Conditions, berthv1alpha1.ApplicationMoving)
	}
}

// waitsForTurn reports whether a move that pays waits for its turn. The choice is reviewed in each
// pass then, and since that stands in the status, a restart of the controller does not change it.
func (p *pass) waitsForTurn() bool {
	told := apimeta.FindStatusCondition(p.app.Status.Conditions, berthv1alpha1.ApplicationMoving)
	return told != nil && told.Reason == berthv1alpha1.ReasonMovesLimited
}
