// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources_test

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
)

// FuzzRead lets a provider answer anything. The value is finite, or there is an error that can be
// shown.
func FuzzRead(f *testing.F) {
	for _, body := range []string{
		vector("0.42"), vector("NaN"), vector("1", "2"), row("0.42"), row(`"1e400"`), row("null"), "", "null", "[[[[", "<html>",
		`{"status":"success","data":{"resultType":"scalar","result":[1,"7"]}}`,
	} {
		f.Add(body)
	}
	body := ""
	server := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
	var sources []metricsources.Source
	for _, at := range []func(string) *berthv1alpha1.MetricsProviderSpec{prometheusAt, ksqlAt} {
		source, err := metricsources.New(at(serveFuzz(f, server)), here(metricsources.Options{}))
		if err != nil {
			f.Fatal(err)
		}
		sources = append(sources, source)
	}
	f.Fuzz(func(t *testing.T, text string) {
		body = text
		for _, source := range sources {
			value, err := source.Read(t.Context(), "m")
			if math.IsNaN(value) || math.IsInf(value, 0) {
				t.Errorf("value %v", value)
			}
			if err != nil && reason(t, err) == "" {
				t.Errorf("%v has no reason", err)
			}
		}
	})
}

// FuzzKSQLQuery checks that no name of a metric gets out of its quotes.
func FuzzKSQLQuery(f *testing.F) {
	for _, name := range []string{"load", "it's", "'", "''; DROP TABLE a; --", `\'`, "\x00", "é"} {
		f.Add(name)
	}
	asked := ""
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if asked, err = statement(r.Body); err != nil {
			f.Error(err)
		}
		_, _ = io.WriteString(w, row("1"))
	})
	source, err := metricsources.New(ksqlAt(serveFuzz(f, server)), here(metricsources.Options{}))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if _, err := source.Read(t.Context(), name); err != nil {
			if got := reason(t, err); got != "InvalidMetric" {
				t.Errorf("reason %s", got)
			}
			return
		}
		quoted, ok := strings.CutPrefix(asked, "SELECT my_value_col FROM my_table WHERE my_comp_col = '")
		inner, end := strings.CutSuffix(quoted, "';")
		if !ok || !end || strings.Contains(strings.ReplaceAll(inner, "''", ""), "'") ||
			strings.ReplaceAll(inner, "''", "'") != name {
			t.Errorf("%q became %q", name, asked)
		}
	})
}

func statement(body io.Reader) (string, error) {
	var query struct {
		KSQL string `json:"ksql"`
	}
	err := json.NewDecoder(body).Decode(&query)
	return query.KSQL, err
}

func serveFuzz(f *testing.F, handler http.Handler) string {
	f.Helper()
	server := httptest.NewServer(handler)
	f.Cleanup(server.Close)
	return server.URL
}
