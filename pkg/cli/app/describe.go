// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clusters"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/feeds/manifest"
)

// describe returns a row for each property. A property with several values has several rows.
func describe(app *berthv1alpha1.Application) [][]any {
	constraints := &app.Spec.Constraints
	d := &description{}
	d.add("name", app.Name)
	d.add("namespace", app.Namespace)
	d.add("labels", labels(app.Labels)...)
	d.add("cluster", app.Status.ScheduledTo)
	d.add("score", score(app))
	d.add("scheduled", moment(app.Status.Scheduled))
	d.add("kube controller triggered", moment(app.Status.KubeControllerTriggered))
	d.add("migration", string(app.Spec.Migration))
	d.add("reschedule after", after(app.Spec.RescheduleAfter))
	d.add("label constraints", constraints.ClusterLabels...)
	d.add("metric constraints", constraints.ClusterMetrics...)
	d.add("resource constraints", constraints.CustomResources...)
	d.add("objects", titles(app.Spec.Manifests)...)
	for _, condition := range []string{berthv1alpha1.ApplicationScheduled, berthv1alpha1.ApplicationReady} {
		v := conditionOf(app, condition)
		d.add(strings.ToLower(condition), strings.TrimSpace(v.status+" "+v.reason), v.message)
	}
	return d.rows
}

// description is a table of properties.
type description struct {
	rows [][]any
}

// add adds a row for each value that there is, <none> if there is none.
func (d *description) add(field string, values ...string) {
	values = slices.DeleteFunc(slices.Clone(values), func(value string) bool { return value == "" })
	if len(values) == 0 {
		values = []string{clusters.OrNone("")}
	}
	for i, value := range values {
		if i > 0 {
			field = ""
		}
		d.rows = append(d.rows, []any{field, output.OneLine(value)})
	}
}

func labels(of map[string]string) []string {
	all := make([]string, 0, len(of))
	for _, key := range slices.Sorted(maps.Keys(of)) {
		all = append(all, key+"="+of[key])
	}
	return all
}

func moment(when *metav1.Time) string {
	if when == nil {
		return ""
	}
	return when.UTC().Format(time.RFC3339) + ", " + since(when) + " ago"
}

func after(d *metav1.Duration) string {
	if d == nil {
		return ""
	}
	return d.Duration.String()
}

// titles returns the objects as "deployment/shop".
func titles(manifests []berthv1alpha1.Manifest) []string {
	all := make([]string, 0, len(manifests))
	for i := range manifests {
		title := "not an object"
		if object, err := manifest.Decode(manifests[i].Raw); err == nil {
			if id, err := object.Identity(); err == nil {
				title = strings.ToLower(id.Kind) + "/" + id.Name
			}
		}
		all = append(all, title)
	}
	return all
}
