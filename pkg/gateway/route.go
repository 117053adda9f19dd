// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"berth.dev/berth/pkg/registration"
)

// The routes, as metrics and the access log name them. Paths of callers are no labels: there is no
// end of them.
const (
	routeClusters = "clusters"
	routeByID     = "clusters/id"
	routeByName   = "clusters/name"
	routeOpenAPI  = "openapi.json"
	routeHealth   = "health"
	routeMetrics  = "metrics"
	routePages    = "ui"
	routeNone     = "none"
)

// route is what a path means.
type route struct {
	kind string
	// key is the id or the name of a cluster, as the caller wrote it.
	key string
}

// methods are what can be done with each route.
var methods = map[string][]string{
	routeClusters: {http.MethodGet, http.MethodHead, http.MethodPost},
	routeByID:     {http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete},
	routeByName:   {http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete},
	routeOpenAPI:  {http.MethodGet, http.MethodHead},
	routeHealth:   {http.MethodGet, http.MethodHead},
	routeMetrics:  {http.MethodGet, http.MethodHead},
}

// public reports whether everybody may use a route.
func (r route) public() bool { return r.kind == routeOpenAPI || r.kind == routeHealth }

// allows reports whether a route has a method.
func (r route) allows(method string) bool { return slices.Contains(methods[r.kind], method) }

// allow is the value of the header Allow.
func (r route) allow() string { return strings.Join(methods[r.kind], ", ") }

// check returns an error unless the key can be that of a cluster.
func (r route) check() *Problem {
	switch r.kind {
	case routeByID:
		if err := registration.CheckID(r.key); err != nil {
			return badRequest(CodeInvalidID, err)
		}
	case routeByName:
		if err := registration.CheckName(r.key); err != nil {
			return badRequest(CodeInvalidName, err)
		}
	}
	return nil
}

// routeOf finds the meaning of a path. Each segment is decoded once and by itself, so that an
// encoded slash stays a part of its segment. All clusters have a path with a slash at the end, too,
// because clients differ in whether they send it; nothing is cleaned up or redirected.
func routeOf(u *url.URL) route {
	switch u.Path {
	case "/healthz", "/livez", "/readyz":
		return route{kind: routeHealth}
	case "/metrics":
		return route{kind: routeMetrics}
	case pathPrefix + "/openapi.json":
		return route{kind: routeOpenAPI}
	}
	if isPage(u.Path) {
		return route{kind: routePages}
	}
	rest, found := strings.CutPrefix(u.EscapedPath(), pathPrefix+"/clusters")
	if !found || rest != "" && rest[0] != '/' {
		return route{kind: routeNone}
	}
	if rest == "" || rest == "/" {
		return route{kind: routeClusters}
	}
	segments := strings.Split(rest[1:], "/")
	key, err := url.PathUnescape(segments[len(segments)-1])
	if err != nil || key == "" {
		return route{kind: routeNone}
	}
	return clusterRoute(segments, key)
}

// clusterRoute tells by what a cluster is named: /id/ID, /name/NAME, or the short form that takes
// either.
func clusterRoute(segments []string, key string) route {
	switch {
	case len(segments) == 2 && segments[0] == "id":
		return route{kind: routeByID, key: key}
	case len(segments) == 2 && segments[0] == "name":
		return route{kind: routeByName, key: key}
	case len(segments) > 1 || key == "id" || key == "name":
		return route{kind: routeNone}
	case registration.IsID(key):
		return route{kind: routeByID, key: key}
	default:
		return route{kind: routeByName, key: key}
	}
}
