// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package room

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// exclusion is a required anti-affinity of a pod: no pod that is selected may run in the same domain.
type exclusion struct {
	// key is the node label whose values are the domains.
	key      string
	selector labels.Selector
	// namespaces are those of the pods that are selected; nil for all.
	namespaces []string
	// itself is true if the pod excludes pods like itself, so that a domain takes one at most.
	itself bool
}

// domain is a value of a node label.
type domain struct{ key, value string }

// exclusionsOf returns the required anti-affinities of a pod. A selector for namespaces is taken to select all of them.
func exclusionsOf(pod *corev1.Pod) []exclusion {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	var exclusions []exclusion
	for _, term := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		x := exclusion{key: term.TopologyKey, namespaces: term.Namespaces}
		if len(x.namespaces) == 0 {
			x.namespaces = []string{pod.Namespace}
		}
		if term.NamespaceSelector != nil {
			x.namespaces = nil
		}
		var err error
		if x.selector, err = metav1.LabelSelectorAsSelector(term.LabelSelector); err != nil {
			x.selector = labels.Everything()
		}
		x.itself = x.selects(pod)
		exclusions = append(exclusions, x)
	}
	return exclusions
}

func (x *exclusion) selects(pod *corev1.Pod) bool {
	return (x.namespaces == nil || slices.Contains(x.namespaces, pod.Namespace)) && x.selector.Matches(labels.Set(pod.Labels))
}

// excluded says whether a pod with the exclusions must not run on a node because of the pods in its domains, or of the
// replacements that are to go there.
func (e *Estimator) excluded(node *corev1.Node, exclusions []exclusion, taken map[domain]bool) (bool, error) {
	for i := range exclusions {
		x := &exclusions[i]
		value, labelled := node.Labels[x.key]
		if !labelled {
			continue
		}
		if taken[domain{x.key, value}] {
			return true, nil
		}
		for _, other := range e.nodesIn(node, domain{x.key, value}) {
			pods, err := e.podsOn(other)
			if err != nil {
				return false, err
			}
			for k := range pods {
				if pods[k].DeletionTimestamp == nil && x.selects(&pods[k]) {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

// take marks the domains of a node that take no further pod of the same kind. It returns whether there are any.
func take(node *corev1.Node, exclusions []exclusion, taken map[domain]bool) (alone bool) {
	for i := range exclusions {
		if value, labelled := node.Labels[exclusions[i].key]; labelled && exclusions[i].itself {
			taken[domain{exclusions[i].key, value}] = true
			alone = true
		}
	}
	return alone
}

// nodesIn returns the names of the nodes in a domain of the given node.
func (e *Estimator) nodesIn(node *corev1.Node, d domain) []string {
	if d.key == corev1.LabelHostname {
		return []string{node.Name}
	}
	byValue, known := e.domains[d.key]
	if !known {
		byValue = map[string][]string{}
		for _, other := range e.nodes() {
			if value, labelled := other.Labels[d.key]; labelled {
				byValue[value] = append(byValue[value], other.Name)
			}
		}
		e.domains[d.key] = byValue
	}
	return byValue[d.value]
}
