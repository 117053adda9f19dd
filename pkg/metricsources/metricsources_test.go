// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
)

// secret is in every hostile answer, and must be in no error.
const secret = "AKIA-SECRET"

func prometheusAt(url string) *berthv1alpha1.MetricsProviderSpec {
	return &berthv1alpha1.MetricsProviderSpec{
		Type: berthv1alpha1.PrometheusMetrics, AllowPlainHTTP: true,
		Prometheus: &berthv1alpha1.PrometheusProvider{URL: berthv1alpha1.ProviderURL(url)},
	}
}

func ksqlAt(url string) *berthv1alpha1.MetricsProviderSpec {
	return &berthv1alpha1.MetricsProviderSpec{
		Type: berthv1alpha1.KafkaMetrics, AllowPlainHTTP: true,
		Kafka: &berthv1alpha1.KafkaProvider{
			URL: berthv1alpha1.ProviderURL(url), Table: "my_table",
			KrakeComparisonColumn: "my_comp_col", KrakeValueColumn: "my_value_col",
		},
	}
}

// here makes options that permit the servers of tests.
func here(options metricsources.Options) metricsources.Options {
	options.PlainHTTP = true
	if options.Guard == nil {
		options.Guard = &metricsources.Guard{Loopback: true}
	}
	return options
}

func open(t *testing.T, spec *berthv1alpha1.MetricsProviderSpec, options metricsources.Options) metricsources.Source {
	t.Helper()
	source, err := metricsources.New(spec, here(options))
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, body)
	}
}

// vector is the answer of a Prometheus server with some series.
func vector(values ...string) string {
	var series []string
	for i, value := range values {
		series = append(series, fmt.Sprintf(`{"metric":{"__name__":"m","s":"%d-`+secret+`"},"value":[1700000000,%q]}`, i, value))
	}
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(series, ",") + `]}}`
}

// row is the answer of a ksqlDB server with one row.
func row(columns string) string {
	return `[{"header":{"queryId":"query_0","schema":"` + "`VALUE` STRING" + `"}},` + "\n" + `{"row":{"columns":[` + columns + `]}}]`
}

// reason returns the reason of an error, and fails if it repeats what the provider sent.
func reason(t *testing.T, err error) string {
	t.Helper()
	var known *metricsources.Error
	if !errors.As(err, &known) {
		t.Fatalf("%v is not an Error", err)
	}
	if strings.Contains(known.Message, secret) {
		t.Errorf("the message repeats the answer: %s", known.Message)
	}
	return known.Reason
}

func TestReadAnswers(t *testing.T) {
	const scalar = `{"status":"success","data":{"resultType":"scalar","result":[1700000000,"%s"]}}`
	type rows map[string]struct {
		body       string
		want       float64
		wantReason string
	}
	for kind, tests := range map[string]struct {
		at   func(string) *berthv1alpha1.MetricsProviderSpec
		rows rows
	}{
		"prometheus": {at: prometheusAt, rows: rows{
			"one series":           {body: vector("0.42"), want: 0.42},
			"a negative number":    {body: vector("-1e3"), want: -1000},
			"a scalar":             {body: fmt.Sprintf(scalar, "7"), want: 7},
			"no series":            {body: vector(), wantReason: "NoValue"},
			"two series":           {body: vector("1", "2"), wantReason: "SeveralValues"},
			"not a number":         {body: vector("NaN"), wantReason: "NotANumber"},
			"infinity":             {body: vector("+Inf"), wantReason: "NotANumber"},
			"a scalar of infinity": {body: fmt.Sprintf(scalar, "-Inf"), wantReason: "NotANumber"},
			"1e400":                {body: vector("1e400"), wantReason: "BadAnswer"},
			"a word":               {body: vector(secret), wantReason: "BadAnswer"},
			"a text":               {body: `{"status":"success","data":{"resultType":"string","result":[1,"` + secret + `"]}}`, wantReason: "BadAnswer"},
			"a range":              {body: `{"status":"success","data":{"resultType":"matrix","result":[]}}`, wantReason: "NotANumber"},
			"an error":             {body: `{"status":"error","errorType":"bad_data","error":"` + secret + `"}`, wantReason: "BadAnswer"},
			"HTML":                 {body: `<html>` + secret + `</html>`, wantReason: "BadAnswer"},
			"nothing":              {body: ``, wantReason: "BadAnswer"},
			"null":                 {body: `null`, wantReason: "BadAnswer"},
			"a million brackets":   {body: strings.Repeat("[", 1_000_000), wantReason: "BadAnswer"},
			"no UTF-8":             {body: "\xff\xfe" + secret, wantReason: "BadAnswer"},
		}},
		"ksqlDB": {at: ksqlAt, rows: rows{
			"a number":           {body: row(`0.42`), want: 0.42},
			"a number as text":   {body: row(`"0.42"`), want: 0.42},
			"an exponent":        {body: row(`"1e-2"`), want: 0.01},
			"no row":             {body: `[{"header":{}}]`, wantReason: "NoValue"},
			"an empty answer":    {body: `[]`, wantReason: "NoValue"},
			"two rows":           {body: `[{"row":{"columns":[1]}},{"row":{"columns":[2]}}]`, wantReason: "SeveralValues"},
			"two columns":        {body: row(`1,2`), wantReason: "SeveralValues"},
			"null":               {body: row(`null`), wantReason: "NotANumber"},
			"a word":             {body: row(`"` + secret + `"`), wantReason: "NotANumber"},
			"a hexadecimal":      {body: row(`"0x1p-2"`), wantReason: "NotANumber"},
			"blanks":             {body: row(`" 1 "`), wantReason: "NotANumber"},
			"underscores":        {body: row(`"1_0"`), wantReason: "NotANumber"},
			"not a number":       {body: row(`"NaN"`), wantReason: "NotANumber"},
			"1e400":              {body: row(`1e400`), wantReason: "NotANumber"},
			"a list":             {body: row(`[1]`), wantReason: "NotANumber"},
			"an error":           {body: `[{"header":{}},{"errorMessage":{"message":"` + secret + `"}}]`, wantReason: "BadAnswer"},
			"a final message":    {body: `[{"row":{"columns":[1]}},{"finalMessage":"Query Completed"}]`, want: 1},
			"HTML":               {body: `<html>` + secret + `</html>`, wantReason: "BadAnswer"},
			"a million brackets": {body: strings.Repeat("[", 1_000_000), wantReason: "BadAnswer"},
		}},
	} {
		for name, tc := range tests.rows {
			t.Run(kind+"/"+name, func(t *testing.T) {
				source := open(t, tests.at(serve(t, answer(tc.body))), metricsources.Options{})
				got, err := source.Read(t.Context(), "m")
				if tc.wantReason == "" {
					if err != nil || got != tc.want {
						t.Fatalf("got %v, %v, want %v", got, err, tc.want)
					}
					return
				}
				if err == nil {
					t.Fatalf("got %v, want an error", got)
				}
				if got := reason(t, err); got != tc.wantReason {
					t.Errorf("reason %s (%v), want %s", got, err, tc.wantReason)
				}
			})
		}
	}
}

func TestReadRefusesWhatIsNoGoodAnswer(t *testing.T) {
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") })
	bomb := make([]byte, 1<<20)
	tests := map[string]struct {
		handler    http.HandlerFunc
		wantReason string
	}{
		"503": {wantReason: "BadAnswer", handler: func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, secret, http.StatusServiceUnavailable)
		}},
		"401": {wantReason: "BadAnswer", handler: func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, secret, http.StatusUnauthorized)
		}},
		"204": {wantReason: "BadAnswer", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		}},
		"405": {wantReason: "BadAnswer", handler: func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, secret, http.StatusMethodNotAllowed)
		}},
		"a redirect": {wantReason: "BadAnswer", handler: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		}},
		"10 GiB announced": {wantReason: "BadAnswer", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10737418240")
			_, _ = w.Write(bomb)
		}},
		"10 GiB in chunks": {wantReason: "BadAnswer", handler: func(w http.ResponseWriter, _ *http.Request) {
			for range 10 << 10 {
				if _, err := w.Write(bomb); err != nil {
					return
				}
			}
		}},
		"headers without end": {wantReason: "Unreachable", handler: func(w http.ResponseWriter, _ *http.Request) {
			for i := range 1000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
			}
		}},
		"the connection is cut": {wantReason: "Unreachable", handler: func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}},
	}
	for name, tc := range tests {
		for kind, at := range map[string]func(string) *berthv1alpha1.MetricsProviderSpec{"prometheus": prometheusAt, "ksqlDB": ksqlAt} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				source := open(t, at(serve(t, tc.handler)), metricsources.Options{})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got, err := source.Read(t.Context(), "m")
				runtime.ReadMemStats(&after)
				if err == nil {
					t.Fatalf("got %v, want an error", got)
				}
				if got := reason(t, err); got != tc.wantReason {
					t.Errorf("reason %s (%v), want %s", got, err, tc.wantReason)
				}
				if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
					t.Errorf("%d bytes were allocated", grown)
				}
			})
		}
	}
}

// The deadline that the caller sets stands in for the 5 seconds of the package, which the clients
// keep in the same way.
func TestReadEndsInTime(t *testing.T) {
	const patience = 200 * time.Millisecond
	hang := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			if _, err := io.WriteString(w, "["); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
		}
	}
	for name, handler := range map[string]http.HandlerFunc{"hangs": hang, "drips": drip} {
		for kind, at := range map[string]func(string) *berthv1alpha1.MetricsProviderSpec{"prometheus": prometheusAt, "ksqlDB": ksqlAt} {
			t.Run(kind+" "+name, func(t *testing.T) {
				source := open(t, at(serve(t, handler)), metricsources.Options{})
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if _, err := source.Read(ctx, "m"); err == nil || reason(t, err) != "Timeout" {
					t.Errorf("got %v, want a timeout", err)
				}
			})
		}
	}
}

func TestPrometheusRequest(t *testing.T) {
	const query = `sum(rate(http_requests_total{zone="a"}[5m]))`
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.FormValue("query"); r.URL.Path != "/sub/api/v1/query" || got != query || r.FormValue("time") != "" {
			t.Errorf("asked %s for %q at %q", r.URL.Path, got, r.FormValue("time"))
		}
		if header := r.Header.Get("Authorization"); header != "" {
			t.Errorf("sent %q", header)
		}
		answer(vector("1"))(w, r)
	})
	if _, err := open(t, prometheusAt(url+"/sub"), metricsources.Options{}).Read(t.Context(), query); err != nil {
		t.Error(err)
	}
}

func TestPrometheusThatKnowsOnlyGET(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answer(vector("1"))(w, r)
	})
	if _, err := open(t, prometheusAt(url), metricsources.Options{}).Read(t.Context(), "m"); err != nil {
		t.Error(err)
	}
}

func TestKSQLRequest(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		want := map[string]any{
			"ksql":              "SELECT my_value_col FROM my_table WHERE my_comp_col = 'it''s; DROP TABLE my_table; --';",
			"streamsProperties": map[string]any{},
		}
		if diff := cmp.Diff(want, body); diff != "" || r.URL.Path != "/query" || r.Method != http.MethodPost {
			t.Errorf("%s %s (-want +got)\n%s", r.Method, r.URL.Path, diff)
		}
		answer(row("1"))(w, r)
	})
	source := open(t, ksqlAt(url), metricsources.Options{})
	if _, err := source.Read(t.Context(), "it's; DROP TABLE my_table; --"); err != nil {
		t.Error(err)
	}
	if _, err := source.Read(t.Context(), "a\nb"); err == nil || reason(t, err) != "InvalidMetric" {
		t.Errorf("got %v, want the name to be refused", err)
	}
}

func TestCredentials(t *testing.T) {
	tests := map[string]struct {
		credentials metricsources.Credentials
		want        string
	}{
		"a token":    {metricsources.Credentials{Token: "t"}, "Bearer t"},
		"a password": {metricsources.Credentials{Username: "u", Password: "p"}, "Basic dTpw"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != tc.want {
					t.Errorf("sent %q, want %q", got, tc.want)
				}
				answer(vector("1"))(w, r)
			})
			source := open(t, prometheusAt(url), metricsources.Options{Credentials: &tc.credentials})
			if _, err := source.Read(t.Context(), "m"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCertificates(t *testing.T) {
	server := httptest.NewTLSServer(answer(vector("1")))
	defer server.Close()
	if _, err := open(t, prometheusAt(server.URL), metricsources.Options{}).Read(t.Context(), "m"); err == nil || reason(t, err) != "Unreachable" {
		t.Errorf("got %v, want the certificate to be refused", err)
	}
	spec := prometheusAt(server.URL)
	spec.Prometheus.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if _, err := open(t, spec, metricsources.Options{}).Read(t.Context(), "m"); err != nil {
		t.Errorf("with its own certificate: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(answer(""))
	server.Close()
	for _, spec := range []*berthv1alpha1.MetricsProviderSpec{prometheusAt(server.URL), ksqlAt(server.URL)} {
		if _, err := open(t, spec, metricsources.Options{}).Read(t.Context(), "m"); err == nil || reason(t, err) != "Unreachable" {
			t.Errorf("%s: got %v, want Unreachable", spec.Type, err)
		}
	}
}

func TestTake(t *testing.T) {
	source := open(t, &berthv1alpha1.MetricsProviderSpec{
		Type:   berthv1alpha1.StaticMetrics,
		Static: &berthv1alpha1.StaticProvider{Metrics: map[string]float64{"heat": 2.5, "load": 7}},
	}, metricsources.Options{})
	tests := map[string]struct {
		name       string
		spec       berthv1alpha1.MetricSpec
		want       metricsources.Sample
		wantReason string
	}{
		"in range": {name: "heat", spec: berthv1alpha1.MetricSpec{Max: 5}, want: metricsources.Sample{Value: 2.5, Normalized: 0.5}},
		"by the provider's name": {
			name: "x", spec: berthv1alpha1.MetricSpec{Max: 7, Provider: berthv1alpha1.MetricSource{Metric: "load"}},
			want: metricsources.Sample{Value: 7, Normalized: 1},
		},
		"out of range":            {name: "load", spec: berthv1alpha1.MetricSpec{Max: 5}, wantReason: "OutOfRange"},
		"not allowed":             {name: "load", spec: berthv1alpha1.MetricSpec{Max: 9, AllowedValues: []int64{1}}, wantReason: "OutOfRange"},
		"an empty range":          {name: "load", wantReason: "InvalidMetric"},
		"unknown to the provider": {name: "x", spec: berthv1alpha1.MetricSpec{Max: 5}, wantReason: "NoValue"},
	}
	for name, tc := range tests {
		got, err := metricsources.Take(t.Context(), source, metricsources.QueryOf(tc.name, &tc.spec), &tc.spec)
		if tc.wantReason != "" {
			if err == nil || reason(t, err) != tc.wantReason {
				t.Errorf("%s: got %v, %v, want %s", name, got, err, tc.wantReason)
			}
		} else if err != nil || got != tc.want {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, tc.want)
		}
	}
}
