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
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator/whatif"
)

// budget lets so many pods of an app be missing.
func budget(app, missing string) *policyv1.PodDisruptionBudget {
	most := intstr.Parse(missing)
	return &policyv1.PodDisruptionBudget{ObjectMeta: meta(app), Spec: policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: &most, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
	}}
}

// least wants so many pods of an app to stay.
func least(app, healthy string) *policyv1.PodDisruptionBudget {
	b := budget(app, "0")
	b.Spec.MaxUnavailable, b.Spec.MinAvailable = nil, ptr.To(intstr.Parse(healthy))
	return b
}

// evictions are the evicted pods on one line each, without what is random in their names.
func evictions(r *whatif.Result) []string {
	var lines []string
	for _, e := range r.Evictions {
		app, _, _ := strings.Cut(e.Pod, "-")
		reason, _, _ := strings.Cut(e.Reason, "/")
		lines = append(lines, fmt.Sprintf("%s from %s: %s", app, e.Cluster, reason))
	}
	return lines
}

func TestPreemption(t *testing.T) {
	class := func(name string, value int32, policy corev1.PreemptionPolicy) *schedulingv1.PriorityClass {
		return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, PreemptionPolicy: &policy}
	}
	of := func(class string, d *appsv1.Deployment) *appsv1.Deployment {
		d.Spec.Template.Spec.PriorityClassName = class
		return d
	}
	licence := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence", UID: "licence", Generation: 1}}
	licence.Spec.Capacity = []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("2")}}
	needs := func(d *appsv1.Deployment) *appsv1.Deployment {
		one := corev1.ResourceList{"cluster-resource.berth.dev/licence": resource.MustParse("1")}
		resources := &d.Spec.Template.Spec.Containers[0].Resources
		resources.Limits = one
		resources.Requests["cluster-resource.berth.dev/licence"] = resource.MustParse("1")
		return d
	}
	high, never := class("high", 100, corev1.PreemptLowerPriority), class("never", 100, corev1.PreemptNever)
	const full = "1 wait: 0/4 nodes are available: 4 Insufficient cpu."
	tests := map[string]struct {
		there, coming       []runtime.Object
		want, wantEvictions []string
	}{
		"who has run for the shortest time": {
			[]runtime.Object{high, deployment("low", 4, "4")}, []runtime.Object{of("high", deployment("top", 1, "4"))},
			[]string{"Deployment/low 2 beijing, 1 hangzhou, " + full, "Deployment/top 1 hangzhou"},
			[]string{"low from hangzhou: preempted by pod default"},
		},
		"as few as suffice": {
			[]runtime.Object{high, deployment("low", 4, "3")}, []runtime.Object{of("high", deployment("top", 1, "1"))},
			[]string{"Deployment/low 2 beijing, 2 hangzhou", "Deployment/top 1 beijing"}, nil,
		},
		"nobody of the same priority": {
			[]runtime.Object{high, of("high", deployment("low", 4, "4"))}, []runtime.Object{of("high", deployment("top", 1, "4"))},
			[]string{"Deployment/low 2 beijing, 2 hangzhou", "Deployment/top " + full}, nil,
		},
		"nobody for a pod that never preempts": {
			[]runtime.Object{never, deployment("low", 4, "4")}, []runtime.Object{of("never", deployment("top", 1, "4"))},
			[]string{"Deployment/low 2 beijing, 2 hangzhou", "Deployment/top " + full}, nil,
		},
		"nobody if it does not help": {
			[]runtime.Object{high, deployment("low", 4, "4")}, []runtime.Object{of("high", deployment("top", 1, "5"))},
			[]string{"Deployment/low 2 beijing, 2 hangzhou", "Deployment/top " + full}, nil,
		},
		"rather who has no budget": {
			[]runtime.Object{high, deployment("a", 2, "4"), deployment("b", 2, "4"), budget("a", "0")},
			[]runtime.Object{of("high", deployment("top", 2, "4"))},
			[]string{
				"Deployment/a 2 beijing",
				"Deployment/b 2 wait: 0/4 nodes are available: 4 Insufficient cpu.", "Deployment/top 2 hangzhou",
			},
			[]string{"b from hangzhou: preempted by pod default", "b from hangzhou: preempted by pod default"},
		},
		"units of a pool, on whatever node": {
			[]runtime.Object{high, licence, needs(deployment("low", 2, "1"))}, []runtime.Object{of("high", needs(deployment("top", 1, "1")))},
			[]string{
				"Deployment/low 1 beijing, 1 wait: 0/4 nodes are available: node(s) whose pools of licence are used up.",
				"Deployment/top 1 beijing",
			},
			[]string{"low from beijing: preempted by pod default"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var first *whatif.Result
			for range 3 { // The scheduler draws lots here, a simulation does not.
				s := simulation(t, append(twoSites(), tc.there...)...)
				settled(t, s)
				if err := s.Apply(t.Context(), tc.coming...); err != nil {
					t.Fatal(err)
				}
				got := settled(t, s)
				if diff := cmp.Diff(tc.want, brief(got)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tc.wantEvictions, evictions(got)); diff != "" {
					t.Errorf("evictions (-want +got):\n%s", diff)
				}
				if first == nil {
					first = got
				}
				if diff := cmp.Diff(first, got); diff != "" {
					t.Errorf("the same again is something else:\n%s", diff)
				}
			}
		})
	}
}

// TestBudgets drains beijing, where two of five pods run; hangzhou has room for all.
func TestBudgets(t *testing.T) {
	const kept = "Cannot evict pod as it would violate the pod's disruption budget. " +
		"The disruption budget x needs %d healthy pods and has 5 currently"
	tests := map[string]struct {
		budgets     []runtime.Object
		wantEvicted int
		wantKept    string
	}{
		"none":                              {nil, 2, ""},
		"one after the other":               {[]runtime.Object{budget("x", "1")}, 2, ""},
		"never one less":                    {[]runtime.Object{budget("x", "0")}, 0, fmt.Sprintf(kept, 5)},
		"all have to stay":                  {[]runtime.Object{least("x", "5")}, 0, fmt.Sprintf(kept, 5)},
		"more than there are":               {[]runtime.Object{least("x", "7")}, 0, fmt.Sprintf(kept, 7)},
		"a fifth may be missing":            {[]runtime.Object{budget("x", "20%")}, 2, ""},
		"a tenth, which is one when in use": {[]runtime.Object{budget("x", "10%")}, 2, ""},
		"nine of ten, which are all":        {[]runtime.Object{least("x", "90%")}, 0, fmt.Sprintf(kept, 5)},
		"of others":                         {[]runtime.Object{budget("y", "0")}, 2, ""},
		"several": {[]runtime.Object{budget("x", "1"), func() runtime.Object {
			b := budget("x", "1")
			b.Name = "z"
			return b
		}()}, 0, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := append(twoSites(), plugintest.MakePolicy("p").Deployment("x").Weight(2, "beijing").Weight(3, "hangzhou").Anyway().Obj(),
				deployment("x", 5, "1"))
			s := simulation(t, append(objects, tc.budgets...)...)
			settled(t, s)
			if err := s.Drain(t.Context(), "cluster", "beijing"); err != nil {
				t.Fatal(err)
			}
			got := settled(t, s)
			if len(got.Evictions) != tc.wantEvicted || len(got.Kept) != 2-tc.wantEvicted || got.Fits() != (tc.wantKept == "") {
				t.Errorf("%d evicted, kept are %+v, all fits: %t; want %d evicted", len(got.Evictions), got.Kept, got.Fits(), tc.wantEvicted)
			}
			for _, k := range got.Kept {
				if k.Reason != tc.wantKept || k.Cluster != "beijing" {
					t.Errorf("kept %+v, want %q", k, tc.wantKept)
				}
			}
		})
	}
}

// TestBudgetsHoldRebalancingBack gives all weight to the other Cluster.
func TestBudgetsHoldRebalancingBack(t *testing.T) {
	s := simulation(t, append(twoSites(), plugintest.MakePolicy("p").Deployment("x").Weight(1, "beijing").Obj(), deployment("x", 3, "1"), budget("x", "0"))...)
	settled(t, s)
	if err := s.Apply(t.Context(), plugintest.MakePolicy("p").Deployment("x").Weight(1, "hangzhou").Obj()); err != nil {
		t.Fatal(err)
	}
	got := settled(t, s)
	if len(got.Evictions) != 0 || got.Workloads[0].Held != "a PodDisruptionBudget does not let the pods go" {
		t.Errorf("evictions %+v, held: %q", got.Evictions, got.Workloads[0].Held)
	}
}

func TestRun(t *testing.T) {
	job := template("report", "1")
	job.Spec.RestartPolicy = corev1.RestartPolicyNever
	cron := func(policy batchv1.ConcurrencyPolicy) *batchv1.CronJob {
		return &batchv1.CronJob{ObjectMeta: meta("report"), Spec: batchv1.CronJobSpec{
			Schedule: "@daily", ConcurrencyPolicy: policy,
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Parallelism: ptr.To[int32](3), Completions: ptr.To[int32](3), Template: job}},
		}}
	}
	tests := map[string]struct {
		policy  batchv1.ConcurrencyPolicy
		runs    int
		want    []string
		wantErr string
	}{
		"not by itself": {batchv1.AllowConcurrent, 0, nil, ""},
		"once":          {batchv1.ForbidConcurrent, 1, []string{"Job/report-1 2 beijing, 1 hangzhou"}, ""},
		"twice":         {batchv1.AllowConcurrent, 2, []string{"Job/report-1 2 beijing, 1 hangzhou", "Job/report-2 2 beijing, 1 hangzhou"}, ""},
		"anew":          {batchv1.ReplaceConcurrent, 2, []string{"Job/report-2 2 beijing, 1 hangzhou"}, ""},
		"forbidden":     {batchv1.ForbidConcurrent, 2, nil, "CronJob default/report forbids a second Job while report-1 has not finished"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			others := plugintest.MakePolicy("others").Deployment("other").Weight(1, "beijing").Obj()
			s := simulation(t, append(twoSites(), others, cron(tc.policy))...)
			var err error
			for range tc.runs {
				settled(t, s)
				err = s.Run(t.Context(), "cronjob", plugintest.Namespace, "report")
			}
			if tc.wantErr != "" || err != nil {
				if err == nil || err.Error() != tc.wantErr {
					t.Errorf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if diff := cmp.Diff(tc.want, brief(settled(t, s))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	s := simulation(t, append(twoSites(), deployment("x", 1, "1"))...)
	if err := s.Run(t.Context(), "deployment", plugintest.Namespace, "x"); err == nil {
		t.Error("a Deployment runs as a Job")
	}
}
