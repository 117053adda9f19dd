// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/registration"
)

// find returns the cluster of the path if the caller may do this to it.
func (g *Gateway) find(r *request, verb string) (*berthv1alpha1.Cluster, error) {
	if err := g.permit(r, verb); err != nil {
		return nil, err
	}
	return g.fetch(r, verb)
}

// permit returns an error unless the caller may do this to the cluster of the path. Rights are
// given for names, and an id says none until the cluster is looked up. Nothing is looked up for a
// caller without the right, who must not learn from an answer or its time what there is, so whoever
// asks by id needs the right for all clusters.
func (g *Gateway) permit(r *request, verb string) error {
	if r.route.kind == routeByID {
		return g.authorize(r, verb, "")
	}
	return g.permitNamed(r, verb, r.route.key)
}

// fetch returns the cluster of the path for a caller that is permitted to do this.
func (g *Gateway) fetch(r *request, verb string) (*berthv1alpha1.Cluster, error) {
	cluster, err := g.locate(r.Context(), r.route)
	if err != nil || r.route.kind != routeByID {
		return cluster, err
	}
	return cluster, g.permitNamed(r, verb, cluster.Name)
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

// list answers with all clusters, or with a page of them if the request has a limit.
func (g *Gateway) list(w *observer, r *request) error {
	if err := g.authorize(r, "list", ""); err != nil {
		return err
	}
	options, all, err := listOptions(r.Request)
	if err != nil {
		return err
	}
	page, err := g.page(r.Context(), options)
	if err != nil {
		return err
	}
	if !all {
		return writeJSON(w, http.StatusOK, registration.List{
			Clusters: profilesOf(page), Continue: page.Continue, ResourceVersion: page.ResourceVersion,
		})
	}
	return g.stream(w, r, options, page)
}

// page returns some clusters.
func (g *Gateway) page(ctx context.Context, options metav1.ListOptions) (*berthv1alpha1.ClusterList, error) {
	page, err := g.clusters.List(ctx, options)
	switch {
	case apierrors.IsResourceExpired(err):
		return nil, problem(http.StatusBadRequest, CodeContinueExpired, "the continue token has expired, begin the list again")
	case apierrors.IsBadRequest(err) && options.Continue != "":
		return nil, problem(http.StatusBadRequest, CodeInvalidParameter, "the continue token is not one of this API")
	case apierrors.IsNotFound(err):
		return nil, unavailable(err)
	case err != nil:
		return nil, err
	}
	for i := range page.Items {
		g.lookup.remember(&page.Items[i])
	}
	return page, nil
}

func profilesOf(page *berthv1alpha1.ClusterList) []registration.Profile {
	profiles := make([]registration.Profile, len(page.Items))
	for i := range page.Items {
		profiles[i] = registration.FromCluster(&page.Items[i])
	}
	return profiles
}

// listOptions reads the parameters of a list, and reports whether it is to have all clusters.
func listOptions(r *http.Request) (metav1.ListOptions, bool, error) {
	options := metav1.ListOptions{Limit: maxPage}
	query, err := parameters(r, "limit", "continue", "labelSelector", "region")
	if err != nil {
		return options, false, err
	}
	if query.Has("limit") {
		limit, err := strconv.ParseInt(query.Get("limit"), 10, 64)
		if err != nil || limit < 1 {
			return options, false, invalidParameter("limit must be a whole number from 1")
		}
		options.Limit = min(limit, maxPage)
	}
	if options.Continue = query.Get("continue"); len(options.Continue) > maxContinue {
		return options, false, invalidParameter("the continue token is not one of this API")
	}
	if options.LabelSelector = query.Get("labelSelector"); len(options.LabelSelector) > maxSelector {
		return options, false, invalidParameter("labelSelector must have at most %d characters", maxSelector)
	}
	if _, err := labels.Parse(options.LabelSelector); err != nil {
		return options, false, invalidParameter("labelSelector: %v", err)
	}
	if query.Has("region") {
		options.FieldSelector = fields.OneTermEqualSelector("spec.region.region", query.Get("region")).String()
	}
	return options, !query.Has("limit"), nil
}

func invalidParameter(format string, args ...any) *Problem {
	return problem(http.StatusBadRequest, CodeInvalidParameter, format, args...)
}
