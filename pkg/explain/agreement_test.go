// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

var sites = []string{"beijing", "hangzhou", "shanghai"}

// world is a cluster with a workload under a policy, of which some pods run and one waits.
type world struct {
	objects  placement.Objects
	resource *berthv1alpha1.ClusterResource
	waiting  *corev1.Pod
}

func draw(t *rapid.T) *world {
	w := &world{}
	policy := plugintest.MakePolicy("p")
	for n, site := range sites {
		w.objects.Clusters = append(w.objects.Clusters, *plugintest.Site(site))
		for i := range rapid.IntRange(max(0, 1-n), 3).Draw(t, "nodes of "+site) {
			node := plugintest.MakeNode(site, i)
			switch rapid.IntRange(0, 5).Draw(t, "trouble") {
			case 0:
				node.Unschedulable(true)
			case 1:
				node.Taints([]corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}})
			case 2:
				node.Label("disk", "hdd")
			}
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			w.objects.Nodes = append(w.objects.Nodes, *node.Obj())
		}
		if n == 0 || rapid.Bool().Draw(t, site+" is in the policy") {
			policy.Weight(rapid.Int64Range(1, 3).Draw(t, "weight"), site)
			if rapid.IntRange(0, 3).Draw(t, site+" has bounds") == 0 {
				policy.Bounds(0, rapid.Int32Range(0, 3).Draw(t, "most"))
			}
		}
	}
	w.resource = &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence", UID: "licence", Generation: 1}}
	for _, pool := range []berthv1alpha1.ClusterResourceQuantity{{Name: "all"}, {Name: "site", NodeSelector: map[string]string{plugintest.SiteLabel: "beijing"}}} {
		pool.Quantity = *resource.NewQuantity(rapid.Int64Range(0, 3).Draw(t, "units for "+pool.Name), resource.DecimalSI)
		w.resource.Spec.Capacity = append(w.resource.Spec.Capacity, pool)
	}
	w.resource.Spec.Mode = rapid.SampledFrom([]berthv1alpha1.PoolMode{berthv1alpha1.AnyOf, berthv1alpha1.AllOf}).Draw(t, "mode")
	w.resource.Status.Allocatable = w.resource.Spec.Capacity
	w.drawPods(t, policy)
	return w
}

// drawPods draws the pods of a Deployment or of a StatefulSet. Those that run hold a seat or none.
func (w *world) drawPods(t *rapid.T, policy *plugintest.PolicyWrapper) {
	replicas := rapid.Int32Range(1, 8).Draw(t, "replicas")
	var owner metav1.Object
	if rapid.Bool().Draw(t, "numbered") {
		set := plugintest.StatefulSet("db", replicas)
		owner, w.objects.Owners = set, []workload.Object{set}
		policy.Selects("apps/v1", "StatefulSet", "db")
	} else {
		d := plugintest.Deployment("web", replicas)
		set := plugintest.ReplicaSet(d, "v1")
		owner, w.objects.Owners = set, []workload.Object{d, set}
		policy.Deployment("web")
	}
	w.objects.Policies = append(w.objects.Policies, *policy.Obj())
	running := rapid.IntRange(0, int(replicas)).Draw(t, "running")
	for i := range running {
		pod := plugintest.MakePodOf(owner, i).Obj()
		node := rapid.SampledFrom(w.objects.Nodes).Draw(t, "node")
		given := stamp.Stamp{Policy: "p", Cluster: node.Labels[plugintest.SiteLabel], Seat: int32(i)}
		if rapid.IntRange(0, 4).Draw(t, "beyond its share") == 0 {
			given.Seat = stamp.NoSeat
		}
		pod.Spec.NodeName, pod.Annotations = node.Name, given.Annotations(pod, node.Name)
		w.objects.Pods = append(w.objects.Pods, *pod)
	}
	waiting := plugintest.MakePodOf(owner, running)
	if rapid.Bool().Draw(t, "wants a disk") {
		waiting.NodeAffinityNotIn("disk", []string{"hdd"})
	}
	if rapid.Bool().Draw(t, "tolerates") {
		waiting.Toleration("gpu")
	}
	if rapid.Bool().Draw(t, "needs licences") {
		waiting.Annotation("pod.alpha.kubernetes.io/cluster-resource-licence", strconv.Itoa(rapid.IntRange(1, 3).Draw(t, "licences")))
	}
	w.waiting = waiting.Obj()
	w.objects.Pods = append(w.objects.Pods, *w.waiting)
}

// takers returns the nodes that the Filters of the scheduler's plugins leave to the waiting pod.
func (w *world) takers(t *testing.T) []string {
	t.Helper()
	profile, err := simulator.ParseProfile([]byte(plugintest.Configuration), plugintest.Profile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := simulator.New(profile, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	berth := &simulator.Objects{Resources: []*berthv1alpha1.ClusterResource{w.resource}}
	for i := range w.objects.Clusters {
		berth.Clusters = append(berth.Clusters, &w.objects.Clusters[i])
	}
	for i := range w.objects.Policies {
		berth.Policies = append(berth.Policies, &w.objects.Policies[i])
	}
	s.SetObjects(berth)
	var objects []runtime.Object
	for _, owner := range w.objects.Owners {
		objects = append(objects, owner)
	}
	for i := range w.objects.Nodes {
		objects = append(objects, &w.objects.Nodes[i])
	}
	for i := range w.objects.Pods {
		objects = append(objects, &w.objects.Pods[i])
	}
	for _, object := range objects {
		if err := s.Put(object); err != nil {
			t.Fatal(err)
		}
	}
	takers, err := s.Takers(t.Context(), w.waiting)
	if err != nil {
		t.Fatal(err)
	}
	return takers
}

// TestExplanationIsWhatTheFiltersSay takes from an explanation the Clusters that would have the
// pod, the number of their nodes that can, and on how many nodes there is enough of what it asks
// for, and compares that with what the Filters leave.
func TestExplanationIsWhatTheFiltersSay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := draw(rt)
		state := placement.NewState(&w.objects, nil)
		said := explain.Pod(state, w.waiting)
		plain := *w
		plain.waiting = w.waiting.DeepCopy()
		delete(plain.waiting.Annotations, "pod.alpha.kubernetes.io/cluster-resource-licence")
		plain.objects.Pods = append(slices.Clone(w.objects.Pods[:len(w.objects.Pods)-1]), *plain.waiting)
		taken := map[string]int{}
		for _, node := range plain.takers(t) {
			taken[plugintest.SiteOf(node)]++
		}
		admitted := map[string]int{}
		for i := range said.Clusters {
			c := &said.Clusters[i]
			if open := c.FreeSeats > 0 && said.FixedSeat == nil || strings.HasPrefix(c.Says, "owns seat"); open && c.Nodes.Usable > 0 {
				admitted[c.Name] = c.Nodes.Usable
			}
		}
		if diff := cmp.Diff(taken, admitted); diff != "" {
			rt.Errorf("(-Filters +explanation %+v):\n%s", said.Clusters, diff)
		}
		said.AddResources(state, w.waiting, []berthv1alpha1.ClusterResource{*w.resource})
		w.compareUnits(t, rt, said)
	})
}

// compareUnits has a pod that is under no policy, and keeps away from no node, ask for the same.
func (w *world) compareUnits(t *testing.T, rt *rapid.T, said *explain.PodAnswer) {
	t.Helper()
	if len(said.Resources) == 0 {
		return
	}
	free := *w
	free.waiting = plugintest.MakePod("free").Annotation(berthv1alpha1.PolicyAnnotation, berthv1alpha1.PolicyNone).Obj()
	free.waiting.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	const units = "pod.alpha.kubernetes.io/cluster-resource-licence"
	free.waiting.Annotations[units] = w.waiting.Annotations[units]
	free.waiting.UID = types.UID("free")
	want := fmt.Sprintf("of which there is enough left on %d node", len(free.takers(t)))
	if found := strings.Contains(strings.Join(said.Reasons, "\n"), want); found != (len(free.takers(t)) > 0) {
		rt.Errorf("the Filters leave %d nodes, the explanation says %q", len(free.takers(t)), said.Reasons)
	}
}
