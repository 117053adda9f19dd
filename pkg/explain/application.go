// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/failover"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/rank"
)

// ApplicationAnswer tells why an Application runs in its cluster, or in none. The names of its
// fields are a promise to programs.
type ApplicationAnswer struct {
	Application             string       `json:"application"`
	Namespace               string       `json:"namespace"`
	ScheduledTo             string       `json:"scheduledTo,omitempty"`
	Scheduled               *metav1.Time `json:"scheduled,omitempty"`
	KubeControllerTriggered *metav1.Time `json:"kubeControllerTriggered,omitempty"`
	NextReview              *metav1.Time `json:"nextReview,omitempty"`
	Conditions              []Condition  `json:"conditions"`
	Ranking                 []Ranked     `json:"ranking"`

	Move       *berthv1alpha1.ApplicationMoveStatus `json:"move,omitempty"`
	LeftOut    []berthv1alpha1.LeftOutCluster       `json:"leftOut,omitempty"`
	FailedOver []berthv1alpha1.FailedOverCluster    `json:"failedOver,omitempty"`
	Decisions  []berthv1alpha1.ApplicationDecision  `json:"decisions"`
}

// ApplicationDefaults are what holds for Applications that do not say.
type ApplicationDefaults struct {
	// Stickiness is what the cluster where an Application runs gains.
	Stickiness rank.Stickiness
	// RescheduleAfter is how long a choice stands.
	RescheduleAfter time.Duration
}

// StandardDefaults are those of berth-controller-manager unless its flags say something else.
func StandardDefaults() ApplicationDefaults {
	return ApplicationDefaults{Stickiness: rank.DefaultStickiness, RescheduleAfter: migrate.DefaultRescheduleAfter}
}

// Condition is a condition of an object.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Application ranks all clusters for an Application, by the values of this moment and by what the
// scheduler said of their room when it was asked last, and tells what was decided before.
func Application(
	app *berthv1alpha1.Application, all []berthv1alpha1.Cluster, defaults ApplicationDefaults, now time.Time,
) (*ApplicationAnswer, error) {
	results, err := rankApplication(app, all, defaults.Stickiness, now)
	if err != nil {
		return nil, fmt.Errorf("application %s: %w", app.Name, err)
	}
	status := &app.Status
	answer := &ApplicationAnswer{
		Application: app.Name, Namespace: app.Namespace, ScheduledTo: status.ScheduledTo, Scheduled: status.Scheduled,
		KubeControllerTriggered: status.KubeControllerTriggered, NextReview: nextReview(app, defaults.RescheduleAfter, now),
		Conditions: conditionsOf(status.Conditions), Ranking: RankedOf(results), Move: status.Move, LeftOut: status.LeftOut, FailedOver: status.FailedOver,
		Decisions: append([]berthv1alpha1.ApplicationDecision{}, status.Decisions...),
	}
	return answer, nil
}

// rankApplication compares the clusters as they are now. Only the scheduler knows which of them
// have room, so those that had none when it was asked last stay out.
func rankApplication(
	app *berthv1alpha1.Application, all []berthv1alpha1.Cluster, sticky rank.Stickiness, now time.Time,
) ([]rank.Ranked, error) {
	constraints, err := rank.ParseConstraints(&app.Spec.Constraints)
	if err != nil {
		return nil, err
	}
	candidates := make([]rank.Candidate, len(all))
	for i := range all {
		candidates[i] = rank.ApplicationCandidate(&all[i], app)
	}
	candidates = migrate.WithoutFailed(candidates, app.Status.LeftOut, app.Status.ScheduledTo, now)
	request := rank.ApplicationQuery(app, constraints, sticky)
	results := migrate.Rank(request, candidates, failover.Of(app.Spec.Failover), app.Status.FailedOver, now)
	return request.Require(rank.Room{Lacks: lastLack(app), Further: func(string) bool { return true }}, results), nil
}

// unreadable reports whether nothing is chosen because manifests cannot be read.
func unreadable(status *berthv1alpha1.ApplicationStatus) bool {
	scheduled := apimeta.FindStatusCondition(status.Conditions, berthv1alpha1.ApplicationScheduled)
	return scheduled != nil && scheduled.Reason == berthv1alpha1.ReasonInvalidManifests
}

// lastLack returns what clusters lacked when the scheduler was asked last, by their names.
func lastLack(app *berthv1alpha1.Application) func(cluster string) string {
	lacks := map[string]string{}
	for i := range app.Status.Ranking {
		place := &app.Status.Ranking[i]
		if at := slices.Index(place.Reasons, rank.WithoutRoom); at >= 0 && at+1 < len(place.Reasons) {
			lacks[place.Name] = place.Reasons[at+1]
		}
	}
	return func(cluster string) string { return lacks[cluster] }
}

// nextReview returns when the choice is reviewed next, nil if it is not, or waits for a cluster or
// for manifests that can be read.
func nextReview(app *berthv1alpha1.Application, every time.Duration, now time.Time) *metav1.Time {
	chosen := app.Status.KubeControllerTriggered
	if app.Spec.Suspend || chosen == nil || app.Status.ScheduledTo == "" || unreadable(&app.Status) {
		return nil
	}
	if own := app.Spec.RescheduleAfter; own != nil && own.Duration > 0 {
		every = own.Duration
	}
	next := metav1.NewTime(migrate.NextReview(chosen.Time, every, now))
	return &next
}
