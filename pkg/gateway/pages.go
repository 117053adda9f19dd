// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/wait"

	"berth.dev/berth/pkg/ui"
)

const (
	// tokenCookie keeps the token of a browser. No script can read it.
	tokenCookie = "berth-token"

	// securePrefix begins the names of cookies that browsers take over TLS only, so that nobody who
	// serves plain HTTP under the same name can plant one.
	securePrefix = "__Secure-"

	enterPath, leavePath = ui.Prefix + "enter", ui.Prefix + "leave"

	// maxToken bounds what is kept in a cookie, which browsers bound at 4096 bytes with its name.
	maxToken = 3800

	// maxViewers bounds how many different users and namespaces have pages at a time, maxEach how many
	// one user has: each takes memory for all the objects that the user may see.
	maxViewers = 20
	maxEach    = 4
)

// TokenClients returns clients that have the rights of a token and no others.
type TokenClients func(token string) (ui.Clients, error)

// token matches what can be a token, and can be kept in a cookie as it is.
var token = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]+$`)

// pages are the pages for browsers. Whoever looks at them is known by a token, in a header or in a
// cookie, and what they show is read with that token: the gateway lends nobody its own rights.
type pages struct {
	gateway *Gateway
	sources ui.Sources
	handler ui.Handler
	streams chan struct{}
	// entering bounds the forms that are read at once. Nobody knows who sends them, so they must not
	// take the place of requests of callers who are known.
	entering chan struct{}
}

// enteringShare is how many requests there may be for each form with a token.
const enteringShare = 10

func newPages(g *Gateway) *pages {
	most := g.config.Limits.InFlight
	p := &pages{
		gateway: g, sources: ui.Sources{Most: maxViewers, MostEach: maxEach},
		streams: make(chan struct{}, most), entering: make(chan struct{}, max(1, most/enteringShare)),
	}
	p.handler = ui.Handler{Find: p.find, Done: g.config.Done, NamespaceCookie: "berth-namespace"}
	return p
}

// isPage reports whether a path is that of a page.
func isPage(path string) bool {
	return path == strings.TrimSuffix(ui.Prefix, "/") || strings.HasPrefix(path, ui.Prefix)
}

// isStream reports whether a request is answered for as long as somebody looks, which says nothing
// about how quick the gateway is.
func isStream(r *http.Request) bool { return r.URL.Path == ui.EventsPath }

// serve answers a request for a page.
func (p *pages) serve(w *observer, r *http.Request) {
	busy := p.gateway.inFlight
	enters := r.URL.Path == enterPath && r.Method == http.MethodPost
	switch {
	case enters:
		busy = p.entering
	case isStream(r):
		busy = p.streams
	}
	select {
	case busy <- struct{}{}:
		defer func() { <-busy }()
	default:
		w.fail(tooMany("there are"))
		return
	}
	switch {
	case enters:
		p.enter(w, r)
	case r.URL.Path == leavePath:
		p.leave(w, r)
	default:
		p.handler.ServeHTTP(w, r)
	}
}

// ask asks for a token, and says what is wrong with the last one.
func ask(w http.ResponseWriter, status int, problem string) {
	ui.WriteDocument(w, status, "enter.html", struct{ Problem string }{problem})
}

// enter keeps a token in a cookie, if it is one.
func (p *pages) enter(w *observer, r *http.Request) {
	ui.SetHeaders(w.Header())
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		http.Error(w, "the form was sent from elsewhere", http.StatusForbidden)
		return
	}
	if !p.gateway.addresses.allow(addressOf(r)) {
		w.fail(tooMany("your address sends"))
		return
	}
	given, err := p.readToken(w, r)
	if err != nil {
		w.fail(err)
		return
	}
	if given == "" {
		ask(w, http.StatusBadRequest, "This is no token that a browser can keep.")
		return
	}
	r.Header.Set("Authorization", "Bearer "+given)
	if err := p.gateway.recognize(w, &request{Request: r}); err != nil {
		refuse(w, r, err)
		return
	}
	http.SetCookie(w, cookieOf(r, given, 0))
	http.Redirect(w, r, ui.Prefix, http.StatusSeeOther)
}

// readToken returns the token of the form, empty if there is none that can be kept.
func (p *pages) readToken(w http.ResponseWriter, r *http.Request) (string, error) {
	data, err := readBody(w, r, p.gateway.config.Limits.BodyTimeout, 2*maxToken)
	var exceeded *http.MaxBytesError
	if errors.As(err, &exceeded) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	form, err := url.ParseQuery(string(data))
	given := strings.TrimSpace(form.Get("token"))
	if err != nil || len(given) > maxToken || !token.MatchString(given) {
		return "", nil //nolint:nilerr // what is no form has no token
	}
	return given, nil
}

func cookieOf(r *http.Request, value string, age int) *http.Cookie {
	//nolint:gosec // over plain HTTP, which the gateway only speaks on loopback, browsers keep no secure cookie
	return &http.Cookie{
		Name: cookieName(r), Value: value, Path: ui.Prefix, MaxAge: age, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	}
}

// cookieName is what the cookie with the token is called.
func cookieName(r *http.Request) string {
	if r.TLS != nil {
		return securePrefix + tokenCookie
	}
	return tokenCookie
}

// kept returns the token that a browser has kept, empty if there is none.
func kept(r *http.Request) string {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil || !token.MatchString(cookie.Value) {
		return ""
	}
	return cookie.Value
}

// leave forgets the token of a browser, and what is watched with it.
func (p *pages) leave(w http.ResponseWriter, r *http.Request) {
	ui.SetHeaders(w.Header())
	if given := kept(r); given != "" {
		p.sources.End(hashed(given))
	}
	http.SetCookie(w, cookieOf(r, "", -1))
	http.Redirect(w, r, ui.Prefix, http.StatusFound)
}

// hashed stands for a token where it is remembered.
func hashed(given string) string {
	sum := sha256.Sum256([]byte(given))
	return string(sum[:])
}

// refuse answers somebody who may not look. A browser gets the form for another token.
func refuse(w *observer, r *http.Request, err error) {
	problem := problemOf(err)
	if problem.status == http.StatusUnauthorized && !isStream(r) {
		ask(w, problem.status, "The API server does not take this token, or not any more.")
		return
	}
	w.fail(err)
}

// find returns who looks at a page.
func (p *pages) find(w http.ResponseWriter, r *http.Request) *ui.Viewer {
	o, ok := w.(*observer)
	if !ok {
		http.Error(w, "the page could not be served", http.StatusInternalServerError)
		return nil
	}
	given, inHeader := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !inHeader {
		if given = kept(r); given == "" {
			ask(w, http.StatusUnauthorized, "")
			return nil
		}
		r.Header.Set("Authorization", "Bearer "+given)
	}
	asked := &request{Request: r}
	if err := p.gateway.identify(o, asked); err != nil {
		refuse(o, r, err)
		return nil
	}
	source, err := p.source(asked.user.GetName(), given, p.handler.NamespaceOf(r, ""))
	switch {
	case errors.Is(err, ui.ErrTooMany):
		ui.WriteBusy(w, r, err)
		return nil
	case err != nil:
		o.fail(internal(err))
		return nil
	}
	return &ui.Viewer{Source: source, Name: bounded(asked.user.GetName()), Leave: !inHeader, Namespaced: true}
}

// source returns what the token of a user may see of a namespace.
func (p *pages) source(user, given, namespace string) (*ui.Source, error) {
	lasting := wait.ContextForChannel(p.handler.Done)
	key := ui.Key{Viewer: user, Credentials: hashed(given), Namespace: namespace}
	return p.sources.Get(lasting, key, func(ctx context.Context) (*ui.Source, error) {
		clients, err := p.gateway.config.TokenClients(given)
		if err != nil {
			return nil, err
		}
		return ui.NewSource(ctx, clients, namespace, nil)
	})
}
