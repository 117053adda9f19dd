// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Request is a request of the Kubernetes API. It may be served several times.
type Request struct {
	// Verb is that of the API: get, list, watch, create, update, patch or delete.
	Verb string
	// Path is that of the URL, for requests of discovery, which have no resource.
	Path string
	// Resource, Namespace, Name and Subresource are what the request is about.
	Resource                     schema.GroupVersionResource
	Namespace, Name, Subresource string

	query       url.Values
	body        []byte
	contentType string
	// metadata is true if the client wants nothing but the metadata of objects.
	metadata bool
}

// maxBody bounds what a client sends.
const maxBody = 4 << 20

// Parse reads a request of a client.
func Parse(r *http.Request) (*Request, error) {
	request := &Request{
		Path: r.URL.Path, query: r.URL.Query(), contentType: r.Header.Get("Content-Type"),
		metadata: strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata"),
	}
	if r.Body != nil {
		defer r.Body.Close()
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
		if err != nil {
			return nil, fmt.Errorf("reading the body of %s %s: %w", r.Method, r.URL.Path, err)
		}
		request.body = body
	}
	request.locate()
	request.Verb = verbOf(r.Method, request)
	return request, nil
}

func verbOf(method string, request *Request) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	switch {
	case request.query.Get("watch") == "true" || request.query.Get("watch") == "1":
		return "watch"
	case request.Resource.Resource != "" && request.Name == "":
		return "list"
	}
	return "get"
}

// locate reads the path: /api/v1/… or /apis/GROUP/VERSION/…, then namespaces/NAMESPACE if the
// resource is in one, then RESOURCE/NAME/SUBRESOURCE as far as given.
func (r *Request) locate() {
	parts := strings.Split(strings.Trim(r.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		r.Resource.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		r.Resource.Group, r.Resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return
	}
	if len(parts) > 2 && parts[0] == "namespaces" && !slices.Contains([]string{"status", "finalize"}, parts[2]) {
		r.Namespace, parts = parts[1], parts[2:]
	}
	r.Resource.Resource = parts[0]
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		r.Subresource = parts[2]
	}
}

// Writes reports whether the request may change something.
func (r *Request) Writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete"}, r.Verb)
}

// Kind is what the request has in common with the same for other objects: "create pods/binding".
func (r *Request) Kind() string {
	kind := r.Verb + " " + r.Resource.Resource
	if r.Subresource != "" {
		kind += "/" + r.Subresource
	}
	return kind
}

// String names the request by what it is about: "create pods/binding default/web-1".
func (r *Request) String() string {
	if r.Resource.Resource == "" {
		return r.Verb + " " + r.Path
	}
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + name
	}
	return strings.TrimSpace(r.Kind() + " " + name)
}

// NewRequest returns a request of somebody who speaks to the server directly. A patch is a merge
// patch.
func NewRequest(verb string, resource schema.GroupVersionResource, namespace, name, subresource string, body any) *Request {
	request := &Request{
		Verb: verb, Resource: resource, Namespace: namespace, Name: name, Subresource: subresource,
		contentType: string(types.MergePatchType), query: url.Values{},
	}
	if body != nil {
		request.body = encode(body)
	}
	return request
}

// Decode reads what a request sends into an object of its type. It is false if it sends something
// else.
func (r *Request) Decode(into any) bool { return json.Unmarshal(r.body, into) == nil }
