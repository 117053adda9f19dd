// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
)

// reading is what is known of a metric since this process began to read it.
type reading struct {
	// value is the last good value, and since is when it was read.
	value *float64
	since time.Time
	// err is why the last attempt failed.
	err *metricsources.Error
	// of is what was read.
	of specs
}

// specs tell apart what a metric and its provider said at different times.
type specs struct {
	metric             int64
	provider           types.UID
	providerGeneration int64
}

func specsOf(m *metric, p *provider) specs {
	s := specs{metric: m.object.GetGeneration()}
	if p != nil {
		s.provider, s.providerGeneration = p.uid, p.object.GetGeneration()
	}
	return s
}

// readingKey names a reading: what is asked for a metric, which may be another query for each
// place.
type readingKey struct {
	metric types.UID
	query  string
}

// readings are what the Sampler found out. They are safe for concurrent use.
type readings struct {
	mu      sync.Mutex
	metrics map[readingKey]reading
	// providers have the outcome of the last attempt, nil for success.
	providers map[types.UID]*metricsources.Error
}

func newReadings() *readings {
	return &readings{metrics: map[readingKey]reading{}, providers: map[types.UID]*metricsources.Error{}}
}

// metric returns what is known of a query of a metric, false if it was not asked yet.
func (r *readings) metric(key readingKey) (reading, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.metrics[key]
	return found, ok
}

// provider returns the outcome of the last attempt, false if there was none.
func (r *readings) provider(uid types.UID) (*metricsources.Error, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err, ok := r.providers[uid]
	return err, ok
}

// note keeps the outcome of an attempt. The age of a value is counted by the local clock from when
// it arrived. The last value of an earlier process stands in the status and counts from now.
func (r *readings) note(q *question, p *provider, value float64, err *metricsources.Error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, known := r.metrics[q.key()]
	next.err, next.of = err, specsOf(q.metric, p)
	switch {
	case err == nil:
		next.value, next.since = &value, now
	case !known:
		next.value, next.since = q.last, now
	}
	r.metrics[q.key()] = next
}

func (r *readings) noteProvider(uid types.UID, err *metricsources.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.providers[uid] = err
}

// upToDate reports whether a query was asked as it and its provider are now.
func (r *readings) upToDate(q *question, p *provider) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, read := r.metrics[q.key()]
	return read && known.of == specsOf(q.metric, p)
}

// keep forgets metrics and providers that do not exist any more.
func (r *readings) keep(metrics map[readingKey]struct{}, providers map[types.UID]struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.metrics {
		if _, exists := metrics[key]; !exists {
			delete(r.metrics, key)
		}
	}
	for uid := range r.providers {
		if _, exists := providers[uid]; !exists {
			delete(r.providers, uid)
		}
	}
}

// unknownProvider is the error of a metric that has no provider to ask.
var unknownProvider = &metricsources.Error{
	Reason: berthv1alpha1.ReasonUnknownProvider, Message: "the provider that the metric names does not exist",
}
