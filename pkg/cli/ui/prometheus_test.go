// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/ui"
)

// told is what a Prometheus answers of its alerts, of which two are Berth's.
const told = `{"status":"success","data":{"alerts":[
{"labels":{"alertname":"BerthPoolFull","severity":"info","resource":"matlab"},"annotations":{"summary":"Pods wait","runbook_url":"javascript:x"},
 "state":"pending","activeAt":"2026-11-27T12:00:00.5Z","value":"1e+00"},
{"labels":{"alertname":"NodeDown"},"annotations":{},"state":"firing","activeAt":"2026-11-27T12:00:00Z","value":"1e+00"},
{"labels":{"alertname":"BerthNoLeader","severity":"critical","job":"berth-scheduler","pod":"x"},
 "annotations":{"summary":"No one leads","description":"Since long.","runbook_url":"https://a.example/b"},
 "state":"firing","activeAt":"2026-11-27T11:00:00Z","value":"1e+00"}]}}`

// answering is a server that answers one path, and tells others where it is.
func answering(t *testing.T, path string, status int, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.Error(w, "asked for "+r.URL.Path, http.StatusTeapot)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // the client may have heard enough
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// alerts asks the Prometheus of a reference.
func alerts(t *testing.T, clients client.Clients, reference string) ([]ui.Alert, error) {
	t.Helper()
	ask, err := prometheus(clients, reference)
	if err != nil {
		t.Fatal(err)
	}
	return alertsBy(ask)(t.Context())
}

func TestAlerts(t *testing.T) {
	want := []ui.Alert{
		{
			Name: "BerthNoLeader", Severity: "critical", State: "firing", Since: time.Date(2026, 11, 27, 11, 0, 0, 0, time.UTC),
			About: "job=berth-scheduler, pod=x", Says: "No one leads. Since long.", Runbook: "https://a.example/b",
		},
		{
			Name: "BerthPoolFull", Severity: "info", State: "pending", Since: time.Date(2026, 11, 27, 12, 0, 0, 5e8, time.UTC),
			About: "resource=matlab", Says: "Pods wait",
		},
	}
	api := answering(t, "/api/v1/namespaces/monitoring/services/prometheus-operated:9090/proxy/api/v1/alerts", http.StatusOK, told)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: api})
	if err != nil {
		t.Fatal(err)
	}
	for _, reference := range []string{
		answering(t, "/api/v1/alerts", http.StatusOK, told), answering(t, "/prom/api/v1/alerts", http.StatusOK, told) + "/prom/",
		"monitoring/prometheus-operated", "monitoring/prometheus-operated:9090",
	} {
		got, err := alerts(t, client.Clients{Kubernetes: kube}, reference)
		if err != nil {
			t.Errorf("%s: %v", reference, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reference, diff)
		}
	}
	if _, err := alerts(t, client.Clients{Kubernetes: kube}, "monitoring/other"); err == nil || !strings.Contains(err.Error(), "asking the Service monitoring/other") {
		t.Errorf("of a Service that is not there: %v", err)
	}
}

func TestAlertsOfAnAnswerThatIsNone(t *testing.T) {
	for name, test := range map[string]struct {
		status     int
		body, want string
	}{
		"not found":    {http.StatusNotFound, told, "answers 404 Not Found"},
		"HTML":         {http.StatusOK, "<html>", "not that of a Prometheus"},
		"an error":     {http.StatusOK, `{"status":"error"}`, "not that of a Prometheus"},
		"a wrong type": {http.StatusOK, `{"status":"success","data":{"alerts":{}}}`, "not that of a Prometheus"},
		"too long":     {http.StatusOK, strings.Repeat(" ", maxAlerts+1), "longer than 4 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := alerts(t, client.Clients{}, answering(t, "/api/v1/alerts", test.status, test.body)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if _, err := alerts(t, client.Clients{}, gone.URL); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("of a server that is gone: %v", err)
	}
}

func TestPrometheusReferences(t *testing.T) {
	for _, reference := range []string{
		"monitoring", "monitoring/", "/prometheus", "Monitoring/prometheus", "a/b:c:d", "a/b/c", "ftp://a", "http://", "http://me:secret@a",
		"https://a?b=c", "https://a#b", "http://%zz", strings.Repeat("a", maxReference+1),
	} {
		_, err := prometheus(client.Clients{}, reference)
		if err == nil || !strings.HasPrefix(err.Error(), "--prometheus: ") || len(err.Error()) > 300 || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.40q: error %v", reference, err)
		}
	}
	if ask, err := prometheus(client.Clients{}, ""); ask != nil || err != nil {
		t.Errorf("of none: %v", err)
	}
}

// FuzzReadAlerts reads what may be anything.
func FuzzReadAlerts(f *testing.F) {
	f.Add(told)
	f.Add(`{"status":"success","data":null}`)
	f.Fuzz(func(t *testing.T, body string) {
		found, err := readAlerts(strings.NewReader(body))
		if err != nil && found != nil {
			t.Errorf("both an error and %d alerts", len(found))
		}
		for i := range found {
			if !strings.HasPrefix(found[i].Name, alertPrefix) {
				t.Errorf("an alert of somebody else: %+v", found[i])
			}
		}
	})
}
