// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// starts returns groups of nodes, by name, if it makes a difference for further copies of a pod in
// which of them the first one runs; nil if it does not. A pod that has to be beside one like itself
// is an example: once there is one, all others go to its zone, and zones differ in size.
func (s *Snapshot) starts(pod *corev1.Pod, nodes map[string]bool) []map[string]bool {
	keys := ownTopologies(pod)
	if s.bindsTogether(pod) {
		keys = []string{corev1.LabelHostname}
	}
	if len(keys) == 0 {
		return nil
	}
	var groups []map[string]bool
	known := map[string]int{}
	for _, info := range s.nodes.list {
		node := info.Node()
		if !nodes[node.Name] {
			continue
		}
		group := groupOf(node, keys)
		at, found := known[group]
		if !found {
			at = len(groups)
			known[group] = at
			groups = append(groups, map[string]bool{})
		}
		groups[at][node.Name] = true
	}
	return groups
}

// groupOf returns the same for nodes that are alike in the topologies.
func groupOf(node *corev1.Node, keys []string) string {
	values := make([]string, len(keys))
	for i, key := range keys {
		values[i] = node.Labels[key]
		if key == corev1.LabelHostname {
			values[i] = node.Name
		}
	}
	return strings.Join(values, "/")
}

// ownTopologies returns the topologies in which a pod has to be beside others that may be copies of
// itself.
func ownTopologies(pod *corev1.Pod) []string {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
		return nil
	}
	var keys []string
	terms := pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for i := range terms {
		selector, err := metav1.LabelSelectorAsSelector(terms[i].LabelSelector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) && !slices.Contains(keys, terms[i].TopologyKey) {
			keys = append(keys, terms[i].TopologyKey)
		}
	}
	return keys
}

// bindsTogether reports whether all copies of a pod share something that is bound to a place when
// the first of them gets a node: a claim of a volume or of a device.
func (s *Snapshot) bindsTogether(pod *corev1.Pod) bool {
	return len(s.unboundClaims(pod)) > 0 ||
		slices.ContainsFunc(pod.Spec.ResourceClaims, func(c corev1.PodResourceClaim) bool { return c.ResourceClaimName != nil })
}

// unboundClaims returns the claims of volumes that all copies of a pod share and that are bound to
// none.
func (s *Snapshot) unboundClaims(pod *corev1.Pod) (unbound []*corev1.PersistentVolumeClaim) {
	claims := s.informers.Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims(pod.Namespace)
	for i := range pod.Spec.Volumes {
		shared := pod.Spec.Volumes[i].PersistentVolumeClaim
		if shared == nil {
			continue
		}
		if claim, err := claims.Get(shared.ClaimName); err == nil && claim.Spec.VolumeName == "" {
			unbound = append(unbound, claim)
		}
	}
	return unbound
}

// confinements returns to which nodes all copies of a pod may be confined by what they share, if
// the first one runs on a node: of volumes or devices that suit alike the plugins take any, and
// these can be used from different nodes. There are none if it makes no difference which is taken.
func (s *Snapshot) confinements(pod *corev1.Pod, node string, names map[string]bool, devices *taken) ([]map[string]bool, error) {
	nodes := s.nodesOf(names)
	var sources []*reaches
	for _, claim := range s.unboundClaims(pod) {
		found, err := s.volumeReaches(claim, nodes)
		if err != nil {
			return nil, err
		}
		sources = append(sources, found)
	}
	for _, driver := range slices.Sorted(maps.Keys(devices.shared)) {
		found, err := s.deviceReaches(driver, nodes)
		if err != nil {
			return nil, err
		}
		sources = append(sources, found)
	}
	var confined []map[string]bool
	for _, source := range sources {
		usable := source.usable(node)
		if len(usable) < 2 {
			continue
		}
		if len(sources) > 1 || devices.together > 1 {
			return []map[string]bool{{node: true}}, nil // of each of several things another one may be taken
		}
		for _, one := range usable {
			within := map[string]bool{}
			for _, i := range one.nodes {
				within[nodes[i].Name] = true
			}
			confined = append(confined, within)
		}
	}
	return confined, nil
}
