// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator/whatif"
)

var sites = []string{"beijing", "hangzhou", "shanghai"}

// drawSites draws Clusters with nodes, of which some are cordoned.
func drawSites(t *rapid.T) []runtime.Object {
	var objects []runtime.Object
	for n, site := range sites {
		objects = append(objects, plugintest.Site(site))
		least := max(0, 1-n) // without any node the scheduler fails instead of giving reasons
		for i := range rapid.IntRange(least, 3).Draw(t, "nodes of "+site) {
			node := plugintest.MakeNode(site, i).Capacity(map[corev1.ResourceName]string{
				corev1.ResourceCPU: strconv.Itoa(rapid.IntRange(0, 4).Draw(t, "cpus")), corev1.ResourcePods: "10", corev1.ResourceMemory: "8Gi",
			})
			node.Unschedulable(rapid.IntRange(0, 5).Draw(t, "cordoned") == 0)
			objects = append(objects, node.Obj())
		}
	}
	return objects
}

// drawWorkloads draws Deployments, each with a policy: without one the scheduler draws lots between
// Clusters too.
func drawWorkloads(t *rapid.T) (deployments []*appsv1.Deployment, policies []runtime.Object) {
	for i := range rapid.IntRange(1, 3).Draw(t, "deployments") {
		name := fmt.Sprintf("web%d", i)
		deployments = append(deployments, deployment(name, int32(rapid.IntRange(0, 8).Draw(t, "replicas")), "1"))
		policy := plugintest.MakePolicy("p" + name).Deployment(name)
		for _, site := range sites {
			if weight := rapid.IntRange(0, 3).Draw(t, "weight of "+site); weight > 0 || site == sites[0] {
				policy.Weight(int64(max(1, weight)), site)
			}
		}
		policies = append(policies, policy.Obj())
	}
	return deployments, policies
}

// TestSimulationIsWhatTheSchedulerDoes gives the pods of the same workloads to the real scheduler,
// one after the other. All pods are of one size, so that it does not matter which of several nodes
// of a Cluster it draws.
func TestSimulationIsWhatTheSchedulerDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		world := drawSites(rt)
		deployments, policies := drawWorkloads(rt)
		world = append(world, policies...)
		objects := slices.Clone(world)
		for _, d := range deployments {
			objects = append(objects, d)
		}
		got := settled(t, simulation(t, objects...))
		if diff := cmp.Diff(scheduled(t, world, deployments), shown(got)); diff != "" {
			rt.Errorf("(-scheduler +simulation):\n%s", diff)
		}
		if again := settled(t, simulation(t, objects...)); !cmp.Equal(got, again) {
			rt.Errorf("another simulation of the same says something else:\n%s", cmp.Diff(got, again))
		}
	})
}

// fate is where the pods of a workload are.
type fate struct {
	Clusters map[string]int
	Waiting  map[string]int
}

// shown returns what a simulation says.
func shown(r *whatif.Result) map[string]fate {
	fates := map[string]fate{}
	for i := range r.Workloads {
		w := &r.Workloads[i]
		f := fate{map[string]int{}, map[string]int{}}
		for _, c := range w.Clusters {
			f.Clusters[c.Name] = c.After
		}
		for _, group := range w.Waiting {
			f.Waiting[group.Reason] = group.Pods
		}
		fates[w.Name] = f
	}
	return fates
}

// scheduled returns what the scheduler does.
func scheduled(t *testing.T, world []runtime.Object, deployments []*appsv1.Deployment) map[string]fate {
	t.Helper()
	var owners []runtime.Object
	var pods []*corev1.Pod
	fates := map[string]fate{}
	for _, d := range deployments {
		owner := plugintest.Deployment(d.Name, *d.Spec.Replicas)
		set := plugintest.ReplicaSet(owner, "v1")
		owners = append(owners, owner, set)
		fates[d.Name] = fate{map[string]int{}, map[string]int{}}
		for i := range int(*d.Spec.Replicas) {
			pods = append(pods, plugintest.MakePodOf(set, i).Label("app", d.Name).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj())
		}
	}
	scheduler := plugintest.New(t, append(owners, world...))
	defer scheduler.Stop()
	var waiting []*corev1.Pod
	for _, pod := range pods {
		bound, _ := scheduler.Place(pod)
		if bound == nil {
			waiting = append(waiting, pod)
			continue
		}
		fates[pod.Labels["app"]].Clusters[plugintest.SiteOf(bound.Spec.NodeName)]++
	}
	for _, pod := range waiting {
		fates[pod.Labels["app"]].Waiting[scheduler.Try(pod).Why()]++
	}
	return fates
}
