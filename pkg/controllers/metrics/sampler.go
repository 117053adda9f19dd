// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
)

const (
	// maxAtOnce bounds the providers that are asked at the same time.
	maxAtOnce = 32
	// longestPause is the longest time for which a provider that does not work is left alone.
	longestPause = 5 * time.Minute
)

// Options are what the Sampler needs.
type Options struct {
	// Reader reads metrics and providers from the cache.
	Reader client.Reader
	// Secrets reads the Secrets with credentials, from Namespace, which has nothing else.
	Secrets   client.Reader
	Namespace string
	// Interval is how often each metric is read.
	Interval time.Duration
	// Guard decides which addresses are connected to.
	Guard *metricsources.Guard
	// PlainHTTP permits providers that set allowPlainHTTP to be asked without TLS.
	PlainHTTP bool
	// AllowHost says which hosts providers of namespaces may name.
	AllowHost func(host string) bool
	// Clock tells the time.
	Clock clock.WithTicker
}

// Sampler reads all metrics, again and again. It is a manager.Runnable for the leader.
type Sampler struct {
	options  Options
	readings *readings
	changed  chan event.GenericEvent
	noticed  chan struct{}
	atOnce   *semaphore.Weighted

	mu sync.Mutex
	// outlets are the connections to providers, by UID.
	outlets map[types.UID]*outlet
}

// NewSampler returns a Sampler that has read nothing yet.
func NewSampler(options Options) *Sampler {
	return &Sampler{
		options: options, readings: newReadings(), outlets: map[types.UID]*outlet{},
		changed: make(chan event.GenericEvent, 1), noticed: make(chan struct{}, 1), atOnce: semaphore.NewWeighted(maxAtOnce),
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *Sampler) NeedLeaderElection() bool { return true }

// Start reads metrics until the context ends.
func (s *Sampler) Start(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	ticker := s.options.Clock.NewTicker(s.options.Interval)
	defer ticker.Stop()
	which := all
	for {
		if err := s.round(ctx, &running, which); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "Cannot tell which metrics there are")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			which = all
		case <-s.noticed:
			which = fresh
		}
	}
}

// notice tells the sampler that metrics or providers were made, changed or deleted. What is new is
// read soon, without waiting for the next interval.
func (s *Sampler) notice() {
	select {
	case s.noticed <- struct{}{}:
	default:
		// Somebody said so already.
	}
}

// scope is which metrics are read.
type scope int

const (
	// all metrics are read, and servers are asked one after the other rather than at once.
	all scope = iota
	// fresh are those that were not read yet as they are now.
	fresh
	// everything is all, at once.
	everything
)

// round starts one reading of each metric, for each place if it is another one there. Providers are
// asked beside each other, the metrics of one after each other.
func (s *Sampler) round(ctx context.Context, running *sync.WaitGroup, which scope) error {
	w, err := readWorld(ctx, s.options.Reader)
	if err != nil {
		return err
	}
	if err := w.readPlaces(ctx, s.options.Reader); err != nil {
		return err
	}
	byProvider := map[types.UID][]*question{}
	metrics, providers := map[readingKey]struct{}{}, map[types.UID]struct{}{}
	for _, q := range w.questions() {
		metrics[q.key()] = struct{}{}
		p, found := w.providers[q.metric.source()]
		switch {
		case which == fresh && s.readings.upToDate(q, p):
		case found:
			byProvider[p.uid] = append(byProvider[p.uid], q)
		default:
			reads.WithLabelValues(noProvider, unknownProvider.Reason).Inc()
			s.readings.note(q, nil, 0, unknownProvider, s.options.Clock.Now())
		}
	}
	for _, p := range w.providers {
		providers[p.uid] = struct{}{}
		if asked := byProvider[p.uid]; len(asked) > 0 {
			s.readProvider(ctx, p, asked, running, which)
		}
	}
	s.readings.keep(metrics, providers)
	s.keepOutlets(providers)
	s.notify()
	return nil
}

// readProvider reads the metrics of a provider, unless an earlier round is still at it.
func (s *Sampler) readProvider(ctx context.Context, p *provider, questions []*question, running *sync.WaitGroup, which scope) {
	o := s.outlet(p.uid)
	if !o.busy.CompareAndSwap(false, true) {
		if which == fresh {
			o.again.Store(true)
		}
		return
	}
	running.Go(func() {
		defer s.release(o)
		if (which == all && !s.wait(ctx, p)) || s.atOnce.Acquire(ctx, 1) != nil {
			return
		}
		defer s.atOnce.Release(1)
		s.readAll(ctx, o, p, questions)
		s.notify()
	})
}

// release lets the next round have a provider. What was noticed meanwhile is read then.
func (s *Sampler) release(o *outlet) {
	o.busy.Store(false)
	if o.again.Swap(false) {
		s.notice()
	}
}

// wait waits up to a tenth of the interval before a server is asked. It returns false if the
// context ends.
func (s *Sampler) wait(ctx context.Context, p *provider) bool {
	if p.spec.Type == berthv1alpha1.StaticMetrics {
		return true
	}
	timer := s.options.Clock.NewTimer(rand.N(s.options.Interval/10 + 1)) //nolint:gosec // no secret hangs on it
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	}
}

func (s *Sampler) readAll(ctx context.Context, o *outlet, p *provider, questions []*question) {
	var outcome *metricsources.Error
	source, err := o.open(ctx, &s.options, p)
	if err != nil {
		reads.WithLabelValues(string(p.spec.Type), err.Reason).Add(float64(len(questions)))
	}
	for i, q := range questions {
		if err == nil {
			err = o.breaker.Open()
		}
		if err != nil {
			// All other metrics of the provider fail in the same way.
			for _, other := range questions[i:] {
				s.readings.note(other, p, 0, err, s.options.Clock.Now())
			}
			outcome = err
			break
		}
		value, failed := s.read(ctx, source, p, q)
		if ctx.Err() != nil {
			return
		}
		o.breaker.Done(failed)
		s.readings.note(q, p, value, failed, s.options.Clock.Now())
		if failed != nil && failed.Provider {
			outcome = failed
		}
	}
	s.readings.noteProvider(p.uid, outcome)
}

// read asks one question, and checks the value against the range of the metric.
func (s *Sampler) read(ctx context.Context, source metricsources.Source, p *provider, q *question) (float64, *metricsources.Error) {
	begin := s.options.Clock.Now()
	sample, err := metricsources.Take(ctx, source, q.query, q.metric.spec)
	readDuration.WithLabelValues(string(p.spec.Type)).Observe(s.options.Clock.Since(begin).Seconds())
	if err == nil {
		reads.WithLabelValues(string(p.spec.Type), berthv1alpha1.ReasonMetricsRead).Inc()
		return sample.Value, nil
	}
	var known *metricsources.Error
	if !errors.As(err, &known) {
		known = &metricsources.Error{Reason: berthv1alpha1.ReasonBadAnswer, Message: "the metric cannot be read"}
	}
	reads.WithLabelValues(string(p.spec.Type), known.Reason).Inc()
	return 0, known
}

// notify asks for a pass of the Reconciler.
func (s *Sampler) notify() {
	select {
	case s.changed <- event.GenericEvent{}:
	default:
		// One is asked for already.
	}
}
