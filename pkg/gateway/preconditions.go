// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/registration"
)

// etag is the entity tag of a cluster: its version, and what tells versions apart that answers show
// as different ones.
func etag(cluster *berthv1alpha1.Cluster) string {
	return `"` + cluster.ResourceVersion + "." + digest(cluster) + `"`
}

// digest is the same for two versions of a cluster if no answer shows a difference and nobody has
// changed the cluster in between: what Berth observes of it is no such change.
func digest(cluster *berthv1alpha1.Cluster) string {
	hash := sha256.New()
	//nolint:errchkjson // What came by JSON has no number that JSON cannot tell.
	_ = json.NewEncoder(hash).Encode(registration.FromCluster(cluster))
	_, _ = fmt.Fprint(hash, cluster.Generation)
	return hex.EncodeToString(hash.Sum(nil)[:digestBytes])
}

// digestBytes is how much of a hash is enough for the versions of one cluster.
const digestBytes = 8

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

// matches compares entity tags; a weak tag equals a strong one only where weak says so. The version
// in a tag does not count: Berth writes what it observes at any time, mostly right after a change.
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
			if tag == "*" || sameTag(tag, etag(cluster)) {
				return true
			}
		}
	}
	return false
}

// sameTag reports whether a tag that was sent differs from that of a cluster in nothing but the
// version. Who sends a version alone, such as "4711", means that and no other one.
func sameTag(sent, current string) bool {
	version, shown, whole := strings.Cut(sent, ".")
	currentVersion, currentShown, _ := strings.Cut(current, ".")
	if !whole {
		return version == currentVersion+`"`
	}
	return strings.HasPrefix(version, `"`) && shown == currentShown
}

// isConditional reports whether the caller changes only what it has seen.
func isConditional(r *http.Request) bool { return r.Header.Get("If-Match") != "" }
