// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// prometheus is a Prometheus server.
type prometheus struct {
	api promv1.API
}

func newPrometheus(endpoint *url.URL, client *http.Client) (Source, error) {
	c, err := api.NewClient(api.Config{Address: endpoint.String(), Client: client})
	if err != nil {
		return nil, outage(berthv1alpha1.ReasonInvalidProvider, "the URL of the provider cannot be used")
	}
	return &prometheus{api: promv1.NewAPI(c)}, nil
}

// Read implements Source with an instant query at the server's own present time. The metric is any
// PromQL expression that gives one value.
func (p *prometheus) Read(ctx context.Context, metric string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	value, _, err := p.api.Query(ctx, metric, time.Time{})
	if err != nil {
		return 0, explain(ctx, err)
	}
	switch v := value.(type) {
	case *model.Scalar:
		return finite(float64(v.Value))
	case model.Vector:
		switch {
		case len(v) == 0:
			return 0, failure(berthv1alpha1.ReasonNoValue, "the provider has no value for the metric")
		case len(v) > 1:
			return 0, failure(berthv1alpha1.ReasonSeveralValues,
				"the provider has %d values for the metric: aggregate them or select one", len(v))
		case v[0].Histogram != nil:
			return 0, errNotANumber
		}
		return finite(float64(v[0].Value))
	}
	return 0, failure(berthv1alpha1.ReasonNotANumber, "the metric is a range or a text, not a number")
}
