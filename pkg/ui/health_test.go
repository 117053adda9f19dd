// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/ui"
)

const healthPage = "/ui/health"

// withHealth serves pages with what tells of alerts and checks.
func withHealth(t *testing.T, alerts func(context.Context) ([]ui.Alert, error), checks func(context.Context) *ui.Checks) *world {
	t.Helper()
	w := newWorld(t)
	w.prepare()
	clients := w.clients()
	clients.Alerts, clients.Checks = alerts, checks
	source, err := ui.NewSource(t.Context(), clients, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.serve(source)
	return w
}

func TestHealthShowsAlertsAndFindings(t *testing.T) {
	began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	alerts := func(context.Context) ([]ui.Alert, error) {
		return []ui.Alert{
			{Name: "BerthNoLeader", Severity: "critical", State: "firing", Since: began, About: "job=x", Says: script, Runbook: "https://a.example/b"},
			{Name: "BerthPoolFull", Severity: "info", State: "pending", Since: began, Runbook: "javascript:alert(1)"},
		}, nil
	}
	w := withHealth(t, alerts, func(context.Context) *ui.Checks {
		return &ui.Checks{Count: 31, Findings: []ui.Finding{
			{ID: "leases", Category: "leases", Failed: true, Says: "nobody holds it"}, {ID: "lease-clock", Category: "leases", Says: "it is ahead"},
		}}
	})
	eventually(t, "both are looked up", func() bool { return len(w.table(healthPage, "alerts")) > 0 && len(w.table(healthPage, "checks")) > 0 })
	want := [][]string{
		{"BerthNoLeader", "firing", "critical", "2026-11-27 12:00:00", "job=x", script},
		{"BerthPoolFull", "pending", "info", "2026-11-27 12:00:00", "", ""},
	}
	if diff := cmp.Diff(want, w.table(healthPage, "alerts")); diff != "" {
		t.Errorf("alerts (-want +got):\n%s", diff)
	}
	want = [][]string{{"leases", "leases", "failed", "nobody holds it"}, {"lease-clock", "leases", "warning", "it is ahead"}}
	if diff := cmp.Diff(want, w.table(healthPage, "checks")); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	_, body := w.get(healthPage)
	if !strings.Contains(body, `href="https://a.example/b"`) || strings.Contains(body, `href="javascript:`) {
		t.Errorf("the links of the runbooks: %s", body)
	}
}

func TestHealthTellsWhyItKnowsNothing(t *testing.T) {
	release := make(chan struct{})
	w := withHealth(t, func(ctx context.Context) ([]ui.Alert, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return nil, errors.New("no route to <b>it</b>")
	}, func(context.Context) *ui.Checks { return &ui.Checks{Count: 31} })
	says := func(want string) {
		t.Helper()
		eventually(t, "the page says "+want, func() bool {
			_, body := w.get(healthPage)
			return strings.Contains(body, want)
		})
	}
	says("Prometheus is being asked.")
	says("None of 31 checks.")
	close(release)
	says("Prometheus cannot be asked: no route to &lt;b&gt;it&lt;/b&gt;")

	w = withHealth(t, nil, nil)
	says("Alerts are shown by: berthctl ui --prometheus")
	says("What is wrong with the installation is told by: berthctl check")
}
