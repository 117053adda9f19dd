// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	berthclient "berth.dev/berth/pkg/generated/clientset/versioned/typed/berth/v1alpha1"
	"berth.dev/berth/pkg/registration"
)

// Config is what a gateway needs.
type Config struct {
	// Clusters and Pods are clients with the gateway's own rights. Pods are only listed.
	Clusters berthclient.ClustersGetter
	Pods     corev1client.PodsGetter

	// Known saves asking for clusters that are unregistered. It may be nil.
	Known Known

	// Authenticator and Authorizer decide who may do what. They must be safe for concurrent use.
	Authenticator authenticator.Request
	Authorizer    authorizer.Authorizer

	// Registry takes the metrics of the gateway, and /metrics shows all that it has. It must not
	// have those of another gateway.
	Registry *prometheus.Registry

	// Limits bound what clients may ask for.
	Limits Limits

	// TokenClients make the clients that the pages for browsers are read with. Without them there
	// are no pages.
	TokenClients TokenClients

	// Done ends what the pages watch, and the streams that tell browsers of changes.
	Done <-chan struct{}
}

// Limits bound what clients may ask for. All must be positive.
type Limits struct {
	// ClientQPS and ClientBurst are the rate of one user. An address, behind which many users may
	// be, has a rate addressFactor times as high; it bounds what is spent on callers that nobody
	// knows yet.
	ClientQPS   float32
	ClientBurst int
	// InFlight is the number of requests that are worked on at once.
	InFlight int
	// BodyTimeout is how long a client may take to send the body of a request.
	BodyTimeout time.Duration
}

// addressFactor is how many users at full rate one address may have.
const addressFactor = 4

// DefaultLimits suit a gateway in front of an API server of its size: more requests would only wait
// there.
func DefaultLimits() Limits {
	return Limits{ClientQPS: 200, ClientBurst: 1000, InFlight: 200, BodyTimeout: 15 * time.Second}
}

// Gateway serves the registration API. It is an http.Handler, safe for concurrent use.
type Gateway struct {
	config    Config
	clusters  berthclient.ClusterInterface
	lookup    *lookup
	users     *clientLimiter
	addresses *clientLimiter
	inFlight  chan struct{}
	measures  *measures
	metrics   http.Handler
	// pages is nil if there are none.
	pages *pages
}

var _ http.Handler = &Gateway{}

// New returns a gateway. It sends nothing before the first request.
func New(config Config) *Gateway {
	g := &Gateway{
		config:    config,
		clusters:  config.Clusters.Clusters(),
		users:     newClientLimiter(config.Limits.ClientQPS, config.Limits.ClientBurst),
		addresses: newClientLimiter(config.Limits.ClientQPS*addressFactor, config.Limits.ClientBurst*addressFactor),
		inFlight:  make(chan struct{}, config.Limits.InFlight),
		measures:  newMeasures(config.Registry),
		metrics:   promhttp.HandlerFor(config.Registry, promhttp.HandlerOpts{}),
	}
	g.lookup = newLookup(g.clusters)
	if config.TokenClients != nil {
		g.pages = newPages(g)
	}
	return g
}

// request is a request whose caller is known, unless its route is public.
type request struct {
	*http.Request
	route route
	user  user.Info
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rt := routeOf(r.URL)
	observed := g.observe(w, r, rt)
	defer observed.end(r.Context())
	if rt.kind == routePages && g.pages != nil {
		// A stream of events lasts longer than what is answered at once.
		g.pages.serve(observed, r)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), g.config.Limits.BodyTimeout+handlingTimeout)
	defer cancel()
	err := g.serve(observed, &request{Request: r.WithContext(ctx), route: rt})
	switch {
	case err != nil && observed.status != 0:
		observed.abort(err)
	case err != nil:
		observed.fail(err)
	}
}

// serve lets a request through all that may refuse it, and answers it. After an error the answer is
// not complete, and mostly not begun.
func (g *Gateway) serve(w *observer, r *request) error {
	if !r.route.public() {
		select {
		case g.inFlight <- struct{}{}:
			defer func() { <-g.inFlight }()
		default:
			return tooMany("there are")
		}
		if err := g.identify(w, r); err != nil {
			return err
		}
	}
	if r.route.kind == routeNone || r.route.kind == routePages {
		return problem(http.StatusNotFound, CodeNoSuchPath, "the API has no such path")
	}
	if !r.route.allows(r.Method) {
		p := problem(http.StatusMethodNotAllowed, CodeMethodNotAllowed, "this path has no method %.16q", r.Method)
		p.header.Set("Allow", r.route.allow())
		return p
	}
	if p := r.route.check(); p != nil {
		return p
	}
	return g.handle(w, r)
}

// identify finds out who the caller is, as long as neither the address nor the user asks too often.
func (g *Gateway) identify(w *observer, r *request) error {
	if !g.addresses.allow(addressOf(r.Request)) {
		return tooMany("your address sends")
	}
	return g.recognize(w, r)
}

// recognize finds out who the caller is, as long as the user does not ask too often. Who calls it
// has asked the limiter of addresses.
func (g *Gateway) recognize(w *observer, r *request) error {
	caller, err := g.authenticate(r.Request)
	if err != nil {
		return err
	}
	r.user, w.user = caller, caller.GetName()
	if !g.users.allow(caller.GetName()) {
		return tooMany("you send")
	}
	return nil
}

func (g *Gateway) handle(w *observer, r *request) error {
	switch r.route.kind {
	case routeHealth:
		return writeText(w, "ok\n")
	case routeOpenAPI:
		return writeOpenAPI(w)
	case routeMetrics:
		if err := g.authorizePath(r); err != nil {
			return err
		}
		g.metrics.ServeHTTP(w, r.Request)
		return nil
	}
	switch r.Method {
	case http.MethodPost:
		return g.register(w, r)
	case http.MethodPut:
		return g.update(w, r, "update", registration.DecodeReplacement)
	case http.MethodPatch:
		return g.update(w, r, "patch", registration.Merge)
	case http.MethodDelete:
		return g.unregister(w, r)
	}
	if r.route.kind == routeClusters {
		return g.list(w, r)
	}
	return g.get(w, r)
}
