// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/rank"
)

// reaches remembers for one pass in which clusters pods can run by their constraints. Pods of a
// workload have the same.
type reaches struct {
	// policies are those of the pods that have one, by the UID of the pod.
	policies map[types.UID]*policy.Policy
	known    map[reachKey]reach
	// candidates are the clusters as a namespace sees them.
	candidates map[string][]rank.Candidate
}

// reachKey is everything by which constraints of pods differ.
type reachKey struct {
	namespace string
	policy    types.UID
	texts     [len(rank.Annotations)]string
}

// reach holds the clusters that constraints admit; nil is no constraint at all.
type reach map[string]bool

// admits reports whether a pod can run in the cluster, which is empty for a node in none.
func (r reach) admits(cluster string) bool {
	return r == nil || r[cluster]
}

// notePolicy remembers the policy of pods.
func (p *pass) notePolicy(inForce *policy.Policy, pods []*corev1.Pod) {
	if !inForce.Constrained() {
		return
	}
	if p.reaches.policies == nil {
		p.reaches.policies = map[types.UID]*policy.Policy{}
	}
	for _, pod := range pods {
		p.reaches.policies[pod.UID] = inForce
	}
}

// reachOf returns the clusters that the constraints of a pod and of its policy admit, by the same
// rules by which ClusterMetrics admits nodes. What cannot be understood admits all: the scheduler
// of the pod tells it.
func (p *pass) reachOf(pod *corev1.Pod) reach {
	inForce := p.reaches.policies[pod.UID]
	if inForce == nil && !rank.HasWish(pod.Annotations) {
		return nil
	}
	key := reachKey{namespace: pod.Namespace}
	for i, name := range rank.Annotations {
		key.texts[i] = pod.Annotations[name]
	}
	if inForce != nil {
		key.policy = inForce.Object.UID
	}
	if known, found := p.reaches.known[key]; found {
		return known
	}
	if p.reaches.known == nil {
		p.reaches.known = map[reachKey]reach{}
	}
	found := p.computeReach(pod, inForce)
	p.reaches.known[key] = found
	return found
}

func (p *pass) computeReach(pod *corev1.Pod, inForce *policy.Policy) reach {
	wish, err := policy.WishOf(pod, inForce)
	if err != nil || wish == nil {
		return nil
	}
	admitted := reach{}
	candidates := p.candidatesOf(pod.Namespace)
	for i := range candidates {
		if wish.Constraints.Admits(&candidates[i]) {
			admitted[candidates[i].Name] = true
		}
	}
	return admitted
}

func (p *pass) candidatesOf(namespace string) []rank.Candidate {
	if known, found := p.reaches.candidates[namespace]; found {
		return known
	}
	if p.reaches.candidates == nil {
		p.reaches.candidates = map[string][]rank.Candidate{}
	}
	clusters := p.topology.Clusters()
	candidates := make([]rank.Candidate, 0, len(clusters))
	for _, c := range clusters {
		candidates = append(candidates, rank.ClusterCandidate(c.Object, namespace))
	}
	p.reaches.candidates[namespace] = candidates
	return candidates
}
