// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// atRest is a harness in which nothing is to be done.
func atRest(t *testing.T) *harness {
	t.Helper()
	h := newHarness(t, world(labelledSites(), placed(), these(newPolicy("p")))...)
	h.pass() // the first one writes the status
	h.sync()
	h.wait(time.Second)
	h.pass()
	h.wholes = 0
	return h
}

const siteLabel = "example.com/site"

// labelledSites are those of sites, with another node each, that tell by a label where they belong.
func labelledSites() []client.Object {
	var objects []client.Object
	for _, site := range []string{"beijing", "hangzhou"} {
		c := newCluster(site)
		c.Spec.MatchLabels = map[string]string{siteLabel: site}
		objects = append(objects, c)
		for i := range 2 {
			objects = append(objects, newNode(fmt.Sprintf("%s-%d", site, i), func(n *corev1.Node) { n.Labels[siteLabel] = site }))
		}
	}
	return objects
}

// changeNode and changeCluster change something on the server, and let the controller know.
func (h *harness) changeNode(name string, mutate func(*corev1.Node)) {
	h.t.Helper()
	before := get(h, name, &corev1.Node{})
	change(h, before.DeepCopy(), mutate)
	h.refresh()
	if err := h.NodeChanged(h.t.Context(), before, get(h, name, &corev1.Node{})); err != nil {
		h.t.Fatal(err)
	}
}

func (h *harness) changeCluster(name string, mutate func(*berthv1alpha1.Cluster)) {
	h.t.Helper()
	before, after := get(h, name, &berthv1alpha1.Cluster{}), get(h, name, &berthv1alpha1.Cluster{})
	mutate(after)
	if err := h.server.Update(h.t.Context(), after); err != nil {
		h.t.Fatal(err)
	}
	h.refresh()
	if err := h.ClusterChanged(h.t.Context(), before, get(h, name, &berthv1alpha1.Cluster{})); err != nil {
		h.t.Fatal(err)
	}
}

func get[T client.Object](h *harness, name string, object T) T {
	h.t.Helper()
	if err := h.server.Get(h.t.Context(), client.ObjectKey{Name: name}, object); err != nil {
		h.t.Fatal(err)
	}
	return object
}

// What changes of nodes and Clusters is looked at where it matters to policies whose pods are all
// where they should be, and by those that have a pod elsewhere.
func TestChangesOfNodesAreLookedAtWhereTheyMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		node    func(*corev1.Node)
		cluster func(*berthv1alpha1.Cluster)
		// wantLooks is how often pods of the policy were read while it was at rest.
		wantLooks, wantWholes int
	}{
		"a label that means nothing": {node: func(n *corev1.Node) { n.Labels["example.com/a"] = "b" }},
		"a taint": {node: func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "example.com/a", Effect: corev1.TaintEffectNoSchedule}}
		}},
		"a node that is not ready": {
			node: func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, wantLooks: 1,
		},
		"a node with pods that goes to another Cluster": {
			node: func(n *corev1.Node) { n.Labels[siteLabel] = "hangzhou" }, wantLooks: 1, wantWholes: 1,
		},
		"a node with pods that leaves its Cluster": {
			node: func(n *corev1.Node) { delete(n.Labels, siteLabel) }, wantLooks: 1, wantWholes: 1,
		},
		"what a Cluster has": {cluster: func(c *berthv1alpha1.Cluster) {
			c.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("32")}
		}},
		"a Cluster that goes offline": {cluster: func(c *berthv1alpha1.Cluster) {
			c.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionFalse}}
		}},
		"a Cluster that is cordoned": {cluster: func(c *berthv1alpha1.Cluster) {
			c.Spec.Unschedulable = true
			c.Generation++
		}, wantWholes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := atRest(t)
			h.wait(time.Second)
			if tc.node != nil {
				h.changeNode("beijing-0", tc.node)
			} else {
				h.changeCluster("beijing", tc.cluster)
			}
			h.looks = 0
			h.pass()
			if h.looks = min(h.looks, 1); h.looks != tc.wantLooks || h.wholes != tc.wantWholes {
				t.Errorf("the policy was looked at %d times, and the namespace %d times, want %d and %d", h.looks, h.wholes, tc.wantLooks, tc.wantWholes)
			}
		})
	}
}

// A policy that is not at rest is looked at whatever has changed.
func TestChangesOfNodesMayBeWhatAPolicyWaitsFor(t *testing.T) {
	h := atRest(t)
	h.changePod("web-0", func(p *corev1.Pod) { p.Spec.NodeName = "node-elsewhere" })
	h.pass()
	h.sync()
	h.wholes = 0
	h.wait(time.Second)
	h.changeNode("beijing-0", func(n *corev1.Node) { n.Labels["example.com/a"] = "b" })
	h.pass()
	if h.wholes != 1 {
		t.Errorf("the namespace was looked at %d times, want once", h.wholes)
	}
}

// changePod changes a pod on the server, and lets the controller know.
func (h *harness) changePod(name string, mutate func(*corev1.Pod)) {
	h.t.Helper()
	before := h.pods()[name]
	change(h, before.DeepCopy(), mutate)
	h.refresh()
	h.PodChanged(before, h.pods()[name])
}

func setReady(status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
	}
}

// What changes nothing for others is looked at by itself.
func TestAGlanceIsEnough(t *testing.T) {
	for name, tc := range map[string]struct {
		mutate     func(*corev1.Pod)
		wantReady  string
		wantWholes int
	}{
		"a pod becomes unready":      {setReady(corev1.ConditionFalse), "4/5", 0},
		"an annotation of others":    {func(p *corev1.Pod) { p.Annotations["example.com/a"] = "b" }, "5/5", 0},
		"a pod loses its seat":       {func(p *corev1.Pod) { delete(p.Annotations, berthv1alpha1.SeatAnnotation) }, "", 1},
		"a pod goes to another node": {func(p *corev1.Pod) { p.Spec.NodeName = "node-elsewhere" }, "", 1},
		"a pod belongs to nobody":    {func(p *corev1.Pod) { p.OwnerReferences = nil }, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := atRest(t)
			first := slices.Sorted(maps.Keys(h.pods()))[0]
			h.wait(time.Second)
			h.changePod(first, tc.mutate)
			h.pass()
			if ready := h.policy("p").Status.Ready; h.wholes != tc.wantWholes || tc.wantWholes == 0 && ready != tc.wantReady {
				t.Errorf("READY %s after %d passes over the namespace, want %s and %d", ready, h.wholes, tc.wantReady, tc.wantWholes)
			}
		})
	}
}

// A glance does not put off what a pass has said is to be looked at later.
func TestAGlanceKeepsTheTimeOfTheNextPass(t *testing.T) {
	h := atRest(t)
	h.changePod("web-0", setReady(corev1.ConditionFalse))
	h.pass()
	if h.last.RequeueAfter != 0 {
		t.Errorf("there is a pass after %v, and nothing to wait for", h.last.RequeueAfter)
	}
	h.changePod("web-0", setReady(corev1.ConditionTrue))
	h.pass()
	if h.last.RequeueAfter <= 0 || h.last.RequeueAfter > time.Second || h.policy("p").Status.Ready != "4/5" {
		t.Errorf("READY %s, and a pass after %v; the status is not written again at once", h.policy("p").Status.Ready, h.last.RequeueAfter)
	}
	h.wait(time.Second)
	h.pass()
	if h.policy("p").Status.Ready != "5/5" || h.wholes != 0 {
		t.Errorf("READY %s after %d passes over the namespace, want 5/5 after none", h.policy("p").Status.Ready, h.wholes)
	}
}

// told is what can be seen of what the controller has done.
func (h *harness) told() []string {
	h.t.Helper()
	status := h.policy("p").Status
	for i := range status.Conditions {
		status.Conditions[i].LastTransitionTime = metav1.Time{} // of the real clock
	}
	text, err := json.Marshal(status)
	if err != nil {
		h.t.Fatal(err)
	}
	told := []string{string(text)}
	for _, name := range slices.Sorted(maps.Keys(h.pods())) {
		told = append(told, name+": "+h.stampOf(name))
	}
	return append(told, h.evictor.evicted...)
}

// steps are what may happen to the pods of the workload, by number.
var steps = map[string]func(h *harness, n int){
	"ready":   func(h *harness, n int) { h.onPod(n, setReady(corev1.ConditionTrue)) },
	"unready": func(h *harness, n int) { h.onPod(n, setReady(corev1.ConditionFalse)) },
	"annotation": func(h *harness, n int) {
		h.onPod(n, func(p *corev1.Pod) { p.Annotations["example.com/a"] = h.clock.Now().String() })
	},
	"no seat": func(h *harness, n int) {
		h.onPod(n, func(p *corev1.Pod) { delete(p.Annotations, berthv1alpha1.SeatAnnotation) })
	},
	"another cost": func(h *harness, n int) {
		h.onPod(n, func(p *corev1.Pod) { p.Annotations[corev1.PodDeletionCost] = "7" })
	},
	"deletion": func(h *harness, n int) {
		names := slices.Sorted(maps.Keys(h.pods()))
		if n < len(names) {
			if err := h.server.Delete(h.t.Context(), h.pods()[names[n]]); err != nil {
				h.t.Fatal(err)
			}
			h.refresh()
			h.Changed(namespace)
		}
	},
	"replacement": func(h *harness, n int) {
		h.replace(fmt.Sprintf("new-%d", h.clock.Now().Unix()), []string{"beijing-0", "hangzhou-0"}[n%2], int32(n))
		h.refresh()
		h.Changed(namespace)
	},
	"a label of a node":  onNode(func(n *corev1.Node) { n.Labels["example.com/a"] = n.ResourceVersion }),
	"beijing has a node": onNode(func(n *corev1.Node) { n.Labels[siteLabel] = "beijing" }),
	"a node of nobody":   onNode(func(n *corev1.Node) { delete(n.Labels, siteLabel) }),
	"a node is ready":    onNode(func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionTrue }),
	"a node is lost":     onNode(func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }),
	"a node is cordoned": onNode(func(n *corev1.Node) { n.Spec.Unschedulable = true }),
	"a node is open":     onNode(func(n *corev1.Node) { n.Spec.Unschedulable = false }),
	"what a Cluster has": onCluster(func(c *berthv1alpha1.Cluster) {
		c.Status.ObservedGeneration++
		c.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(c.Status.ObservedGeneration, resource.DecimalSI)}
	}),
	"a Cluster is online":  onCluster(setOnline(metav1.ConditionTrue)),
	"a Cluster is offline": onCluster(setOnline(metav1.ConditionFalse)),
	"a Cluster is cordoned": onCluster(func(c *berthv1alpha1.Cluster) {
		c.Spec.Unschedulable = !c.Spec.Unschedulable
		c.Generation++
	}),
	"status of the Deployment": func(h *harness, n int) {
		h.onDeployment(func(d *appsv1.Deployment) { d.Status.ReadyReplicas = int32(n) })
	},
	"a roll-out": func(h *harness, n int) {
		h.onDeployment(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = int32(n) })
	},
	"scaled": func(h *harness, n int) {
		h.onDeployment(func(d *appsv1.Deployment) {
			if replicas := int32(n + 1); *d.Spec.Replicas != replicas {
				d.Spec.Replicas = &replicas
				d.Generation++
				d.Status.ObservedGeneration = d.Generation
			}
		})
	},
}

// nodeNames and clusterNames are those of labelledSites.
var nodeNames, clusterNames = []string{"beijing-0", "beijing-1", "hangzhou-0", "hangzhou-1"}, []string{"beijing", "hangzhou"}

func onNode(mutate func(n *corev1.Node)) func(h *harness, n int) {
	return func(h *harness, n int) { h.changeNode(nodeNames[n%len(nodeNames)], mutate) }
}

func onCluster(mutate func(c *berthv1alpha1.Cluster)) func(h *harness, n int) {
	return func(h *harness, n int) { h.changeCluster(clusterNames[n%len(clusterNames)], mutate) }
}

func setOnline(status metav1.ConditionStatus) func(c *berthv1alpha1.Cluster) {
	return func(c *berthv1alpha1.Cluster) {
		c.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.ClusterOnline, Status: status}}
	}
}

func (h *harness) onPod(n int, mutate func(*corev1.Pod)) {
	h.t.Helper()
	if names := slices.Sorted(maps.Keys(h.pods())); n < len(names) {
		h.changePod(names[n], mutate)
	}
}

func (h *harness) onDeployment(mutate func(*appsv1.Deployment)) {
	h.t.Helper()
	read := func() *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		if err := h.server.Get(h.t.Context(), client.ObjectKeyFromObject(d), d); err != nil {
			h.t.Fatal(err)
		}
		return d
	}
	before := read()
	change(h, read(), mutate)
	h.refresh()
	h.OwnerChanged(before, read())
}
