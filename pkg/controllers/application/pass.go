// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/names"
)

// pass is one pass over one Application.
type pass struct {
	// app is worked on; stored is what the API server has.
	app, stored *berthv1alpha1.Application
	memo        *memo
	now         time.Time
	next        time.Duration
	// lost is a cluster that was given up just now, and that cannot be left for where it came from.
	lost string
	// ended is the move that was under way and ended just now without having been done.
	ended *berthv1alpha1.ApplicationMoveStatus
	// offline is what is known of the cluster where it runs, if that is offline.
	offline offline
	// contested are the objects that somebody else changes again and again, in words.
	contested []string
	// unknown is what a first choice does without.
	unknown []string
}

// working returns a copy to work on. The ranking is shared, because it is replaced and never
// changed: to copy and compare it would be most of the work of a pass that changes nothing.
func working(stored *berthv1alpha1.Application) *berthv1alpha1.Application {
	bare := *stored
	bare.Status.Ranking = nil
	app := bare.DeepCopy()
	app.Status.Ranking = stored.Status.Ranking
	return app
}

// again asks for another pass after a while.
func (p *pass) again(after time.Duration) {
	after = max(after, time.Millisecond)
	if p.next == 0 || after < p.next {
		p.next = after
	}
}

// writeStatus writes the status if it has changed.
func (r *Reconciler) writeStatus(ctx context.Context, p *pass) error {
	// That nothing has changed at all, as in most passes, is found out faster without the meaning.
	was, is := &p.stored.Status, &p.app.Status
	if reflect.DeepEqual(was, is) || apiequality.Semantic.DeepEqual(was, is) {
		return nil
	}
	patch := client.MergeFromWithOptions(p.stored, client.MergeFromWithOptimisticLock{})
	written := p.app.DeepCopy()
	if err := r.Client.Status().Patch(ctx, written, patch); err != nil {
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return client.IgnoreNotFound(err)
		}
		return fmt.Errorf("writing the status of application %s/%s: %w", p.app.Namespace, p.app.Name, err)
	}
	p.stored, p.app = written, working(written)
	return nil
}

// unreadable tells that the manifests cannot be read. Nothing is chosen for what cannot be made,
// and nothing moves of which nobody can tell what it is.
func (p *pass) unreadable(why error) {
	const until = " until the manifests can be read"
	chosen := "no cluster is chosen" + until
	if p.app.Status.ScheduledTo != "" {
		chosen = "cluster " + p.app.Status.ScheduledTo + " stays chosen" + until
	}
	suits := apimeta.IsStatusConditionTrue(p.app.Status.Conditions, berthv1alpha1.ApplicationScheduled)
	p.condition(berthv1alpha1.ApplicationScheduled, suits, berthv1alpha1.ReasonInvalidManifests, chosen)
	p.condition(berthv1alpha1.ApplicationReady, false, berthv1alpha1.ReasonInvalidManifests, why.Error())
	if p.app.Status.Move != nil {
		p.condition(berthv1alpha1.ApplicationMoving, true, berthv1alpha1.ReasonInvalidManifests, "the move rests"+until)
	}
	p.seen()
}

// changed reports whether the spec is another one than was decided about last, or could not be read
// until now.
func (p *pass) changed() bool {
	return p.app.Generation != p.app.Status.ObservedGeneration || reasonOf(p.app) == berthv1alpha1.ReasonInvalidManifests
}

// seen notes that the spec has been looked at as it is, and that how the last move ended is still
// to be told of it.
func (p *pass) seen() {
	p.app.Status.ObservedGeneration = p.app.Generation
	if told := apimeta.FindStatusCondition(p.app.Status.Conditions, berthv1alpha1.ApplicationMoving); told != nil {
		told.ObservedGeneration = p.app.Generation
	}
}

// condition sets a condition of the Application.
func (p *pass) condition(kind string, holds bool, reason, message string) {
	status := metav1.ConditionFalse
	if holds {
		status = metav1.ConditionTrue
	}
	apimeta.SetStatusCondition(&p.app.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: names.Clip(message), ObservedGeneration: p.app.Generation,
	})
}
