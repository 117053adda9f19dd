// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// behind says whether the scheduler knew more of where a pod is than this process does: the node of the pod is not known, because it
// has gone or has not been heard of yet, or its Cluster exists and has not been heard of yet. The caches of pods, nodes and Clusters
// fill one by one, the more so after the API server could not be reached. What is in the stamp of such a pod counts, as it does for the
// scheduler: without its seat the pod would be the first that goes when its workload shrinks.
func (a *assessor) behind(node *corev1.Node, cluster string) bool {
	return cluster != "" && (node == nil || a.snapshot.Cluster(cluster) == nil && a.unheard(cluster))
}

// lookups remembers for one pass whether Clusters that are not in the cache exist.
func (p *pass) lookups(ctx context.Context) func(cluster string) bool {
	known := map[string]bool{}
	return func(cluster string) bool {
		exists, looked := known[cluster]
		if !looked {
			exists = p.exists(ctx, cluster)
			known[cluster] = exists
		}
		return exists
	}
}

// exists asks the API server for a Cluster, and for another pass if it may be there. Who cannot tell must not say that it is gone.
func (p *pass) exists(ctx context.Context, cluster string) bool {
	var list berthv1alpha1.ClusterList
	err := p.Live.List(ctx, &list, client.MatchingFields{"metadata.name": cluster})
	if err == nil && len(list.Items) == 0 {
		return false
	}
	if err != nil {
		p.logger.V(2).Info("A Cluster that pods were placed in cannot be looked up", "cluster", cluster, "reason", err.Error())
	}
	p.again(restampAgain)
	return true
}
