// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// Prefix is the folder of all pages on a server.
	Prefix = "/ui/"
	// EventsPath is where a browser is told of changes, for minutes.
	EventsPath = Prefix + "events"
)

//go:embed assets
var assets embed.FS

var documents = template.Must(template.New("").Funcs(template.FuncMap{"address": address}).ParseFS(assets, "assets/*.html"))

// address returns where a link of a cell leads: a query of the same page, a page below Prefix, or
// one elsewhere.
func address(link string) string {
	if strings.HasPrefix(link, "?") || strings.HasPrefix(link, "https://") {
		return link
	}
	return Prefix + link
}

// readTimeout is how long a page waits for what has not been read yet. What is missing then is said
// on the page.
const readTimeout = 5 * time.Second

// Viewer is who looks at a page.
type Viewer struct {
	// Source is what the viewer may see.
	Source *Source
	// Name is shown on the page, nothing if empty.
	Name string
	// Leave offers to forget the token with which the viewer has come.
	Leave bool
	// Namespaced offers to choose a namespace.
	Namespaced bool
}

// Handler serves the pages below Prefix. Find returns who looks; it answers the request itself and
// returns nil if nobody does that may. It is safe for concurrent use if Find is.
type Handler struct {
	Find func(http.ResponseWriter, *http.Request) *Viewer
	// NamespaceCookie remembers which namespace a browser shows, if Find offers to choose one.
	// Browsers do not tell the ports of a host apart, so servers on one host need names of their own.
	NamespaceCookie string
	// Done ends the streams of events, so that a server can be shut down.
	Done <-chan struct{}
}

var _ http.Handler = &Handler{}

// SetHeaders sets what keeps a document from being framed, from loading anything of another origin
// and from running a script that is not Berth's own.
func SetHeaders(header http.Header) {
	header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	SetHeaders(w.Header())
	path, below := strings.CutPrefix(r.URL.EscapedPath(), Prefix)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the pages can only be read", http.StatusMethodNotAllowed)
		return
	case !below && r.URL.Path == strings.TrimSuffix(Prefix, "/"):
		http.Redirect(w, r, Prefix, http.StatusFound)
		return
	case !below:
		http.NotFound(w, r)
		return
	case serveAsset(w, path):
		return
	case path == "namespace":
		h.chooseNamespace(w, r)
		return
	}
	viewer := h.Find(w, r)
	switch {
	case viewer == nil:
	case path == "events":
		h.stream(w, r, viewer.Source)
	default:
		serve(w, r, viewer, path)
	}
}

// serveAsset serves a file that is the same for everybody, and reports whether there is one of the
// path below Prefix.
func serveAsset(w http.ResponseWriter, path string) bool {
	kind := map[string]string{
		"assets/page.js": "text/javascript; charset=utf-8", "assets/style.css": "text/css; charset=utf-8", "assets/icon.svg": "image/svg+xml",
	}[path]
	if kind == "" {
		return false
	}
	content, err := assets.ReadFile(path)
	if err != nil {
		return false
	}
	w.Header().Set("Content-Type", kind)
	// An error means that the client is gone.
	_, _ = w.Write(content) //nolint:gosec // one of three files that are part of the program
	return true
}

// serve answers with a page.
func serve(w http.ResponseWriter, r *http.Request, viewer *Viewer, path string) {
	viewer.Source.wait(r.Context())
	query := r.URL.Query()
	known := viewer.Source.snapshot()
	shown, status := known.find(path, query), http.StatusOK
	if shown == nil {
		shown, status = known.notFound(), http.StatusNotFound
	}
	for _, t := range shown.Tables {
		t.arrange(query)
	}
	shown.Filter = bounded(query.Get("q"))
	shown.At, shown.Stale, shown.Version = clockTime(known.at), clockTime(known.stale), known.version
	shown.Namespace, shown.Namespaced = known.namespace, viewer.Namespaced
	shown.Who, shown.Leave = viewer.Name, viewer.Leave
	WriteDocument(w, status, "page.html", shown)
}

// WriteBusy answers somebody for whom there is no Source at present, with a page that offers to
// choose a namespace.
func WriteBusy(w http.ResponseWriter, r *http.Request, why error) {
	w.Header().Set("Retry-After", "60")
	if r.URL.Path == EventsPath {
		http.Error(w, why.Error(), http.StatusServiceUnavailable)
		return
	}
	WriteDocument(w, http.StatusServiceUnavailable, "page.html", &page{
		Title: "Not now", Reasons: []string{why.Error()}, Namespaced: true, At: clockTime(time.Now()),
	})
}

// WriteDocument answers with a document of a template.
func WriteDocument(w http.ResponseWriter, status int, name string, data any) {
	var document bytes.Buffer
	if err := documents.ExecuteTemplate(&document, name, data); err != nil {
		http.Error(w, "the page could not be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// An error means that the client is gone.
	_, _ = w.Write(document.Bytes())
}

// wait waits until everything has been read that can be, for a while.
func (s *Source) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	for {
		_, changed := s.next()
		if s.settled() {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.ended:
			return
		case <-changed:
		}
	}
}

// settled reports whether each kind has been read, or cannot be.
func (s *Source) settled() bool {
	for _, k := range s.kinds {
		if k.refused() == nil && !k.informer.HasSynced() {
			return false
		}
	}
	return true
}

// find returns the page of a path below Prefix, nil if there is none.
func (s *snapshot) find(path string, query url.Values) *page {
	switch path {
	case "", "sites":
		return s.sites()
	case "pools":
		return s.pools()
	case "applications":
		return s.applicationsView()
	case "subscriptions":
		return s.subscriptionsView()
	case "waiting":
		return s.waiting(query)
	case "health":
		return s.healthView()
	}
	parts := strings.Split(path, "/")
	for i := range parts {
		decoded, err := url.PathUnescape(parts[i])
		if err != nil {
			return nil
		}
		parts[i] = decoded
	}
	if len(parts) == 2 {
		return s.findOf(parts[0], parts[1])
	}
	if len(parts) > 3 && parts[0] == "namespaces" {
		return s.findIn(parts[1], parts[2], parts[3:])
	}
	return nil
}

// findOf returns the page of an object of no namespace, nil if there is none.
func (s *snapshot) findOf(kind, name string) *page {
	switch kind {
	case "clusters":
		return s.cluster(name)
	case "resources":
		return s.resource(name)
	}
	return nil
}

// findIn returns the page of an object of a namespace, nil if there is none.
func (s *snapshot) findIn(namespace, kind string, names []string) *page {
	switch {
	case kind == "workloads" && len(names) == 2:
		return s.workload(namespace, names[0], names[1])
	case len(names) != 1:
		return nil
	case kind == "applications":
		return s.application(namespace, names[0])
	case kind == "subscriptions":
		return s.subscription(namespace, names[0])
	case kind == "pods":
		return s.pod(namespace, names[0])
	}
	return nil
}

func (s *snapshot) notFound() *page {
	p := &page{Title: "Not found", Reasons: []string{"There is no such page, or nothing of this name that you may see."}}
	for _, name := range []string{pods, clusters, resources, applications, subscriptions, policies} {
		p.Notes = append(p.Notes, s.notes(name)...)
	}
	return p
}
