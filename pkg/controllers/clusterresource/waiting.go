// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/pool"
)

// maxTried bounds the pods that are compared with the nodes in one pass, the oldest first. Only
// those count for whose requests the pools of some nodes have enough left.
const maxTried = 100

// oldestWaiting returns when the oldest pods were made that wait and ask for ClusterResources, by
// whether there is a node for them: one that takes pods, that their affinity and tolerations allow,
// and whose pools have enough left for all that they ask for. What nodes have left themselves, such
// as cpu, is not asked.
func (all observations) oldestWaiting(pods []corev1.Pod, nodes []corev1.Node) map[bool]time.Time {
	var waiting []*corev1.Pod
	for i := range pods {
		if pod := &pods[i]; workload.Tried(pod) && demand.Asks(pod) {
			waiting = append(waiting, pod)
		}
	}
	slices.SortFunc(waiting, func(a, b *corev1.Pod) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	oldest, tried := map[bool]time.Time{}, 0
	for _, pod := range waiting {
		wants, enough := all.wants(pod)
		fits := false
		if enough && tried < maxTried {
			tried++
			fits = anyTakes(nodes, pod, wants)
		}
		if _, found := oldest[fits]; !found {
			oldest[fits] = pod.CreationTimestamp.Time
		}
		if len(oldest) == 2 {
			break
		}
	}
	return oldest
}

// want is what a pod asks for of one ClusterResource.
type want struct {
	places *pool.Places
	free   pool.Free
	units  int64
}

// wants returns what a pod asks for. It is false if something cannot be read or is not there, or if
// no node has enough of it in its pools.
func (all observations) wants(pod *corev1.Pod) ([]want, bool) {
	requests, err := demand.Of(pod)
	if err != nil {
		return nil, false
	}
	wants := make([]want, 0, len(requests))
	for _, request := range requests {
		o := all[request.Resource]
		if o == nil || o.places == nil || o.object.DeletionTimestamp != nil {
			return nil, false
		}
		units, err := pool.Units(request.Quantity, o.resource.Unit())
		if err != nil {
			return nil, false
		}
		free := o.account.Free(o.resource)
		w := want{o.places, func(i int32) int64 { return free[i] }, units}
		if !w.metSomewhere() {
			return nil, false
		}
		wants = append(wants, w)
	}
	return wants, true
}

func (w *want) metSomewhere() bool {
	for site := range int32(w.places.Sites()) {
		if w.places.Nodes(site) > 0 && w.metAt(site) {
			return true
		}
	}
	return false
}

func (w *want) metOn(node string) bool {
	site, known := w.places.SiteOf(node)
	return known && w.metAt(site)
}

func (w *want) metAt(site int32) bool {
	return w.places.Resource().Admits(w.places.Pools(site), w.free, w.units)
}

// anyTakes reports whether a node takes the pod whose pools have enough left for what it wants.
func anyTakes(nodes []corev1.Node, pod *corev1.Pod, wants []want) bool {
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	for i := range nodes {
		unmet := slices.ContainsFunc(wants, func(w want) bool { return !w.metOn(nodes[i].Name) })
		if !unmet && takes(&nodes[i], pod, affinity) {
			return true
		}
	}
	return false
}

// takes reports whether a node takes pods, and this one as far as its affinity and tolerations go.
func takes(node *corev1.Node, pod *corev1.Pod, affinity nodeaffinity.RequiredNodeAffinity) bool {
	if !topology.TakesPods(node) {
		return false
	}
	if match, err := affinity.Match(node); err != nil || !match {
		return false
	}
	_, untolerated := schedulinghelpers.FindMatchingUntoleratedTaint(
		klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, keepsPodsAway, false)
	return !untolerated
}

func keepsPodsAway(taint *corev1.Taint) bool {
	return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
}
