// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"berth.dev/berth/pkg/plugintest"
)

// deployment returns a Deployment and its only ReplicaSet.
func deployment(name string, replicas int32) (*appsv1.Deployment, *appsv1.ReplicaSet) {
	d := plugintest.Deployment(name, replicas)
	return d, plugintest.ReplicaSet(d, "v1")
}

// beijingHangzhou is the policy of most tests: Deployment nginx, 2 to 3.
func beijingHangzhou() *plugintest.PolicyWrapper {
	return plugintest.MakePolicy("web").Deployment("nginx").Weight(2, "beijing").Weight(3, "hangzhou")
}

// newTwoSites returns a scheduler with the sites beijing and hangzhou, of two nodes each.
func newTwoSites(t testing.TB, objects ...runtime.Object) *plugintest.Scheduler {
	t.Helper()
	return plugintest.New(t, append(plugintest.Sites(2, "beijing", "hangzhou"), objects...))
}

// place sends the pods of the owner with the numbers from..to-1 through the scheduler, one after
// the other, until one finds no node.
func place(t testing.TB, s *plugintest.Scheduler, owner metav1.Object, from, to int) []*corev1.Pod {
	t.Helper()
	var bound []*corev1.Pod
	for i := from; i < to; i++ {
		pod, _ := s.Place(plugintest.MakePodOf(owner, i).Obj())
		if pod == nil {
			break
		}
		bound = append(bound, pod)
	}
	return bound
}

// bySite counts pods by the site of their node.
func bySite(pods []*corev1.Pod) map[string]int {
	counts := map[string]int{}
	for _, pod := range pods {
		counts[plugintest.SiteOf(pod.Spec.NodeName)]++
	}
	return counts
}

// changeNodes changes the two nodes of a site.
func changeNodes(s *plugintest.Scheduler, site string, change func(*corev1.Node)) {
	for i := range 2 {
		plugintest.Update(s, plugintest.MakeNode(site, i).Obj(), change)
	}
}

// cordon makes the two nodes of sites unschedulable.
func cordon(s *plugintest.Scheduler, sites ...string) {
	for _, site := range sites {
		changeNodes(s, site, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	}
}
