// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/dispatcher"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/stamp"
)

const namespace = "default"

// harness runs the reconciler on a fake API server.
type harness struct {
	*testing.T
	api   client.Client
	clock *testclock.FakeClock
	dispatcher.Reconciler
}

func newHarness(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	scheme := schemetest.New()
	h := &harness{T: t, clock: testclock.NewFakeClock(time.Now())}
	h.api = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	h.Reconciler = dispatcher.Reconciler{
		Client: h.api, Writer: h.api, Topology: state.NewTracker(h.api), Clock: h.clock, SchedulerNames: []string{"berth-scheduler"},
		Adviser: advisertest.New(t, h.api),
	}
	return h
}

func (h *harness) pass() {
	h.Helper()
	h.Adviser = advisertest.New(h, h.api)
	if _, err := h.Reconcile(h.Context(), singleton.Key{}); err != nil {
		h.Fatal(err)
	}
}

func (h *harness) home(name string) string {
	h.Helper()
	pod := &corev1.Pod{}
	if err := h.api.Get(h.Context(), client.ObjectKey{Namespace: namespace, Name: name}, pod); err != nil {
		h.Fatal(err)
	}
	return pod.Labels[berthv1alpha1.HomeSchedulerLabel]
}

// count returns the number of pods by home.
func (h *harness) count() map[string]int {
	h.Helper()
	var list corev1.PodList
	if err := h.api.List(h.Context(), &list); err != nil {
		h.Fatal(err)
	}
	homes := map[string]int{}
	for i := range list.Items {
		homes[list.Items[i].Labels[berthv1alpha1.HomeSchedulerLabel]]++
	}
	return homes
}

func shard(name string, ready bool) *berthv1alpha1.Scheduler {
	s := &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: name}}
	status := metav1.ConditionFalse
	if ready {
		status = metav1.ConditionTrue
	}
	apimeta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: berthv1alpha1.SchedulerReady, Status: status})
	return s
}

// site returns a Cluster that is bound to a scheduler, and its nodes.
func site(name, scheduler string, nodes int) []client.Object {
	c := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.MatchLabels = map[string]string{"site": name}
	c.Status.HomeScheduler = scheduler
	objects := []client.Object{c}
	for i := range nodes {
		objects = append(objects, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i), Labels: map[string]string{"site": name}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("110"),
			}},
		})
	}
	return objects
}

// two is two schedulers, a with two clusters and b with one.
func two(more ...client.Object) []client.Object {
	objects := []client.Object{shard("a", true), shard("b", true)}
	objects = append(objects, site("c1", "a", 2)...)
	objects = append(objects, site("c2", "a", 2)...)
	objects = append(objects, site("c3", "b", 2)...)
	return append(objects, more...)
}

func pod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), Labels: map[string]string{}},
		Spec:       corev1.PodSpec{SchedulerName: "berth-scheduler"},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func at(home string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[berthv1alpha1.HomeSchedulerLabel] = home }
}

func on(node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName = node }
}

func unschedulable(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
	}}
}

// web is a Deployment of ten replicas with a policy that gives c1 and c2 one part each and c3
// three.
func web(replicas int32) []client.Object {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", UID: "web"}}
	d.Spec.Replicas, d.Spec.Selector = &replicas, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	d.Spec.Template.Spec.SchedulerName = "berth-scheduler"
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-1", UID: "web-1"}}
	rs.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "web", Controller: ptr.To(true)}}
	rs.Spec.Replicas = &replicas
	p := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	p.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}
	p.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{
		{ClusterNames: []string{"c1", "c2"}, Weight: 1}, {ClusterNames: []string{"c3"}, Weight: 3},
	}
	return []client.Object{d, rs, p}
}

func ofWeb(p *corev1.Pod) {
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "web-1", Controller: ptr.To(true)}}
}

// stampedFor gives a pod the stamp of a cluster.
func stampedFor(cluster string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		given := stamp.Stamp{Policy: "web", Cluster: cluster, Seat: stamp.NoSeat}
		p.Annotations = given.Annotations(p, p.Spec.NodeName)
	}
}

func licensed(p *corev1.Pod) {
	p.Annotations = map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + "licence": "1"}
}

// labelled is two, where the one cluster of b alone is green.
func labelled(more ...client.Object) []client.Object {
	objects := two(more...)
	for _, o := range objects {
		if c, ok := o.(*berthv1alpha1.Cluster); ok && c.Name == "c3" {
			c.Labels = map[string]string{"energy": "green"}
			c.Spec.CustomResources = []string{"gpus.example.com"}
			c.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "load", Weight: 1}}
			c.Status.Metrics = []berthv1alpha1.MetricSample{{Name: "load", Value: ptr.To(5.0), Normalized: ptr.To(0.5)}}
		}
	}
	return objects
}

func annotated(key, text string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{key: text} }
}
