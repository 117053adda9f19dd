// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/failover"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/rank"
)

// maxFailedOver is how many clusters the status lists that were left because they were offline.
const maxFailedOver = 20

// offline is the cluster of an Application that is offline; the zero value if it is not.
type offline struct {
	cluster string
	since   time.Time
	// waits reports whether it is not left yet, and until is when it is, the zero time for never.
	waits bool
	until time.Time
}

// leftBefore brings the list of clusters up to date that were left because they were offline, and
// returns by what rule others are.
func (p *pass) leftBefore(candidates []rank.Candidate) failover.Rule {
	rule := failover.Of(p.app.Spec.Failover)
	p.app.Status.FailedOver = migrate.StillLeft(p.app.Status.FailedOver, rule, p.app.Status.ScheduledTo, candidates, p.now)
	return rule
}

// waitsForCluster finds out whether the cluster where the Application runs is offline, and whether
// it is left because of that.
func (p *pass) waitsForCluster(rule failover.Rule, candidates []rank.Candidate, results []rank.Ranked) {
	i := slices.IndexFunc(candidates, func(c rank.Candidate) bool { return c.Name == p.app.Status.ScheduledTo })
	if i < 0 || candidates[i].Unavailable != rank.Offline {
		return
	}
	p.offline = offline{cluster: candidates[i].Name, since: candidates[i].Since}
	p.offline.waits, p.offline.until = migrate.Offline(rule, &candidates[i], results, p.now)
	if !p.offline.until.IsZero() {
		p.again(p.offline.until.Sub(p.now))
	}
}

// tellOffline tells that the Application stays in a cluster that is offline, and why.
func (p *pass) tellOffline(results []rank.Ranked) {
	o := &p.offline
	message := "cluster " + o.cluster + " is offline"
	if !o.since.IsZero() {
		message += " since " + o.since.UTC().Format(time.RFC3339)
	}
	reason := berthv1alpha1.ReasonClusterOffline
	switch {
	case p.never():
		message += "; " + p.whyStays()
	case o.waits && o.until.IsZero():
		message += "; failover.after is Never, so it stays there"
	case o.waits:
		message += fmt.Sprintf("; it is left at %s if another one is eligible then", o.until.UTC().Format(time.RFC3339))
	default:
		reason = berthv1alpha1.ReasonNoClusterMatches
		message += "; it stays there, since " + rank.Unmatched(results)
	}
	p.condition(berthv1alpha1.ApplicationScheduled, false, reason, message)
}

// noteFailover remembers that a cluster was left because it was offline.
func (p *pass) noteFailover(before string) {
	if p.app.Spec.Failover == nil || p.offline.cluster != before {
		return
	}
	p.app.Status.FailedOver = append(p.app.Status.FailedOver, berthv1alpha1.FailedOverCluster{
		Cluster: before, Time: metav1.NewTime(p.now).Rfc3339Copy(),
	})
	p.app.Status.FailedOver = p.app.Status.FailedOver[max(0, len(p.app.Status.FailedOver)-maxFailedOver):]
}

// presses reports whether the cluster where the Application runs gives cause for a review at once:
// what is there has to leave it, or it has gone offline or come back.
func (r *Reconciler) presses(ctx context.Context, p *pass) (bool, error) {
	name := p.app.Status.ScheduledTo
	var cluster berthv1alpha1.Cluster
	if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, &cluster); err != nil {
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return false, fmt.Errorf("reading cluster %s: %w", name, err)
	}
	if cluster.Spec.Drain || !agrees(p.app, &cluster) {
		return true, nil
	}
	if reasonOf(p.app) != berthv1alpha1.ReasonClusterOffline || p.never() {
		return false, nil
	}
	online := cluster.Online()
	if online == nil {
		return false, nil
	}
	at, leaves := failover.Of(p.app.Spec.Failover).LeaveAt(online.LastTransitionTime.Time)
	if leaves && p.now.Before(at) {
		p.again(at.Sub(p.now))
	}
	return leaves && !p.now.Before(at), nil
}

// agrees reports whether what an Application with a failover tells of its cluster goes with whether
// that is offline.
func agrees(app *berthv1alpha1.Application, cluster *berthv1alpha1.Cluster) bool {
	if app.Spec.Failover == nil {
		return true
	}
	if rank.Unavailable(cluster) == rank.Offline {
		return !apimeta.IsStatusConditionTrue(app.Status.Conditions, berthv1alpha1.ApplicationScheduled)
	}
	return reasonOf(app) != berthv1alpha1.ReasonClusterOffline
}

// reasonOf returns the reason of the condition that reports on the choice.
func reasonOf(app *berthv1alpha1.Application) string {
	if told := apimeta.FindStatusCondition(app.Status.Conditions, berthv1alpha1.ApplicationScheduled); told != nil {
		return told.Reason
	}
	return ""
}
