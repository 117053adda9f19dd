// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/ui"
)

const (
	// alertsPath is where a Prometheus tells of alerts.
	alertsPath = "api/v1/alerts"
	// alertPrefix begins the names of Berth's alerts.
	alertPrefix = "Berth"
	// askTimeout bounds one question, maxAlerts its answer in bytes.
	askTimeout = 10 * time.Second
	maxAlerts  = 4 << 20
	// maxReference bounds where a Prometheus may be said to be.
	maxReference = 1024
	// prometheusPort is the port of a Service that is named without one.
	prometheusPort = "9090"
)

const prometheusUsage = "Prometheus with Berth's rules, whose alerts the pages show: NAMESPACE/SERVICE or NAMESPACE/SERVICE:PORT, which is " +
	"asked through the API server, or a URL such as http://127.0.0.1:9090"

// service matches a Service with a port, which may have a name.
var service = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)/([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(?::([a-z0-9-]{1,15}))?$`)

// prometheus returns what asks a Prometheus for its answer of alerts, nil for an empty reference.
func prometheus(clients client.Clients, reference string) (func(context.Context) (io.ReadCloser, error), error) {
	if reference == "" {
		return nil, nil //nolint:nilnil // nobody is asked
	}
	if len(reference) > maxReference {
		return nil, errReference(reference)
	}
	if named := service.FindStringSubmatch(reference); named != nil {
		namespace, name, port := named[1], named[3], cmp.Or(named[5], prometheusPort)
		return func(ctx context.Context) (io.ReadCloser, error) {
			body, err := clients.Kubernetes.CoreV1().Services(namespace).ProxyGet("", name, port, alertsPath, nil).Stream(ctx)
			return body, client.DescribeError("asking the Service "+reference, err)
		}, nil
	}
	at, err := url.Parse(reference)
	if err == nil && at.User != nil {
		return nil, errCredentials
	}
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.RawQuery != "" || at.Fragment != "" {
		return nil, errReference(reference)
	}
	return func(ctx context.Context) (io.ReadCloser, error) { return get(ctx, at.JoinPath(alertsPath)) }, nil
}

func errReference(reference string) error {
	return fmt.Errorf("--prometheus: %.128q is neither NAMESPACE/SERVICE, such as monitoring/prometheus-operated, nor a URL", reference)
}

func get(ctx context.Context, at *url.URL) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", at.Host, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", at.Host, err)
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s answers %s", at.Host, response.Status)
	}
	return response.Body, nil
}

// answer is what a Prometheus tells of alerts.
type answer struct {
	Status string
	Data   struct{ Alerts []raised }
}

type raised struct {
	Labels, Annotations map[string]string
	State               string
	ActiveAt            time.Time
}

var (
	errCredentials  = errors.New("--prometheus: a URL must not hold credentials; let the API server lead to a Service")
	errNoPrometheus = errors.New("the answer is not that of a Prometheus")
	errLong         = fmt.Errorf("the answer is longer than %d MiB", maxAlerts>>20)
)

// alertsBy returns what tells Berth's alerts, those that call somebody first.
func alertsBy(ask func(context.Context) (io.ReadCloser, error)) func(context.Context) ([]ui.Alert, error) {
	return func(ctx context.Context) ([]ui.Alert, error) {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		body, err := ask(ctx)
		if err != nil {
			return nil, err
		}
		defer body.Close()
		return readAlerts(body)
	}
}

// readAlerts reads an answer.
func readAlerts(body io.Reader) ([]ui.Alert, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxAlerts+1))
	if err != nil {
		return nil, fmt.Errorf("reading the alerts: %w", err)
	}
	if len(data) > maxAlerts {
		return nil, errLong
	}
	var told answer
	if err := json.Unmarshal(data, &told); err != nil || told.Status != "success" {
		return nil, errNoPrometheus
	}
	var found []ui.Alert
	for i := range told.Data.Alerts {
		if strings.HasPrefix(told.Data.Alerts[i].Labels["alertname"], alertPrefix) {
			found = append(found, told.Data.Alerts[i].shown())
		}
	}
	slices.SortStableFunc(found, func(a, b ui.Alert) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Name, b.Name), cmp.Compare(a.About, b.About)) // firing, pending
	})
	return found, nil
}

func (r *raised) shown() ui.Alert {
	var about []string
	for _, label := range slices.Sorted(maps.Keys(r.Labels)) {
		if label != "alertname" && label != "severity" {
			about = append(about, label+"="+r.Labels[label])
		}
	}
	runbook := r.Annotations["runbook_url"]
	if !strings.HasPrefix(runbook, "https://") {
		runbook = ""
	}
	says := r.Annotations["summary"]
	if more := r.Annotations["description"]; more != "" {
		says += ". " + more
	}
	return ui.Alert{
		Name: r.Labels["alertname"], Severity: r.Labels["severity"], State: r.State, Since: r.ActiveAt,
		About: strings.Join(about, ", "), Says: says, Runbook: runbook,
	}
}
