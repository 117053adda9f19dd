// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// resource is what rights on clusters are given for.
const resource = "clusters"

// authenticate finds out who the caller is. A caller without credentials is nobody here, whatever
// the API server lets anonymous callers do.
func (g *Gateway) authenticate(r *http.Request) (user.Info, error) {
	// Some authenticators remove the credentials from the headers, and nothing later needs them.
	response, ok, err := g.config.Authenticator.AuthenticateRequest(r)
	r.Header.Del("Authorization")
	if err != nil && isTransient(err) {
		return nil, unavailable(err)
	}
	if err != nil || !ok || response.User.GetName() == user.Anonymous {
		p := problem(http.StatusUnauthorized, CodeUnauthenticated, "the request carries no valid credentials")
		p.header.Set("WWW-Authenticate", `Bearer realm="berth-gateway"`)
		return nil, p
	}
	return response.User, nil
}

// isTransient reports whether credentials could not be judged, which says nothing about them. An
// error may stand for several authenticators.
func isTransient(err error) bool {
	var several utilerrors.Aggregate
	if !errors.As(err, &several) {
		return isUnreachable(err)
	}
	return slices.ContainsFunc(utilerrors.Flatten(several).Errors(), isUnreachable)
}

// authorize returns an error unless the caller may do something to a cluster. An empty name stands
// for all clusters.
func (g *Gateway) authorize(r *request, verb, name string) error {
	return g.decide(r, authorizer.AttributesRecord{
		User:            r.user,
		Verb:            verb,
		APIGroup:        berthv1alpha1.SchemeGroupVersion.Group,
		APIVersion:      berthv1alpha1.SchemeGroupVersion.Version,
		Resource:        resource,
		Name:            name,
		ResourceRequest: true,
	}, fmt.Sprintf("%s %s.%s", verb, resource, berthv1alpha1.SchemeGroupVersion.Group))
}

// permitNamed returns an error unless the caller may do something to a named cluster. Who may do it
// to all is asked about as well: an authorizer may except some names.
func (g *Gateway) permitNamed(r *request, verb, name string) error {
	if verb == "delete" && g.deletesAll(r) {
		return nil
	}
	return g.authorize(r, verb, name)
}

// deletesAll reports whether no name can be excepted from those that the caller may delete: whoever
// may delete collections may delete each cluster by a selector of its name. What is asked is the
// same for all names, so that the answers are at hand when many clusters are unregistered.
func (g *Gateway) deletesAll(r *request) bool {
	return g.authorize(r, "deletecollection", "") == nil && g.authorize(r, "delete", "") == nil
}

// authorizePath is authorize for a path that stands for no object.
func (g *Gateway) authorizePath(r *request) error {
	return g.decide(r, authorizer.AttributesRecord{User: r.user, Verb: "get", Path: r.URL.Path}, "get "+r.URL.Path)
}

func (g *Gateway) decide(r *request, attributes authorizer.Attributes, what string) error {
	decision, _, err := g.config.Authorizer.Authorize(r.Context(), attributes)
	switch {
	case decision == authorizer.DecisionAllow:
		return nil
	case err != nil:
		return unavailable(err)
	default:
		return problem(http.StatusForbidden, CodeForbidden, "user %.253q has no right to %s", r.user.GetName(), what)
	}
}
