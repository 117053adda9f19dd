// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// etag is the entity tag of a cluster: it changes with everything that an answer shows.
func etag(cluster *berthv1alpha1.Cluster) string { return `"` + cluster.ResourceVersion + `"` }

// checkPreconditions evaluates If-Match and If-None-Match as RFC 9110, section 13, says. Without a
// cluster no tag matches.
func checkPreconditions(r *http.Request, cluster *berthv1alpha1.Cluster) error {
	if wanted := r.Header.Values("If-Match"); len(wanted) > 0 && !matches(wanted, cluster, false) {
		return problem(http.StatusPreconditionFailed, CodePreconditionFailed, "the cluster is not the one that If-Match names")
	}
	unwanted := r.Header.Values("If-None-Match")
	if len(unwanted) == 0 || !matches(unwanted, cluster, true) {
		return nil
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return errNotModified
	}
	return problem(http.StatusPreconditionFailed, CodePreconditionFailed, "the cluster is the one that If-None-Match excludes")
}

// errNotModified says that the caller has the answer already. It has no body.
var errNotModified = &Problem{status: http.StatusNotModified, Message: "not modified"}

// matches compares entity tags; a weak tag equals a strong one only where weak says so.
func matches(headers []string, cluster *berthv1alpha1.Cluster, weak bool) bool {
	if cluster == nil {
		return false
	}
	for _, header := range headers {
		for tag := range strings.SplitSeq(header, ",") {
			tag = strings.TrimSpace(tag)
			if weak {
				tag = strings.TrimPrefix(tag, "W/")
			}
			if tag == "*" || tag == etag(cluster) {
				return true
			}
		}
	}
	return false
}

// isConditional reports whether the caller changes only what it has seen.
func isConditional(r *http.Request) bool { return r.Header.Get("If-Match") != "" }
