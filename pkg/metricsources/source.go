// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metricsources reads values of metrics from the providers that users name: Prometheus
// servers, ksqlDB servers, and fixed values. It trusts neither the user who names a provider nor
// the provider:
//
//   - An attempt takes at most Deadline, and reads at most maxBody of the answer. Redirects,
//     proxies and compression are off.
//   - The address is checked when the connection is made, after names are resolved. See Guard.
//   - Certificates are verified. Credentials go to the provider's own address and nowhere else.
//   - A value is one finite number. Everything else is an error.
//   - An error tells what kind of thing went wrong and never repeats what the provider sent.
package metricsources

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

const (
	// Deadline is how long an attempt to read a metric may take.
	Deadline = 5 * time.Second

	// maxBody is how much of an answer is read, in bytes.
	maxBody = 1 << 20
)

// Source reads the present values of metrics from one provider. It is safe for concurrent use.
type Source interface {
	// Read returns the value of a metric, which is finite. An error is an *Error.
	Read(ctx context.Context, metric string) (float64, error)
}

// Error says why a metric has no value. It is fit to be shown to any user.
type Error struct {
	// Reason is one of the reasons of the API, such as berthv1alpha1.ReasonTimeout.
	Reason string
	// Message says the same in words.
	Message string
	// Provider is true if no metric of the provider can be expected to work at present.
	Provider bool
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// failure returns an error about one metric.
func failure(reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// outage returns an error about the provider as a whole.
func outage(reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...), Provider: true}
}

// Sample is a value of a metric.
type Sample struct {
	// Value is what the provider gave.
	Value float64
	// Normalized is the value mapped to 0..1.
	Normalized float64
}

// Take asks a query and normalises the value by the range of the metric. An error is an *Error.
func Take(ctx context.Context, source Source, query string, spec *berthv1alpha1.MetricSpec) (Sample, error) {
	value, err := source.Read(ctx, query)
	if err != nil {
		return Sample{}, err
	}
	normalized, err := rank.NormalizeMetric(value, spec)
	switch {
	case errors.Is(err, rank.ErrEmptyRange):
		return Sample{}, failure(berthv1alpha1.ReasonInvalidMetric, "min of the metric is not less than max")
	case errors.Is(err, rank.ErrNotAllowed):
		return Sample{}, failure(berthv1alpha1.ReasonOutOfRange, "the value is none of the allowed values")
	case err != nil:
		return Sample{}, failure(berthv1alpha1.ReasonOutOfRange, "the value is not between min and max")
	}
	return Sample{Value: value, Normalized: normalized}, nil
}

// decimal is what a number in an answer may look like.
var decimal = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$`)

// maxNumber bounds the text of a number.
const maxNumber = 400

// number reads a number in an answer.
func number(text string) (float64, error) {
	if len(text) > maxNumber || !decimal.MatchString(text) {
		return 0, errNotANumber
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, errNotANumber
	}
	return finite(value)
}

var errNotANumber = failure(berthv1alpha1.ReasonNotANumber, "the provider's value is not a finite number")

func finite(value float64) (float64, error) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, errNotANumber
	}
	return value, nil
}
