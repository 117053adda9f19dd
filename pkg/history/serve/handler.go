// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package serve answers over HTTP what a process remembers, to those whom the API server lets read
// it: a caller needs the right to get the path, and learns of an object only what he may get.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"berth.dev/berth/pkg/history"
)

// Path is where it is served, and the nonResourceURL that callers need the right to get.
const Path = "/berth/history"

// Flag is the name of the flag of a program that says at which address it is served.
const Flag = "history-bind-address"

// FlagUsage is what the help says about that flag.
const FlagUsage = "Address, such as 127.0.0.1:10263, where " + Path + " is served over TLS: what this process has decided, for " +
	"berthctl explain --history. Callers need the right to get that path, and are told what they may get. At most 16 MiB of the last " +
	"day are kept in memory. Without an address nothing is remembered."

// Handler serves what a Ring remembers. It is safe for concurrent use.
type Handler struct {
	// Process is the name of the process, for those who ask several.
	Process string
	// Ring is what is served.
	Ring *history.Ring
	// Authenticator says who callers are, Authorizer what they may do. Both ask the API server, and
	// keep its answers for some seconds.
	Authenticator authenticator.Request
	Authorizer    authorizer.Authorizer
}

// ServeHTTP answers GET with what is remembered about the object that the query names by group,
// kind, namespace and name.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case r.URL.Path != Path:
		http.Error(w, "only "+Path+" is served here", http.StatusNotFound)
		return
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET is served here", http.StatusMethodNotAllowed)
		return
	}
	response, known, err := h.Authenticator.AuthenticateRequest(r)
	if err != nil || !known || response.User.GetName() == user.Anonymous {
		http.Error(w, "the request carries no valid credentials", http.StatusUnauthorized)
		return
	}
	caller := response.User
	decision, _, err := h.Authorizer.Authorize(r.Context(), authorizer.AttributesRecord{User: caller, Verb: "get", Path: Path})
	if decision != authorizer.DecisionAllow {
		refuse(w, err, fmt.Sprintf("user %.253q may not get %s; the ClusterRole berth-history-reader allows it", caller.GetName(), Path))
		return
	}
	object, err := objectOf(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rights := &rights{ctx: r.Context(), authorizer: h.Authorizer, user: caller, known: map[history.Object]bool{}}
	answer := h.Ring.Find(object, rights.mayGet)
	if rights.err != nil {
		refuse(w, rights.err, "")
		return
	}
	answer.Process = h.Process
	text, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, "the history cannot be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// Nobody is left to be told of an error: the caller is gone.
	_, _ = w.Write(text)
}

// refuse answers a caller who lacks a right, or of whom that cannot be told.
func refuse(w http.ResponseWriter, err error, why string) {
	if err != nil {
		http.Error(w, "the API server cannot say what the caller may read", http.StatusServiceUnavailable)
		return
	}
	http.Error(w, why, http.StatusForbidden)
}

// kindForm is how kinds of Kubernetes are written.
var kindForm = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)

var errName = errors.New("the query must give the name of an object")

// objectOf reads which object a query names.
func objectOf(query url.Values) (history.Object, error) {
	object := history.Object{
		Group: query.Get("group"), Kind: query.Get("kind"), Namespace: query.Get("namespace"), Name: query.Get("name"),
	}
	switch {
	case !kindForm.MatchString(object.Kind):
		return object, fmt.Errorf("%.64q is no kind such as Pod", object.Kind)
	case object.Group != "" && len(validation.IsDNS1123Subdomain(object.Group)) > 0:
		return object, fmt.Errorf("%.64q is no API group", object.Group)
	case object.Namespace != "" && len(validation.IsDNS1123Label(object.Namespace)) > 0:
		return object, fmt.Errorf("%.64q is no namespace", object.Namespace)
	case object.Name == "":
		return object, errName
	case len(validation.IsDNS1123Subdomain(object.Name)) > 0:
		return object, fmt.Errorf("%.64q is no name of an object", object.Name)
	}
	return object, nil
}

// maxAsked is how many objects are asked about one by one in an answer; further ones are not told.
const maxAsked = 50

// rights tell which objects a caller may get.
type rights struct {
	ctx        context.Context //nolint:containedctx // lives as long as the request
	authorizer authorizer.Authorizer
	user       user.Info
	known      map[history.Object]bool
	asked      int
	err        error
}

// mayGet reports whether the caller may get an object, asking about all of its namespace first.
func (r *rights) mayGet(object history.Object) bool {
	object.UID = ""
	all := object
	all.Name = metav1.NamespaceAll
	if r.allows(all) {
		return true
	}
	if _, known := r.known[object]; !known && r.asked >= maxAsked {
		return false
	}
	return r.allows(object)
}

// allows asks once about an object, or about all of a kind in a namespace.
func (r *rights) allows(object history.Object) bool {
	if allowed, known := r.known[object]; known {
		return allowed
	}
	r.asked++
	resource, _ := apimeta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: object.Group, Version: "v1", Kind: object.Kind})
	decision, _, err := r.authorizer.Authorize(r.ctx, authorizer.AttributesRecord{
		User: r.user, Verb: "get", APIGroup: object.Group, APIVersion: "*", Resource: resource.Resource,
		Namespace: object.Namespace, Name: object.Name, ResourceRequest: true,
	})
	allowed := decision == authorizer.DecisionAllow
	if err != nil && !allowed {
		r.err = err
	}
	r.known[object] = allowed
	return allowed
}
