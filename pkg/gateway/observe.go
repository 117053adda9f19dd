// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"runtime/debug"
	"strconv"
	"time"

	"k8s.io/klog/v2"
)

const requestIDHeader = "X-Request-Id"

// requestID matches the ids that callers may give their requests.
var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// observer is the writer of an answer. It notes what the access log and the metrics tell, and
// nothing of what is secret: no headers, no bodies, no queries.
type observer struct {
	http.ResponseWriter
	measures *measures
	request  *http.Request
	route    route
	id       string
	start    time.Time
	user     string
	status   int
	bytes    int
	aborted  bool
}

// observe begins to observe a request, and sets what all answers have.
func (g *Gateway) observe(w http.ResponseWriter, r *http.Request, rt route) *observer {
	o := &observer{ResponseWriter: w, measures: g.measures, request: r, route: rt, start: time.Now()}
	if o.id = r.Header.Get(requestIDHeader); !requestID.MatchString(o.id) {
		o.id = rand.Text()
	}
	header := w.Header()
	header.Set(requestIDHeader, o.id)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	// Not all writers have deadlines; those of real connections do.
	_ = http.NewResponseController(w).SetWriteDeadline(o.start.Add(g.config.Limits.BodyTimeout + handlingTimeout + writeTimeout))
	o.measures.inFlight.Inc()
	return o
}

// WriteHeader implements http.ResponseWriter.
func (o *observer) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (o *observer) Write(data []byte) (int, error) {
	if o.status == 0 {
		o.status = http.StatusOK
	}
	n, err := o.ResponseWriter.Write(data)
	o.bytes += n
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (o *observer) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// fail answers with a problem. Causes go to the log alone.
func (o *observer) fail(err error) {
	p := *problemOf(err)
	p.RequestID = o.id
	maps.Copy(o.Header(), p.header)
	if p.status == http.StatusTooManyRequests {
		o.measures.limited.Inc()
	}
	if p.cause != nil {
		klog.FromContext(o.request.Context()).Error(p.cause, "Could not answer", "requestID", o.id, "status", p.status)
	}
	if p.status == http.StatusNotModified {
		o.WriteHeader(p.status)
		return
	}
	// A Problem can always be encoded.
	_ = writeJSON(o, p.status, p)
}

// abort notes that an answer which has begun cannot be completed. The client must not take it for a
// whole one, so the connection ends in the middle of it.
func (o *observer) abort(err error) {
	klog.FromContext(o.request.Context()).Error(err, "Could not complete the answer", "requestID", o.id)
	o.aborted = true
}

// end answers for a handler that panicked, and notes the request.
func (o *observer) end(ctx context.Context) {
	defer func() {
		if o.aborted {
			panic(http.ErrAbortHandler)
		}
	}()
	if panicked := recover(); panicked != nil {
		o.recovered(ctx, panicked)
	}
	o.measures.inFlight.Dec()
	taken := time.Since(o.start)
	o.measures.requests.WithLabelValues(methodLabel(o.request.Method), o.route.kind, strconv.Itoa(o.status)).Inc()
	if !isStream(o.request) {
		o.measures.duration.WithLabelValues(methodLabel(o.request.Method), o.route.kind).Observe(taken.Seconds())
	}
	if o.route.kind == routeHealth {
		return
	}
	klog.FromContext(ctx).Info("Handled", "requestID", o.id, "method", methodLabel(o.request.Method), "path", bounded(o.request.URL.Path),
		"status", o.status, "duration", taken, "bytes", o.bytes, "user", bounded(o.user), "remoteAddress", o.request.RemoteAddr)
}

func (o *observer) recovered(ctx context.Context, panicked any) {
	o.measures.panics.Inc()
	klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", panicked), "A handler panicked", "requestID", o.id, "stack", string(debug.Stack()))
	if o.status == 0 {
		o.fail(internal(nil))
	}
}

// bounded cuts a text that callers write.
func bounded(text string) string {
	const most = 256
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
