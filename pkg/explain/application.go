// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
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
	Conditions              []Condition  `json:"conditions"`
	Ranking                 []Ranked     `json:"ranking"`
}

// Condition is a condition of an object.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Application ranks all clusters for an Application, by the values of this moment.
func Application(
	app *berthv1alpha1.Application, all []berthv1alpha1.Cluster, sticky rank.Stickiness,
) (*ApplicationAnswer, error) {
	constraints, err := rank.ParseConstraints(&app.Spec.Constraints)
	if err != nil {
		return nil, fmt.Errorf("application %s: %w", app.Name, err)
	}
	candidates := make([]rank.Candidate, len(all))
	for i := range all {
		candidates[i] = rank.ApplicationCandidate(&all[i], app)
		if all[i].Name == app.Status.ScheduledTo {
			candidates[i].LastScore = app.Status.Score
		}
	}
	results := rank.Rank(&rank.Request{
		UID: string(app.UID), Current: app.Status.ScheduledTo, Constraints: constraints,
		Stickiness: rank.ApplicationStickiness(app.Spec.Stickiness, sticky),
	}, candidates)
	answer := &ApplicationAnswer{
		Application: app.Name, Namespace: app.Namespace, ScheduledTo: app.Status.ScheduledTo, Scheduled: app.Status.Scheduled,
		KubeControllerTriggered: app.Status.KubeControllerTriggered,
		Conditions:              []Condition{}, Ranking: RankedOf(results),
	}
	for _, c := range app.Status.Conditions {
		answer.Conditions = append(answer.Conditions, Condition{c.Type, string(c.Status), c.Reason, c.Message})
	}
	return answer, nil
}
