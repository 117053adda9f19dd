// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clustermetrics

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/rank"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/guard"
)

// EventsToRegister names what can help a pod that this plugin rejected. Changes of Clusters and
// policies are not among them: those wake the pods they concern directly, see Helped.
func (p *ClusterMetrics) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		// No narrower event tells that a waiting pod asks for something else.
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Update},
			QueueingHintFn: guard.Hint(Name, p.isSchedulableAfterPodChange),
		},
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel},
			QueueingHintFn: guard.Hint(Name, p.isSchedulableAfterNodeChange),
		},
	}, nil
}

// isSchedulableAfterPodChange wakes the pod when its own constraints have changed.
func (p *ClusterMetrics) isSchedulableAfterPodChange(_ klog.Logger, pod, before, after *corev1.Pod) fwk.QueueingHint {
	switch {
	case before == nil, after == nil, after.UID != pod.UID:
		return fwk.QueueSkip
	}
	for _, key := range rank.Annotations {
		if before.Annotations[key] != after.Annotations[key] {
			return fwk.Queue
		}
	}
	return fwk.QueueSkip
}

// isSchedulableAfterNodeChange wakes the pod when a node joins a cluster that it may go to.
func (p *ClusterMetrics) isSchedulableAfterNodeChange(logger klog.Logger, pod *corev1.Pod, before, after *corev1.Node) fwk.QueueingHint {
	snapshot := p.shared.Catalog.Snapshot()
	if snapshot == nil || after == nil {
		// The first snapshot wakes all pods.
		return fwk.QueueSkip
	}
	name, found := snapshot.Membership.ClusterOf(after.Name, after.Labels)
	if !found {
		return fwk.QueueSkip
	}
	if before != nil {
		if old, was := snapshot.Membership.ClusterOf(before.Name, before.Labels); was && old == name {
			return fwk.QueueSkip
		}
	}
	inForce, err := p.shared.constrainedBy(snapshot, pod)
	if err == nil {
		wish, err := policy.WishOf(pod, inForce)
		if err == nil && wish != nil && !admits(wish, snapshot.Places()[name], pod.Namespace) {
			return fwk.QueueSkip
		}
	}
	logger.V(5).Info("A node joined a cluster that meets the constraints", "pod", klog.KObj(pod), "node", klog.KObj(after))
	return fwk.Queue
}

// admits reports whether a pod with a wish can go to a Cluster, which may be nil.
func admits(wish *rank.Wish, place *catalog.Place, namespace string) bool {
	return place != nil && wish.Constraints.Admits(place.Candidate(namespace))
}

// kindOfWish is the same for pods that want the same.
type kindOfWish struct {
	namespace string
	values    [len(rank.Annotations)]string
	policy    *policy.Policy
}

// Helped returns those of the pods, which wait, that a change of Clusters may help: some Cluster
// meets their constraints now that did not before, or nodes may lie in other Clusters. That the
// value of a metric has changed helps nobody by itself.
func (s *Shared) Helped(before, after *catalog.Snapshot, pods []*corev1.Pod) []*corev1.Pod {
	if before == nil || after == nil {
		return nil // All pods are woken.
	}
	moved := len(catalog.ChangedClusters(before, after)) > 0
	var changed []string
	for name, place := range after.Places() {
		if before.Places()[name] != place {
			changed = append(changed, name)
		}
	}
	if len(changed) == 0 && !moved {
		return nil
	}
	var helped []*corev1.Pod
	known := map[kindOfWish]bool{}
	for _, pod := range pods {
		if !mayAsk(after, pod) {
			continue
		}
		if moved || s.helps(before, after, changed, pod, known) {
			helped = append(helped, pod)
		}
	}
	return helped
}

func (s *Shared) helps(before, after *catalog.Snapshot, changed []string, pod *corev1.Pod, known map[kindOfWish]bool) bool {
	kind := kindOfWish{namespace: pod.Namespace}
	for i, key := range rank.Annotations {
		kind.values[i] = pod.Annotations[key]
	}
	var err error
	if kind.policy, err = s.constrainedBy(after, pod); err != nil {
		return false // What is missing wakes the pod when it comes.
	}
	answer, found := known[kind]
	if found {
		return answer
	}
	if wish, err := policy.WishOf(pod, kind.policy); err == nil && wish != nil {
		for _, name := range changed {
			if !admits(wish, before.Places()[name], pod.Namespace) && admits(wish, after.Places()[name], pod.Namespace) {
				answer = true
				break
			}
		}
	}
	known[kind] = answer
	return answer
}
