// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/failover"
)

// maxLeft bounds the clusters that one policy has left at a time; the schema allows no more.
const maxLeft = 1000

// leave returns the clusters whose seats the others are to have, by name, and asks for another pass
// when that may change. Where no cluster would remain, none is left.
func (p *pass) leave(in *inForce) []berthv1alpha1.FailedOverCluster {
	if in.policy.Spec.Failover == nil || in.Err != nil {
		return nil
	}
	left := map[string]metav1.Time{}
	clusters := in.clusters
	for p.leaveMore(in.policy, clusters, left) && len(left) < maxLeft && len(in.policy.Spec.Placement.ClusterGroups) > 0 {
		// The groups choose others instead, which may be offline too.
		next := in.policy.DeepCopy()
		next.Status.FailedOver = listOf(left)
		compiled := modelpolicy.Compile(next, p.snapshot.Sites())
		if compiled.Err != nil {
			break
		}
		clusters = p.clustersOf(compiled.Order)
	}
	if !slices.ContainsFunc(clusters, func(c *topology.Cluster) bool {
		if c == nil || c.Object.Spec.Unschedulable {
			return false
		}
		_, leaves := left[c.Object.Name]
		return !leaves
	}) {
		return nil
	}
	return listOf(left)
}

// leaveMore adds those of the clusters of a policy that are left, and reports whether there were
// any.
func (p *pass) leaveMore(policy *berthv1alpha1.PropagationPolicy, clusters []*topology.Cluster, left map[string]metav1.Time) (more bool) {
	rule := failover.Of(policy.Spec.Failover)
	before := map[string]metav1.Time{}
	for _, known := range policy.Status.FailedOver {
		before[known.Cluster] = known.Time
	}
	for _, cluster := range clusters {
		if cluster == nil {
			continue
		}
		name := cluster.Object.Name
		if _, known := left[name]; known {
			continue
		}
		since, was := before[name]
		leaves, again := rule.Left(cluster.Object.Online(), was, p.now)
		p.requeueAfter(again)
		if !leaves {
			continue
		}
		if !was {
			since = metav1.Time{Time: p.now}
		}
		left[name], more = since, true
	}
	return more
}

// listOf returns the clusters that are left as the status lists them.
func listOf(left map[string]metav1.Time) []berthv1alpha1.FailedOverCluster {
	if len(left) == 0 {
		return nil
	}
	list := make([]berthv1alpha1.FailedOverCluster, 0, len(left))
	for _, name := range slices.Sorted(maps.Keys(left)) {
		list = append(list, berthv1alpha1.FailedOverCluster{Cluster: name, Time: left[name]})
	}
	return list[:min(len(list), maxLeft)]
}

// behind tells the pods that are still there in clusters whose seats the others have.
func behind(in *inForce) []string {
	var told []string
	for _, left := range in.policy.Status.FailedOver {
		index, named := 0, false
		if in.Order != nil {
			index, named = in.Order.Index(left.Cluster)
		}
		count := 0
		for _, p := range in.placements {
			if named && index < len(p.Current) {
				count += int(p.Current[index]) + p.leaving[index]
			}
		}
		if count > 0 {
			told = append(told, fmt.Sprintf("%d replicas have seats elsewhere; their pods on %s still exist", count, left.Cluster))
		}
	}
	return told
}

// tolerated returns for how long a pod stays bound to a node that is not reachable before
// Kubernetes deletes it, the longest time if it stays for ever.
func tolerated(pod *corev1.Pod) time.Duration {
	for i := range pod.Spec.Tolerations {
		t := &pod.Spec.Tolerations[i]
		if t.Key != "" && t.Key != corev1.TaintNodeUnreachable || t.Effect != "" && t.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		if t.TolerationSeconds == nil {
			return math.MaxInt64
		}
		return time.Duration(*t.TolerationSeconds) * time.Second
	}
	return 0
}

// hasty tells that a policy gives the seats of a cluster away before the pods there are deleted.
func hasty(in *inForce) string {
	if in.policy.Spec.Failover == nil {
		return ""
	}
	after, leaves := failover.Of(in.policy.Spec.Failover).LeaveAt(time.Time{})
	for _, p := range in.placements {
		for _, pod := range p.bound {
			stays := tolerated(pod)
			if !leaves || stays <= after.Sub(time.Time{}) {
				continue
			}
			long := "for ever"
			if stays < math.MaxInt64 {
				long = "for " + stays.String()
			}
			return fmt.Sprintf("failover.after is %v, and pods of %s tolerate %s that their node is away: their replacements wait for that",
				after.Sub(time.Time{}), name(p.Observed), long)
		}
	}
	return ""
}
