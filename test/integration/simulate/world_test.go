// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth.dev/berth/pkg/localplane"
)

// world is a cluster drawn at random, and what is done in it, one step after the other. In each
// step the pods of one workload come: of different ones that come at the same time it is a matter
// of luck which is first.
type world struct {
	*rand.Rand
	namespace string
	nodes     []*corev1.Node
	sites     []string
	base      string
	steps     []step
	scalable  []string
	pools     bool
}

// step is what changes: objects come, or a Deployment is scaled.
type step struct {
	// workload is the one that comes with the objects, or without any the Deployment that is scaled.
	workload            string
	policies, workloads string
	replicas            int
}

func (s *step) String() string {
	if s.policies == "" {
		return fmt.Sprintf("scaling %s to %d", s.workload, s.replicas)
	}
	return "adding\n" + s.policies + s.workloads
}

// drawWorld draws the world of a seed.
func drawWorld(seed uint64) *world {
	w := &world{
		Rand: rand.New(rand.NewPCG(seed, 0)), namespace: fmt.Sprintf("world-%d", seed),
		sites: []string{"beijing", "hangzhou", "shanghai"},
	}
	w.sites = w.sites[:2+w.IntN(2)]
	w.base = fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}\n", w.namespace)
	for _, site := range w.sites {
		w.base += fmt.Sprintf("---\n{apiVersion: berth.dev/v1alpha1, kind: Cluster, metadata: {name: %s}, spec: {matchLabels: {site: %[1]s}}}\n", site)
		for i := range 1 + w.IntN(3) {
			node := localplane.FakeNode(fmt.Sprintf("%s-%d", site, i), map[string]string{"site": site}, corev1.ResourceList{
				corev1.ResourceCPU: *resource.NewQuantity(int64(1+w.IntN(6)), resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("64Gi"),
				corev1.ResourcePods: resource.MustParse("20"),
			})
			if w.IntN(5) == 0 {
				node.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
			}
			w.nodes = append(w.nodes, node)
		}
	}
	if w.pools = w.IntN(2) == 0; w.pools {
		w.base += fmt.Sprintf(`---
apiVersion: berth.dev/v1alpha1
kind: ClusterResource
metadata: {name: licence}
spec:
  mode: %s
  capacity: [{name: all, quantity: "%d"}, {name: site, quantity: "%d", nodeSelector: {site: %s}}]
`, w.one("AnyOf", "AllOf"), 1+w.IntN(6), 1+w.IntN(4), w.sites[0])
	}
	for range 2 + w.IntN(3) {
		w.drawStep()
	}
	return w
}

func (w *world) one(of ...string) string { return of[w.IntN(len(of))] }

func (w *world) drawStep() {
	if len(w.scalable) > 0 && w.IntN(3) == 0 {
		w.steps = append(w.steps, step{workload: w.one(w.scalable...), replicas: 8 + len(w.steps)})
		return
	}
	name, kind := string(rune('a'+len(w.steps))), w.one("Deployment", "Deployment", "StatefulSet", "ReplicaSet")
	s := step{workload: name, workloads: w.workload(name, kind)}
	if w.IntN(2) == 0 {
		s.policies = w.policy(name, kind)
	} else {
		s.policies = w.subscription(name, kind)
	}
	if kind == "Deployment" {
		w.scalable = append(w.scalable, name)
	}
	w.steps = append(w.steps, s)
}

func (w *world) workload(name, kind string) string {
	requests := []string{"cpu: " + w.one("500m", `"1"`, `"2"`)}
	if w.pools && w.IntN(2) == 0 {
		requests = append(requests, `cluster-resource.berth.dev/licence: "1"`)
	}
	spec := []string{"schedulerName: berth-scheduler"}
	if w.IntN(3) == 0 {
		spec = append(spec, "tolerations: [{key: gpu}]")
	}
	ports := ""
	if w.IntN(4) == 0 {
		ports = fmt.Sprintf(", ports: [{containerPort: 80, hostPort: %d}]", 8000+len(w.steps))
	}
	limits := ""
	if len(requests) > 1 { // What is asked for of such a resource is also the limit.
		limits = ", limits: {" + requests[1] + "}"
	}
	spec = append(spec, fmt.Sprintf("containers: [{name: c, image: nginx%s, resources: {requests: {%s}%s}}]",
		ports, strings.Join(requests, ", "), limits))
	more := ""
	if kind == "StatefulSet" {
		more = fmt.Sprintf("  serviceName: %s\n  podManagementPolicy: %s\n", name, w.one("Parallel", "OrderedReady"))
	}
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: %s
metadata: {name: %s, namespace: %s}
spec:
  replicas: %d
%s  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}}
    spec: {%[6]s}
`, kind, name, w.namespace, w.IntN(8), more, strings.Join(spec, ", "))
}

// policy draws a policy by weight for a workload.
func (w *world) policy(name, kind string) string {
	sites := slices.Clone(w.sites)
	w.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
	var weights []string
	for _, site := range sites[:1+w.IntN(len(sites))] {
		limits := ""
		if w.IntN(4) == 0 {
			limits = ", max: " + strconv.Itoa(1+w.IntN(3))
		}
		weights = append(weights, fmt.Sprintf("{clusterNames: [%s], weight: %d%s}", site, 1+w.IntN(4), limits))
	}
	return fmt.Sprintf(`---
apiVersion: berth.dev/v1alpha1
kind: PropagationPolicy
metadata: {name: %s, namespace: %s}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: %s, name: %[1]s}]
  placement: {staticWeightList: [%[4]s], whenUnsatisfiable: %[5]s}
`, name, w.namespace, kind, strings.Join(weights, ", "), w.one("DoNotSchedule", "ScheduleAnyway"))
}

// subscription draws a Subscription by room to a workload, of which some wait for all of it.
func (w *world) subscription(name, kind string) string {
	return fmt.Sprintf(`---
apiVersion: berth.dev/v1alpha1
kind: Subscription
metadata: {name: %s, namespace: %s}
spec:
  schedulingStrategy: Dividing
  dividingScheduling: {type: Dynamic, dynamicDividing: {strategy: %s}, admission: %s}
  subscribers: [{clusterAffinity: {}}]
  feeds: [{apiVersion: apps/v1, kind: %[5]s, name: %[1]s}]
`, name, w.namespace, w.one("Spread", "Binpack"), w.one("Feed", "Bundle"), kind)
}
