// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// ksql is a table of a ksqlDB server.
type ksql struct {
	endpoint string
	client   *http.Client
	// before is the query up to the name of the metric.
	before string
}

// ksqlMediaType is the media type of ksqlDB's API, in its first version.
const ksqlMediaType = "application/vnd.ksql.v1+json"

// identifier is what ksqlDB takes as a name without quotes. With quotes upper and lower case would
// differ.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

func newKSQL(endpoint *url.URL, client *http.Client, spec *berthv1alpha1.KafkaProvider) (Source, error) {
	value := cmp.Or(spec.ValueColumn, spec.KrakeValueColumn)
	comparison := cmp.Or(spec.ComparisonColumn, spec.KrakeComparisonColumn)
	for _, name := range []string{value, spec.Table, comparison} {
		if !identifier.MatchString(name) {
			return nil, outage(berthv1alpha1.ReasonInvalidProvider,
				"table, comparisonColumn and valueColumn must be names of letters, digits and '_'")
		}
	}
	return &ksql{
		endpoint: endpoint.JoinPath("query").String(), client: client,
		before: fmt.Sprintf("SELECT %s FROM %s WHERE %s = ", value, spec.Table, comparison),
	}, nil
}

// query returns the statement that reads a metric. Within a text a quote is written twice; there
// are no other escapes.
func (k *ksql) query(metric string) (string, error) {
	if !utf8.ValidString(metric) || strings.ContainsFunc(metric, unicode.IsControl) {
		return "", failure(berthv1alpha1.ReasonInvalidMetric, "the name of the metric has control characters")
	}
	return k.before + "'" + strings.ReplaceAll(metric, "'", "''") + "';", nil
}

// Read implements Source with a pull query.
func (k *ksql) Read(ctx context.Context, metric string) (float64, error) {
	statement, err := k.query(metric)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	body, err := json.Marshal(map[string]any{"ksql": statement, "streamsProperties": map[string]string{}})
	if err != nil {
		return 0, explain(ctx, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, k.endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, explain(ctx, err)
	}
	request.Header.Set("Content-Type", ksqlMediaType)
	request.Header.Set("Accept", ksqlMediaType)
	response, err := k.client.Do(request)
	if err != nil {
		return 0, explain(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, outage(berthv1alpha1.ReasonBadAnswer, "the provider answered with HTTP status %d", response.StatusCode)
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, explain(ctx, err)
	}
	return readKSQL(answer)
}

// ksqlChunk is an element of the answer to a query: one of a header, a row, and a message.
type ksqlChunk struct {
	Row *struct {
		Columns []json.RawMessage `json:"columns"`
	} `json:"row"`
	ErrorMessage json.RawMessage `json:"errorMessage"`
}

// readKSQL reads an answer with one row of one column.
func readKSQL(answer []byte) (float64, error) {
	var chunks []ksqlChunk
	if err := json.Unmarshal(answer, &chunks); err != nil {
		return 0, outage(berthv1alpha1.ReasonBadAnswer, "the provider's answer cannot be understood")
	}
	var values []json.RawMessage
	rows := 0
	for _, chunk := range chunks {
		if len(chunk.ErrorMessage) > 0 && string(chunk.ErrorMessage) != "null" {
			return 0, failure(berthv1alpha1.ReasonBadAnswer, "the provider answered with an error")
		}
		if chunk.Row != nil {
			rows++
			values = chunk.Row.Columns
		}
	}
	switch {
	case rows == 0:
		return 0, failure(berthv1alpha1.ReasonNoValue, "the provider has no value for the metric")
	case rows > 1 || len(values) != 1:
		return 0, failure(berthv1alpha1.ReasonSeveralValues, "the provider has several values for the metric")
	}
	text := string(values[0])
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(values[0], &text); err != nil {
			return 0, errNotANumber
		}
	}
	return number(text)
}
