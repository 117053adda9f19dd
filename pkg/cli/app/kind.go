// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
	"berth.dev/berth/pkg/cli/internal/kinds"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/placement/rank"
)

const listLong = `List Applications.

  CLUSTER    the cluster that was chosen
  SCORE      its score when it was last compared with others
  SCHEDULED  how long ago it was chosen
  READY      True once the objects are there and their pods are ready
  REASON     why none was chosen, else why it is not ready, else why it was chosen

With -o wide also MIGRATION and the number of OBJECTS.`

const listExample = `  # Of all namespaces
  berthctl app list -A

  # What runs where, for a program
  berthctl app list -o json | jq '.items[] | {(.metadata.name): .status.scheduledTo}'`

const getLong = `Show an Application: where it runs, since when, what it asks of a cluster, and what it consists of.

SCORE is the score of the cluster when it was last compared with others.`

const getExample = `  # For people
  berthctl app get shop

  # The cluster, for a program
  berthctl app get shop -o json | jq -r .status.scheduledTo`

const deleteLong = `Delete an Application, and with it the objects that Berth made for it.`

const deleteExample = `  berthctl app delete shop`

// applications has the commands app list, app get and app delete.
var applications = kinds.Kind[*berthv1alpha1.Application, *berthv1alpha1.ApplicationList]{
	Name: kind, Title: "Application", Command: "app",
	API: func(clients client.Clients, namespace string) kinds.API[*berthv1alpha1.Application, *berthv1alpha1.ApplicationList] {
		return clients.Berth.BerthV1alpha1().Applications(namespace)
	},
	Columns: []output.Column{
		{Name: "Cluster"}, {Name: "Score"}, {Name: "Scheduled"}, {Name: "Ready"}, {Name: "Reason"},
		{Name: "Migration", Wide: true}, {Name: "Objects", Wide: true},
	},
	Row: func(app *berthv1alpha1.Application) []any {
		return []any{
			clusters.OrNone(app.Status.ScheduledTo), score(app), since(app.Status.Scheduled),
			conditionOf(app, berthv1alpha1.ApplicationReady).status, clusters.OrNone(reason(app)),
			string(app.Spec.Migration), len(app.Spec.Manifests),
		}
	},
	Details: describe,
	List:    kinds.Help{Long: listLong, Example: listExample},
	Get:     kinds.Help{Short: "Show an Application", Long: getLong, Example: getExample},
	Delete:  kinds.Help{Short: "Delete an Application and its objects", Long: deleteLong, Example: deleteExample},
}

// reason is what stands in the way of the application, else why its cluster was chosen.
func reason(app *berthv1alpha1.Application) string {
	scheduled, ready := conditionOf(app, berthv1alpha1.ApplicationScheduled), conditionOf(app, berthv1alpha1.ApplicationReady)
	if scheduled.status == string(metav1.ConditionTrue) && ready.status == string(metav1.ConditionFalse) {
		return ready.reason
	}
	return scheduled.reason
}

// score returns the score for people.
func score(app *berthv1alpha1.Application) string {
	if app.Status.Score == nil {
		return clusters.OrNone("")
	}
	return rank.Digits(*app.Status.Score)
}

// since returns how long ago something happened.
func since(when *metav1.Time) string {
	if when == nil {
		return clusters.OrNone("")
	}
	return duration.HumanDuration(time.Since(when.Time))
}

// verdict is a condition for people.
type verdict struct {
	status, reason, message string
}

func conditionOf(app *berthv1alpha1.Application, kind string) verdict {
	condition := apimeta.FindStatusCondition(app.Status.Conditions, kind)
	if condition == nil {
		return verdict{status: string(metav1.ConditionUnknown)}
	}
	return verdict{status: string(condition.Status), reason: condition.Reason, message: condition.Message}
}
