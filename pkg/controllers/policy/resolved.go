// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/names"
)

// clustersResolved reports whether all clusters that the policy names exist and have nodes, and
// whether its groups are what they seem to be.
func clustersResolved(in *inForce) metav1.Condition {
	condition := metav1.Condition{Type: berthv1alpha1.PolicyClustersResolved, Status: metav1.ConditionFalse}
	if in.Err != nil {
		condition.Status = metav1.ConditionUnknown
		condition.Reason, condition.Message = berthv1alpha1.ReasonInvalidWeights, "the weights of the policy cannot be used"
		return condition
	}
	var messages []string
	for _, finding := range slices.Concat(missing(in), excluded(in), ungrouped(in)) {
		if condition.Reason == "" {
			condition.Reason = finding.reason
		}
		messages = append(messages, finding.message)
	}
	if condition.Reason == "" {
		condition.Status = metav1.ConditionTrue
		condition.Reason = berthv1alpha1.ReasonClustersFound
		messages = []string{"all clusters exist and have nodes"}
	}
	condition.Message = names.First(messages, maxNames, "; ")
	if out := in.Layout.Excluded; len(out) > 0 {
		condition.Message += "; these do not meet the constraints, so they get no share: " + names.First(out, maxNames, ", ")
	}
	return condition
}

// finding is something that users may not expect of the clusters of a policy.
type finding struct{ reason, message string }

// missing tells the clusters that cannot take a share.
func missing(in *inForce) []finding {
	var unknown, empty []string
	for i, cluster := range in.clusters {
		switch {
		case cluster == nil:
			unknown = append(unknown, in.Order.Name(i))
		case len(cluster.Nodes) == 0:
			empty = append(empty, in.Order.Name(i))
		}
	}
	slices.Sort(unknown)
	slices.Sort(empty)
	var found []finding
	if len(unknown) > 0 {
		found = append(found, finding{
			berthv1alpha1.ReasonUnknownCluster, "these clusters do not exist, so their shares wait: " + names.First(unknown, maxNames, ", "),
		})
	}
	if len(empty) > 0 {
		found = append(found, finding{
			berthv1alpha1.ReasonEmptyCluster, "these clusters have no nodes, so their shares wait: " + names.First(empty, maxNames, ", "),
		})
	}
	return found
}

// excluded tells that no cluster meets the constraints: then nobody has the shares.
func excluded(in *inForce) []finding {
	if n := len(in.clusters); n == 0 || len(in.Layout.Excluded) < n {
		return nil
	}
	return []finding{{
		berthv1alpha1.ReasonClustersExcluded, "no cluster of the policy meets spec.placement.constraints, so its pods wait: change them, or the clusters",
	}}
}

// ungrouped tells what is not as it should be in groups: those without clusters, clusters in
// several, without a weight, or in too few places.
func ungrouped(in *inForce) []finding {
	var found []finding
	if empty := in.Layout.Empty; len(empty) > 0 {
		so := "the others share the replicas, as far as they may"
		if len(in.clusters) == 0 {
			so = "all replicas wait"
		}
		found = append(found, finding{
			berthv1alpha1.ReasonEmptyGroup, fmt.Sprintf("these groups have no Cluster of their own yet, so %s: %s", so, names.First(empty, maxNames, ", ")),
		})
	}
	if overlaps := in.Layout.Overlaps; len(overlaps) > 0 {
		told := make([]string, len(overlaps))
		for i, o := range overlaps {
			told[i] = fmt.Sprintf("%s is in %s and in %s", o.Cluster, o.First, o.Second)
		}
		found = append(found, finding{
			berthv1alpha1.ReasonClusterInTwoGroups, "clusters in several groups belong to the first one: " + names.First(told, maxNames, ", "),
		})
	}
	for _, u := range in.Layout.Unweighted {
		found = append(found, finding{
			berthv1alpha1.ReasonClustersWithoutWeight, fmt.Sprintf("these clusters of group %s get nothing, because %s: %s",
				u.Group, u.Why, names.First(u.Clusters, maxNames, ", ")),
		})
	}
	for _, r := range in.Layout.Relaxed {
		found = append(found, finding{
			berthv1alpha1.ReasonSpreadRelaxed, fmt.Sprintf("group %s is to be spread over %d values of %s, and its clusters have %d",
				r.Group, r.Wanted, r.Field, r.Found),
		})
	}
	return found
}
