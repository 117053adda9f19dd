// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/dispatch"
)

// reached returns the homes that have a node which the selectors and constraints of the pod admit,
// in pools of what it asks for.
func (p *pass) reached(pod *corev1.Pod) sets.Set[string] {
	draws := p.draws(pod)
	if draws == nil && !p.selective(pod) {
		return p.round.WithNodes()
	}
	return p.homesOfNodes(pod, draws)
}

// homesOfNodes returns the homes of the nodes that the selectors of the pod admit and, unless draws
// is nil, that draws does.
func (p *pass) homesOfNodes(pod *corev1.Pod, draws func(*corev1.Node) bool) sets.Set[string] {
	admits, homes := p.admission(pod), sets.Set[string]{}
	for _, node := range p.topology.Nodes() {
		if h := p.homeOfNode(node.Name); h != "" && !homes.Has(h) && admits(node) && (draws == nil || draws(node)) {
			homes.Insert(h)
		}
	}
	return homes
}

// homeOfNode returns the scheduler of a node, empty for none.
func (p *pass) homeOfNode(node string) string {
	_, cluster := p.topology.Place(node)
	if cluster == "" {
		return p.commons
	}
	return p.homeOf[cluster]
}

// selective reports whether a pod, or its policy, limits on which nodes it can run.
func (p *pass) selective(pod *corev1.Pod) bool {
	return p.reachOf(pod) != nil || len(pod.Spec.NodeSelector) > 0 || pod.Spec.Affinity != nil && pod.Spec.Affinity.NodeAffinity != nil &&
		pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
}

// admission returns a function that reports whether the pod can run on a node, which is nowhere for
// a selector that cannot be understood.
func (p *pass) admission(pod *corev1.Pod) func(*corev1.Node) bool {
	required, reach := nodeaffinity.GetRequiredNodeAffinity(pod), p.reachOf(pod)
	return func(node *corev1.Node) bool {
		_, cluster := p.topology.Place(node.Name)
		if !reach.admits(cluster) || p.topology.Sites().Cordoned()[cluster] {
			return false
		}
		admits, err := required.Match(node)
		return err == nil && admits
	}
}

// maxGeoLocation bounds the annotation before it is read.
const maxGeoLocation = 600

// wishOf returns what the pod would like of its place.
func wishOf(pod *corev1.Pod) dispatch.Preference {
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	const gib = 1 << 30
	return dispatch.Preference{
		Geo: geoOf(pod.Annotations[berthv1alpha1.GeoLocationAnnotation]),
		CPU: (requests.Cpu().MilliValue() + 999) / 1000, Mem: (requests.Memory().Value() + gib - 1) / gib,
	}
}

// geoOf reads "country=US,city=Bellevue". Parts that it does not understand count as absent.
func geoOf(text string) berthv1alpha1.GeoLocation {
	var geo berthv1alpha1.GeoLocation
	if len(text) > maxGeoLocation {
		return geo
	}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "city":
			geo.City = value
		case "province":
			geo.Province = value
		case "area":
			geo.Area = value
		case "country":
			geo.Country = value
		}
	}
	return geo
}
