// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator/whatif"
)

// twoSites are two Clusters with two nodes of 4 cpus each.
func twoSites() []runtime.Object {
	var objects []runtime.Object
	for _, site := range sites[:2] {
		objects = append(objects, plugintest.Site(site))
		for i := range 2 {
			objects = append(objects, plugintest.MakeNode(site, i).Capacity(map[corev1.ResourceName]string{
				corev1.ResourceCPU: "4", corev1.ResourcePods: "10", corev1.ResourceMemory: "8Gi",
			}).Obj())
		}
	}
	return objects
}

// brief is a workload on one line: "deployment/web 2 beijing, 1 wait".
func brief(r *whatif.Result) []string {
	var lines []string
	for i := range r.Workloads {
		w := &r.Workloads[i]
		var parts []string
		for _, c := range w.Clusters {
			parts = append(parts, fmt.Sprintf("%d %s", c.After, c.Name))
		}
		for _, group := range w.Waiting {
			parts = append(parts, fmt.Sprintf("%d wait: %s", group.Pods, group.Reason))
		}
		lines = append(lines, fmt.Sprintf("%s/%s %s", w.Kind, w.Name, strings.Join(parts, ", ")))
	}
	return lines
}

func TestKinds(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	never := template("x", "1")
	never.Spec.RestartPolicy = corev1.RestartPolicyNever
	policy := plugintest.MakePolicy("p").Weight(1, "beijing").Weight(3, "hangzhou")
	quota := &corev1.ResourceQuota{ObjectMeta: meta("quota"), Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}}}
	limits := &corev1.LimitRange{ObjectMeta: meta("limits"), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
	}}}}
	plain := deployment("x", 5, "1")
	plain.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	tests := map[string]struct {
		objects []runtime.Object
		want    []string
	}{
		"a paused Deployment": {[]runtime.Object{paused(4, "1")}, []string{"Deployment/x 4 wait: the Deployment is paused"}},
		"Deployment":          {[]runtime.Object{policy.Deployment("x").Obj(), deployment("x", 4, "1")}, []string{"Deployment/x 1 beijing, 3 hangzhou"}},
		"StatefulSet": {[]runtime.Object{&appsv1.StatefulSet{ObjectMeta: meta("x"), Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](2), Selector: selector, Template: template("x", "5")}}}, []string{
			"StatefulSet/x 1 wait: 0/4 nodes are available: 4 Insufficient cpu., 1 wait: the pod with the number before waits",
		}},
		"Job":       {[]runtime.Object{&batchv1.Job{ObjectMeta: meta("x"), Spec: batchv1.JobSpec{Parallelism: ptr.To[int32](3), Completions: ptr.To[int32](2), Template: never}}}, []string{"Job/x 2 beijing"}},
		"DaemonSet": {[]runtime.Object{&appsv1.DaemonSet{ObjectMeta: meta("x"), Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template("x", "1")}}}, []string{"DaemonSet/x 2 beijing, 2 hangzhou"}},
		"Pod":       {[]runtime.Object{&corev1.Pod{ObjectMeta: meta("x"), Spec: template("x", "4").Spec}}, []string{"Pod/x 1 beijing"}},
		"of another scheduler, which no policy concerns": {[]runtime.Object{policy.Deployment("x").Obj(), func() runtime.Object {
			d := deployment("x", 3, "4")
			d.Spec.Template.Spec.SchedulerName = "default-scheduler"
			return d
		}()}, []string{"Deployment/x 2 beijing, 1 hangzhou"}},
		"a quota": {[]runtime.Object{quota, deployment("x", 5, "1")}, []string{
			"Deployment/x 2 beijing, 1 hangzhou, 2 wait: pods \"x-HASH-44447\" is forbidden: exceeded quota: quota, requested: pods=1, used: pods=3, limited: pods=3",
		}},
		"defaults of a LimitRange": {[]runtime.Object{limits, plain}, []string{"Deployment/x 2 beijing, 2 hangzhou, 1 wait: 0/4 nodes are available: 4 Insufficient cpu."}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := brief(settled(t, simulation(t, append(twoSites(), tc.objects...)...)))
			for i := range got {
				if start := strings.Index(got[i], `"x-`); start >= 0 {
					end := strings.LastIndex(got[i], "-444")
					got[i] = got[i][:start] + `"x-HASH` + got[i][end:]
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// paused is a Deployment that makes no ReplicaSet for its template.
func paused(replicas int32, cpu string) *appsv1.Deployment {
	d := deployment("x", replicas, cpu)
	d.Spec.Paused = true
	return d
}

// Each of the pods of a StatefulSet fits where its seat is, but there is room for one of them only.
func TestPodsThatFitOneByOneStay(t *testing.T) {
	set := &appsv1.StatefulSet{ObjectMeta: meta("x"), Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(2)), Template: template("x", "3"), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
	}}
	in := func(cluster string) *berthv1alpha1.PropagationPolicy {
		p := plugintest.MakePolicy("p").Selects("apps/v1", "StatefulSet", "x").Weight(1, cluster).Obj()
		p.Spec.Rebalance.MaxUnavailable = new(intstr.FromInt32(2))
		return p
	}
	s := simulation(t, append(twoSites(), deployment("full", 1, "4"), set, in("hangzhou"))...)
	settled(t, s)
	if err := s.Apply(t.Context(), in("beijing")); err != nil {
		t.Fatal(err)
	}
	r := settled(t, s)
	if diff := cmp.Diff([]string{"Deployment/full 1 beijing", "StatefulSet/x 1 beijing, 1 hangzhou"}, brief(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestChanges(t *testing.T) {
	policy := plugintest.MakePolicy("p").Deployment("x").Weight(2, "beijing").Weight(3, "hangzhou").Obj()
	other := plugintest.MakePolicy("p").Deployment("x").Weight(3, "beijing").Weight(2, "hangzhou").Obj()
	tests := map[string]struct {
		change      func(*whatif.Simulation) error
		want        []string
		wantEvicted int
	}{
		"up": {func(s *whatif.Simulation) error {
			return s.Scale(t.Context(), "deployment", plugintest.Namespace, "x", 10)
		}, []string{"Deployment/x 4 beijing, 6 hangzhou"}, 0},
		"down": {func(s *whatif.Simulation) error {
			return s.Scale(t.Context(), "deploy", plugintest.Namespace, "x", 2)
		}, []string{"Deployment/x 1 beijing, 1 hangzhou"}, 0},
		"new weights": {func(s *whatif.Simulation) error { return s.Apply(t.Context(), other) }, []string{"Deployment/x 3 beijing, 2 hangzhou"}, 1},
		"a Cluster drained": {func(s *whatif.Simulation) error { return s.Drain(t.Context(), "cluster", "beijing") }, []string{
			"Deployment/x 3 hangzhou, 2 wait: 0/4 nodes are available: 2 node(s) in clusters that have their share of replicas, 2 node(s) were unschedulable.",
		}, 2},
		"a node drained":                        {func(s *whatif.Simulation) error { return s.Drain(t.Context(), "node", "beijing-0") }, []string{"Deployment/x 2 beijing, 3 hangzhou"}, 1},
		"paused and scaled":                     {func(s *whatif.Simulation) error { return s.Apply(t.Context(), paused(7, "1")) }, []string{"Deployment/x 3 beijing, 4 hangzhou"}, 0},
		"paused and scaled with a new template": {func(s *whatif.Simulation) error { return s.Apply(t.Context(), paused(6, "2")) }, []string{"Deployment/x 2 beijing, 4 hangzhou"}, 0},
		"a new template":                        {func(s *whatif.Simulation) error { return s.Apply(t.Context(), deployment("x", 5, "2")) }, []string{"Deployment/x 2 beijing, 3 hangzhou"}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := simulation(t, append(twoSites(), policy.DeepCopy(), deployment("x", 5, "1"))...)
			settled(t, s)
			if err := tc.change(s); err != nil {
				t.Fatal(err)
			}
			got := settled(t, s)
			if diff := cmp.Diff(tc.want, brief(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got.Evictions) != tc.wantEvicted {
				t.Errorf("evictions %+v, want %d", got.Evictions, tc.wantEvicted)
			}
		})
	}
}

func TestSubscriptionsAndApplications(t *testing.T) {
	byRoom := &berthv1alpha1.Subscription{ObjectMeta: meta("s"), Spec: berthv1alpha1.SubscriptionSpec{
		SchedulingStrategy: berthv1alpha1.DividingStrategy,
		DividingScheduling: &berthv1alpha1.DividingScheduling{
			Type: berthv1alpha1.DynamicDividingType, DynamicDividing: &berthv1alpha1.DynamicDividing{Strategy: berthv1alpha1.SpreadStrategy},
		},
		Subscribers: []berthv1alpha1.Subscriber{{}},
		Feeds:       []berthv1alpha1.Feed{{APIVersion: "apps/v1", Kind: "Deployment", Name: "x"}},
	}}
	app := &berthv1alpha1.Application{ObjectMeta: meta("a"), Spec: berthv1alpha1.ApplicationSpec{
		Manifests: []berthv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(`{"apiVersion":"apps/v1","kind":"Deployment",
			"metadata":{"name":"y"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"y"}},"template":{"metadata":{"labels":{"app":"y"}},
			"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)}}},
	}}
	byWeight, installed := byRoom.DeepCopy(), deployment("x", 5, "1")
	byWeight.Spec.DividingScheduling = &berthv1alpha1.DividingScheduling{Type: berthv1alpha1.StaticDividingType}
	byWeight.Spec.Subscribers = []berthv1alpha1.Subscriber{{Weight: 1}}
	byWeight.Spec.Feeds = []berthv1alpha1.Feed{{HelmRelease: "store"}}
	installed.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	installed.Annotations = map[string]string{"meta.helm.sh/release-name": "store", "meta.helm.sh/release-namespace": installed.Namespace}
	releaseByRoom := byRoom.DeepCopy()
	releaseByRoom.Spec.Feeds = byWeight.Spec.Feeds
	tests := map[string]struct {
		objects []runtime.Object
		want    string
	}{
		"a Helm release": {[]runtime.Object{byWeight, installed}, "Deployment/x 3 beijing, 2 hangzhou"},
		"a Helm release by room": {[]runtime.Object{releaseByRoom, func() runtime.Object {
			d := installed.DeepCopy()
			d.Spec.Replicas = ptr.To[int32](17)
			return d
		}()}, "Deployment/x 8 beijing, 8 hangzhou, 1 wait: 0/4 nodes are available: 4 node(s) in clusters that have their share of replicas."},
		"by room":                 {[]runtime.Object{byRoom, deployment("x", 10, "1")}, "Deployment/x 5 beijing, 5 hangzhou"},
		"by room, more than fits": {[]runtime.Object{byRoom, deployment("x", 17, "1")}, "Deployment/x 8 beijing, 8 hangzhou, 1 wait: 0/4 nodes are available: 4 node(s) in clusters that have their share of replicas."},
		"Application":             {[]runtime.Object{app}, "Deployment/y 2 "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := brief(settled(t, simulation(t, append(twoSites(), tc.objects...)...)))
			if len(got) != 1 || !strings.HasPrefix(got[0], tc.want) || strings.Count(got[0], ",") != strings.Count(tc.want, ",") {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// BenchmarkSettle places a workload of 100 pods for each Cluster of 50 nodes, under a policy each.
func BenchmarkSettle(b *testing.B) {
	for _, sites := range []int{10, 100} {
		b.Run(fmt.Sprintf("nodes=%d", 50*sites), func(b *testing.B) {
			site := func(i int) string { return fmt.Sprintf("site%d", i%sites) }
			var objects []runtime.Object
			for i := range sites {
				objects = append(objects, plugintest.Sites(50, site(i))...)
				name := fmt.Sprintf("web%d", i)
				objects = append(objects, deployment(name, 100, "1"),
					plugintest.MakePolicy(name).Deployment(name).Weight(1, site(i)).Weight(2, site(i+1)).Obj())
			}
			for b.Loop() {
				if r := settled(b, simulation(b, objects...)); !r.Fits() {
					b.Fatal("something waits")
				}
			}
		})
	}
}
