// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"fmt"
	"time"
)

// Alert is one of Berth's alerts that a Prometheus has raised.
type Alert struct {
	// Name is that of its rule, Severity as the rule has it.
	Name, Severity string
	// State is firing, or pending for one that has not lasted long enough to call somebody.
	State string
	// Since is when its condition began to hold.
	Since time.Time
	// About tells what the alert is about, empty if it is about Berth as a whole.
	About string
	// Says is what the rule says of it, Runbook the address of what to do, empty if there is none.
	Says, Runbook string
}

// Checks are what berthctl check has found.
type Checks struct {
	// Count is the number of checks that were made.
	Count    int
	Findings []Finding
}

// Finding is one thing that a check has found.
type Finding struct {
	// ID is under which the documentation tells of the check.
	ID, Category string
	// Failed is set for what makes an installation unsound.
	Failed bool
	Says   string
}

// health is looked up for the view of Berth itself. What is nil is not looked up.
type health struct {
	alerts *lookups[[]Alert]
	checks *lookups[*Checks]
}

// healthOf looks alerts and checks up by the clients' means, anew as long as somebody looks:
// neither follows from the objects that are watched.
func (s *Source) healthOf(ctx context.Context, clients *Clients) health {
	var found health
	if clients.Alerts != nil {
		found.alerts = &lookups[[]Alert]{
			ctx: ctx, pause: littlePause, tell: s.signal,
			find: func(ctx context.Context, _ string) ([]Alert, error) { return clients.Alerts(ctx) },
		}
	}
	if clients.Checks != nil {
		found.checks = &lookups[*Checks]{
			ctx: ctx, pause: muchPause, tell: s.signal,
			find: func(ctx context.Context, _ string) (*Checks, error) { return clients.Checks(ctx), nil },
		}
	}
	return found
}

// healthView shows what is wrong with Berth itself, and not with what it places.
func (s *snapshot) healthView() *page {
	p := &page{Title: "Health", View: "health"}
	if s.health.alerts == nil {
		p.Notes = append(p.Notes, "Alerts are shown by: berthctl ui --prometheus, with where a Prometheus answers that has Berth's rules.")
	} else {
		p.Tables = append(p.Tables, alertTable(s.health.alerts.of("")))
	}
	if s.health.checks == nil {
		p.Notes = append(p.Notes, "What is wrong with the installation is told by: berthctl check")
	} else {
		p.Tables = append(p.Tables, checkTable(s.health.checks.of("")))
	}
	return p
}

func alertTable(last *looked[[]Alert]) *table {
	t := &table{ID: "alerts", Caption: "Alerts", Empty: "None is raised.", Columns: []column{
		{Key: "alert", Title: "Alert"}, {Key: "state", Title: "State"}, {Key: "severity", Title: "Severity"}, {Key: "since", Title: "Since"},
		{Key: "about", Title: "About"}, {Key: "says", Title: "Says"},
	}}
	if told(t, last, "Prometheus is being asked.", "Prometheus cannot be asked: ") {
		for i := range last.found {
			a := &last.found[i]
			t.Rows = append(t.Rows, row{
				link(a.Name, a.Runbook), state(a.State != "firing", a.State), text(a.Severity), since(a.Since), text(a.About), text(a.Says),
			})
		}
	}
	return t
}

func checkTable(last *looked[*Checks]) *table {
	t := &table{ID: "checks", Caption: "Findings of berthctl check", Columns: []column{
		{Key: "check", Title: "Check"}, {Key: "category", Title: "Category"}, {Key: "result", Title: "Result"}, {Key: "says", Title: "Says"},
	}}
	if told(t, last, "The installation is being checked.", "") {
		t.Empty = fmt.Sprintf("None of %d checks.", last.found.Count)
		for _, f := range last.found.Findings {
			result := state(false, "failed")
			if !f.Failed {
				result = text("warning")
			}
			t.Rows = append(t.Rows, row{text(f.ID), text(f.Category), result, text(f.Says)})
		}
	}
	return t
}

// told reports whether a table's rows are known. If they are not, the table says why instead.
func told[T any](t *table, last *looked[T], asking, failed string) bool {
	switch {
	case last == nil:
		t.Empty = asking
	case last.err != nil:
		t.Empty = bounded(failed + last.err.Error())
	default:
		t.Caption += ", as of " + clockTime(last.at)
		return true
	}
	return false
}
