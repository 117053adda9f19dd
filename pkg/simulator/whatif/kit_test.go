// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
	"berth.dev/berth/pkg/simulator/whatif"
)

// simulation returns a Simulation of objects that are applied.
func simulation(t testing.TB, objects ...runtime.Object) *whatif.Simulation {
	t.Helper()
	profile, err := simulator.ParseProfile([]byte(plugintest.Configuration), plugintest.Profile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := whatif.New(whatif.Options{Profile: profile, Schedulers: []string{plugintest.Profile}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Apply(t.Context(), objects...); err != nil {
		t.Fatal(err)
	}
	return s
}

// settled returns what a Simulation comes to.
func settled(t testing.TB, s *whatif.Simulation) *whatif.Result {
	t.Helper()
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.Result(nil)
}

func template(name, cpu string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{SchedulerName: plugintest.Profile, Containers: []corev1.Container{{
			Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
	}
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: plugintest.Namespace, Name: name}
}

func deployment(name string, replicas int32, cpu string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: meta(name), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: template(name, cpu),
	}}
}
