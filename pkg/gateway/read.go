// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/registration"
)

// find returns the cluster of the path if the caller may do this to it. Rights are given for names,
// and an id says none until the cluster is looked up. Nothing is looked up for a caller without the
// right, who must not learn from an answer or its time what there is, so whoever asks by id needs
// the right for all clusters.
func (g *Gateway) find(r *request, verb string) (*berthv1alpha1.Cluster, error) {
	name := r.route.key
	if r.route.kind == routeByID {
		name = ""
	}
	if err := g.authorize(r, verb, name); err != nil {
		return nil, err
	}
	cluster, err := g.locate(r.Context(), r.route)
	if err != nil || r.route.kind == routeByName {
		return cluster, err
	}
	return cluster, g.authorize(r, verb, cluster.Name) // An authorizer may except some names from all.
}

func (g *Gateway) locate(ctx context.Context, rt route) (*berthv1alpha1.Cluster, error) {
	if rt.kind == routeByID {
		return g.lookup.byID(ctx, rt.key)
	}
	return g.lookup.byName(ctx, rt.key)
}

func (g *Gateway) get(w http.ResponseWriter, r *request) error {
	if _, err := parameters(r.Request); err != nil {
		return err
	}
	cluster, err := g.find(r, "get")
	if err != nil {
		return err
	}
	if err := checkPreconditions(r.Request, cluster); err != nil {
		return err
	}
	return writeCluster(w, http.StatusOK, cluster)
}

func (g *Gateway) list(w http.ResponseWriter, r *request) error {
	if err := g.authorize(r, "list", ""); err != nil {
		return err
	}
	options, err := listOptions(r.Request)
	if err != nil {
		return err
	}
	page, err := g.clusters.List(r.Context(), options)
	switch {
	case apierrors.IsResourceExpired(err):
		return problem(http.StatusBadRequest, CodeContinueExpired, "the continue token has expired, begin the list again")
	case apierrors.IsBadRequest(err):
		return problem(http.StatusBadRequest, CodeInvalidParameter, "the continue token is not one of this API")
	case apierrors.IsNotFound(err):
		return unavailable(err)
	case err != nil:
		return err
	}
	answer := registration.List{Clusters: make([]registration.Profile, 0, len(page.Items)), Continue: page.Continue}
	for i := range page.Items {
		g.lookup.remember(&page.Items[i])
		answer.Clusters = append(answer.Clusters, registration.FromCluster(&page.Items[i]))
	}
	return writeJSON(w, http.StatusOK, answer)
}

// listOptions reads the parameters limit and continue.
func listOptions(r *http.Request) (metav1.ListOptions, error) {
	options := metav1.ListOptions{Limit: maxPage}
	query, err := parameters(r, "limit", "continue")
	if err != nil {
		return options, err
	}
	if query.Has("limit") {
		limit, err := strconv.ParseInt(query.Get("limit"), 10, 64)
		if err != nil || limit < 1 {
			return options, problem(http.StatusBadRequest, CodeInvalidParameter, "limit must be a whole number from 1")
		}
		options.Limit = min(limit, maxPage)
	}
	if options.Continue = query.Get("continue"); len(options.Continue) > maxContinue {
		return options, problem(http.StatusBadRequest, CodeInvalidParameter, "the continue token is not one of this API")
	}
	return options, nil
}
