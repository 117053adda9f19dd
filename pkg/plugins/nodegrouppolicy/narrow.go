// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/plugins/internal/narrow"
)

// name returns the nodes that the framework is to look at for a pod, nil for all, and whether they
// are only a sample of those that may take it.
func (p *NodeGroupPolicy) name(s *state, pod *corev1.Pod, nodes []fwk.NodeInfo) (names sets.Set[string], sampled bool) {
	if s.Rule == admit.Anywhere {
		return nil, false
	}
	n := &p.shared.names
	n.Follow(nodes, narrow.Version{Shape: s.view.Shape()}, s.view.Clusters(), s.view.ClusterAt)
	set := n.Of(s.admitsCluster)
	if p.sampling && !p.shared.Retries.Thorough(pod.UID) {
		if names := n.Sample(set, pod); names != nil {
			return names, true
		}
	}
	return n.All(set), false
}

// admitsCluster reports whether nodes of the cluster with an ID in the view may take the pod.
func (s *state) admitsCluster(id int32) bool {
	return int(id) < len(s.clusters) && s.clusters[id] >= 0 && s.Admits(s.clusters[id])
}

// explain gives nodes that PreFilter kept away from Filter the reasons that Filter would have
// given.
func (s *state) explain(nodes []fwk.NodeInfo, statuses fwk.NodeToStatusReader) {
	if s.shared {
		return // the nodes of other schedulers would be told to be in no cluster of the policy
	}
	narrow.Explain(nodes, statuses, func(i int) *fwk.Status {
		if cluster := s.clusterAt(i); !s.Admits(cluster) {
			return s.rejection(cluster).WithPlugin(Name)
		}
		return nil
	})
}

// rejection is the answer for a node that is not admitted.
func (s *state) rejection(cluster int32) *fwk.Status {
	r := reason(s.Reason(cluster))
	atomic.OrUint32(s.rejected, 1<<r)
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, r.String())
}
