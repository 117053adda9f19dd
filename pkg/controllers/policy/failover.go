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

// leave returns the clusters whose seats the others are to have, and since when, and asks for
// another pass when that may change. Where no cluster would remain, none is left.
func (p *pass) leave(in *inForce) map[string]metav1.Time {
	if in.policy.Spec.Failover == nil || in.Err != nil {
		return nil
	}
	left := map[string]metav1.Time{}
	clusters := in.clusters
	for p.leaveMore(in.policy, clusters, left) && len(in.policy.Spec.Placement.ClusterGroups) > 0 {
		// The groups choose others instead, which may be offline too.
		next := in.policy.DeepCopy()
		modelpolicy.SetLeft(&next.Status, left)
		compiled := modelpolicy.Compile(next, p.snapshot.Sites())
		if compiled.Err != nil {
			break
		}
		clusters = p.clustersOf(compiled.Order)
	}
	if !slices.ContainsFunc(clusters, func(c *topology.Cluster) bool {
		if c == nil || c.Object.Spec.Unschedulable || in.Excludes(c.Object.Name) {
			return false
		}
		_, leaves := left[c.Object.Name]
		return !leaves
	}) {
		return nil
	}
	return left
}

// leaveMore adds those of the clusters of a policy that are left, and reports whether there were
// any.
func (p *pass) leaveMore(policy *berthv1alpha1.PropagationPolicy, clusters []*topology.Cluster, left map[string]metav1.Time) (more bool) {
	rule := failover.Of(policy.Spec.Failover)
	before := modelpolicy.LeftBy(&policy.Status)
	for _, cluster := range clusters {
		if cluster == nil {
			continue
		}
		name := cluster.Object.Name
		if _, known := left[name]; known {
			continue
		}
		leaves, again := rule.Left(cluster.Object.Online(), before.Has(name), p.now)
		p.requeueAfter(again)
		if !leaves {
			continue
		}
		since, told := before.Since(name)
		if !told {
			since = metav1.Time{Time: p.now}
		}
		left[name], more = since, true
	}
	return more
}

// behind tells the pods that are still there in clusters whose seats the others have.
func behind(in *inForce) []string {
	var told []string
	if in.Order == nil {
		return nil
	}
	left := modelpolicy.LeftBy(&in.policy.Status)
	counts := map[string]int{}
	for i := range in.Order.Len() {
		if !left.Has(in.Order.Name(i)) {
			continue
		}
		for _, p := range in.placements {
			if i < len(p.Current) {
				counts[in.Order.Name(i)] += int(p.Current[i]) + p.leaving[i]
			}
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(counts)) {
		if counts[cluster] > 0 {
			told = append(told, elsewhere(counts[cluster], cluster))
		}
	}
	return told
}

// elsewhere tells of replicas whose pods still exist in a cluster that was left.
func elsewhere(replicas int, cluster string) string {
	if replicas == 1 {
		return fmt.Sprintf("1 replica has a seat elsewhere; its pod on %s still exists", cluster)
	}
	return fmt.Sprintf("%d replicas have seats elsewhere; their pods on %s still exist", replicas, cluster)
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
