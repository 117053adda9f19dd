// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth.dev/berth/pkg/localplane"
)

// nginx is the workload of the playground's demo, with an image; its policy shares it by two
// weights, and moves pods at once.
func nginx(image string) string {
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: nginx, namespace: demo}
spec:
  replicas: 10
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  selector: {matchLabels: {app: nginx}}
  template:
    metadata: {labels: {app: nginx}}
    spec: {schedulerName: berth-scheduler, containers: [{name: c, image: %s}]}
`, image)
}

func weights(beijing, hangzhou int, anyway string) string {
	return fmt.Sprintf(`---
apiVersion: berth.dev/v1alpha1
kind: PropagationPolicy
metadata: {name: nginx, namespace: demo}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: nginx}]
  placement:
    whenUnsatisfiable: %s
    staticWeightList: [{clusterNames: [beijing], weight: %d}, {clusterNames: [hangzhou], weight: %d}]
  rebalance: {mode: Evict, maxUnavailable: 2, cooldown: 1s, minPodAge: 1s}
`, anyway, beijing, hangzhou)
}

// licensed are pods that need one of three licences, of a class of priority.
func licensed(name, class string, replicas int) string {
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: demo}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      schedulerName: berth-scheduler
      priorityClassName: %[3]q
      nodeSelector: {site: hangzhou}
      containers: [{name: c, image: i, resources: {requests: {cluster-resource.berth.dev/matlab: "1"}, limits: {cluster-resource.berth.dev/matlab: "1"}}}]
`, name, replicas, class)
}

// demo are the steps of the playground's demo: it shares by weights, grows and shrinks, moves pods
// under a budget, rolls out, gives out licences, lets an urgent pod have one, and places a bundle.
func demo() *world {
	w := &world{namespace: "demo", base: `
{apiVersion: v1, kind: Namespace, metadata: {name: demo}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, value: 1000}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: nginx, namespace: demo}, spec: {minAvailable: 9, selector: {matchLabels: {app: nginx}}}}
---
{apiVersion: berth.dev/v1alpha1, kind: ClusterResource, metadata: {name: matlab}, spec: {capacity: [{name: all, quantity: "3"}]}}
`}
	w.sites = []string{"beijing", "hangzhou"}
	for _, site := range w.sites {
		w.base += fmt.Sprintf("---\n{apiVersion: berth.dev/v1alpha1, kind: Cluster, metadata: {name: %s}, spec: {matchLabels: {site: %[1]s}}}\n", site)
		for i := range 3 {
			w.nodes = append(w.nodes, localplane.FakeNode(fmt.Sprintf("%s-%d", site, i), map[string]string{"site": site}, corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
			}))
		}
	}
	bundle := `---
apiVersion: berth.dev/v1alpha1
kind: Subscription
metadata: {name: shop, namespace: demo}
spec:
  schedulingStrategy: Dividing
  dividingScheduling: {type: Dynamic, dynamicDividing: {strategy: Spread}, admission: Bundle}
  subscribers: [{clusterAffinity: {}}]
  feeds: [{apiVersion: apps/v1, kind: Deployment, name: shop}]
`
	shop := `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: demo}
spec:
  replicas: 6
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {schedulerName: berth-scheduler, containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}
`
	w.steps = []step{
		{workload: "nginx", policies: weights(2, 3, "DoNotSchedule"), workloads: nginx("nginx:1")},
		{workload: "nginx", replicas: 3}, {workload: "nginx", replicas: 10},
		{workload: "nginx", policies: weights(4, 1, "DoNotSchedule")},
		{workload: "nginx", policies: weights(4, 1, "DoNotSchedule"), workloads: nginx("nginx:2")},
		{workload: "simulation", policies: weights(4, 1, "ScheduleAnyway"), workloads: licensed("simulation", "", 5)},
		{workload: "simulation", policies: weights(4, 1, "ScheduleAnyway"), workloads: licensed("urgent", "urgent", 1)},
		{workload: "shop", policies: bundle, workloads: shop},
	}
	return w
}

var _ = Describe("berthctl simulate", func() {
	It("says of the steps of the demo what then happens", func(ctx SpecContext) { demo().run(ctx) })
})
