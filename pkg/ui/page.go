// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"net/url"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// page is what a document shows. The templates write it.
type page struct {
	// Title is the heading; Kind is what the object is, empty for a view of many.
	Title, Kind string
	// View is the address of the view that the page belongs to.
	View string
	// Notes say what is left out and why.
	Notes []string
	// Reasons are the explanation of an object.
	Reasons []string
	Facts   []fact
	Tables  []*table
	// Filter is what the tables are filtered by.
	Filter string
	// At is when the figures were true, Stale since when they may not be any more; empty if they
	// are up to date.
	At, Stale string
	// Version tells what the page was made of: another one may be another page.
	Version string
	// Namespace is the one that is shown, empty for all; Namespaced offers to choose one.
	Namespace  string
	Namespaced bool
	// Who is looking, empty where that need not be said; Leave offers to forget the token.
	Who   string
	Leave bool
}

// fact is one thing about an object.
type fact struct {
	Name  string
	Value cell
}

// clockTime writes a moment as all pages do.
func clockTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// maxConditions bounds the conditions that are shown of an object.
const maxConditions = 50

// conditionTable shows the conditions of an object.
func conditionTable(conditions []metav1.Condition) *table {
	t := &table{ID: "conditions", Caption: "Conditions", Empty: "Nothing has been said of it yet.", Columns: []column{
		{Key: "type", Title: "Type"}, {Key: "status", Title: "Status"}, {Key: "reason", Title: "Reason"},
		{Key: "message", Title: "Message"}, {Key: "since", Title: "Since"},
	}}
	for i := range conditions[:min(len(conditions), maxConditions)] {
		c := &conditions[i]
		t.Rows = append(t.Rows, row{
			text(c.Type), text(string(c.Status)), text(c.Reason), text(c.Message), since(c.LastTransitionTime.Time),
		})
	}
	t.Beyond = max(0, len(conditions)-maxConditions)
	return t
}

// The addresses of objects, below the folder of the pages.

func clusterPath(name string) string { return "clusters/" + url.PathEscape(name) }

func resourcePath(name string) string { return "resources/" + url.PathEscape(name) }

func applicationPath(namespace, name string) string {
	return "namespaces/" + url.PathEscape(namespace) + "/applications/" + url.PathEscape(name)
}

func podPath(namespace, name string) string {
	return "namespaces/" + url.PathEscape(namespace) + "/pods/" + url.PathEscape(name)
}

func workloadPath(namespace, title string) string {
	return "namespaces/" + url.PathEscape(namespace) + "/workloads/" + title
}
