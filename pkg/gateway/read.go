// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
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
	wanted, err := wish(r.Request)
	if err != nil {
		return err
	}
	page, err := g.page(r.Context(), wanted)
	if err != nil {
		return err
	}
	if !wanted.all {
		return writeJSON(w, http.StatusOK, registration.List{
			Clusters: profilesOf(page), Continue: page.Continue, ResourceVersion: page.ResourceVersion,
		})
	}
	return g.stream(w, r, wanted, page)
}

// page returns some clusters. Of a list that is chosen by fields it may have fewer than there could
// be, also none, before the end.
func (g *Gateway) page(ctx context.Context, wanted selection) (*berthv1alpha1.ClusterList, error) {
	page, err := g.chunk(ctx, wanted)
	for further := 1; err == nil && further < maxChunks && page.Continue != "" && len(page.Items) < int(wanted.options.Limit); further++ {
		rest := wanted
		rest.options.Continue, rest.options.Limit = page.Continue, wanted.options.Limit-int64(len(page.Items))
		var next *berthv1alpha1.ClusterList
		if next, err = g.chunk(ctx, rest); err == nil {
			next.Items = append(page.Items, next.Items...)
			page = next
		}
	}
	return page, err
}

// chunk asks the API server once.
func (g *Gateway) chunk(ctx context.Context, wanted selection) (*berthv1alpha1.ClusterList, error) {
	page, err := g.clusters.List(ctx, wanted.options)
	switch {
	case apierrors.IsResourceExpired(err):
		return nil, problem(http.StatusBadRequest, CodeContinueExpired, "the continue token has expired, begin the list again")
	case apierrors.IsBadRequest(err) && wanted.options.Continue != "":
		return nil, problem(http.StatusBadRequest, CodeInvalidParameter, "the continue token is not one of this API")
	case apierrors.IsNotFound(err):
		return nil, unavailable(err)
	case err != nil:
		return nil, err
	}
	for i := range page.Items {
		g.lookup.remember(&page.Items[i])
	}
	page.Items = slices.DeleteFunc(page.Items, func(cluster berthv1alpha1.Cluster) bool {
		return !wanted.fields.Matches(labels.Set(rank.LabelsOf(&cluster)))
	})
	return page, nil
}

func profilesOf(page *berthv1alpha1.ClusterList) []registration.Profile {
	profiles := make([]registration.Profile, len(page.Items))
	for i := range page.Items {
		profiles[i] = registration.FromCluster(&page.Items[i])
	}
	return profiles
}

// selection is which clusters a list is to have.
type selection struct {
	// options are for the API server. Their limit is that of a page.
	options metav1.ListOptions
	// fields are what the API server cannot select by: parts of the spec that count as labels.
	fields labels.Selector
	// all reports whether the list is to have all of them rather than a page.
	all bool
}

// wish reads the parameters of a list.
func wish(r *http.Request) (selection, error) {
	wanted := selection{options: metav1.ListOptions{Limit: maxPage}}
	options := &wanted.options
	query, err := parameters(r, "limit", "continue", "labelSelector", "region")
	if err != nil {
		return wanted, err
	}
	wanted.all = !query.Has("limit")
	if !wanted.all {
		limit, err := strconv.ParseInt(query.Get("limit"), 10, 64)
		if err != nil || limit < 1 {
			return wanted, invalidParameter("limit must be a whole number from 1")
		}
		options.Limit = min(limit, maxPage)
	}
	if options.Continue = query.Get("continue"); len(options.Continue) > maxContinue {
		return wanted, invalidParameter("the continue token is not one of this API")
	}
	if query.Has("region") {
		options.FieldSelector = fields.OneTermEqualSelector("spec.region.region", query.Get("region")).String()
	}
	err = wanted.selectLabels(query.Get("labelSelector"))
	return wanted, err
}

// selectLabels reads a label selector. The API server carries out what is about labels.
func (s *selection) selectLabels(selector string) error {
	if len(selector) > maxSelector {
		return invalidParameter("labelSelector must have at most %d characters", maxSelector)
	}
	parsed, err := labels.Parse(selector)
	if err != nil {
		return invalidParameter("labelSelector: %v", err)
	}
	s.fields = labels.NewSelector()
	requirements, _ := parsed.Requirements()
	others := labels.NewSelector()
	for _, requirement := range requirements {
		if rank.IsField(requirement.Key()) {
			s.fields = s.fields.Add(requirement)
		} else {
			others = others.Add(requirement)
		}
	}
	if s.options.LabelSelector = selector; !s.fields.Empty() {
		s.options.LabelSelector = others.String()
	}
	return nil
}

func invalidParameter(format string, args ...any) *Problem {
	return problem(http.StatusBadRequest, CodeInvalidParameter, format, args...)
}
