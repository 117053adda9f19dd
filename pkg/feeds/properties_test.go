// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	defaults "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/pkg/feeds"
)

var (
	resourceNames = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, "hugepages-2Mi", "nvidia.com/gpu"}

	resourceLists = rapid.Custom(func(t *rapid.T) corev1.ResourceList {
		list := corev1.ResourceList{}
		for _, name := range resourceNames {
			if rapid.IntRange(0, 2).Draw(t, string(name)) == 0 {
				list[name] = resource.MustParse(rapid.SampledFrom([]string{"0", "1", "2", "500m", "1Gi", "3e2"}).Draw(t, "amount"))
			}
		}
		return list
	})

	// resourcesOfOne are as the API server accepts them: what cannot be overcommitted has one number.
	resourcesOfOne = rapid.Custom(func(t *rapid.T) corev1.ResourceRequirements {
		r := corev1.ResourceRequirements{Requests: resourceLists.Draw(t, "requests"), Limits: resourceLists.Draw(t, "limits")}
		delete(r.Requests, resourceNames[2])
		delete(r.Requests, resourceNames[3])
		return r
	})

	containerLists = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) corev1.Container {
		c := corev1.Container{Resources: resourcesOfOne.Draw(t, "resources")}
		if rapid.Bool().Draw(t, "sidecar") {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
		return c
	}), 0, 4)

	pods = rapid.Custom(func(t *rapid.T) *corev1.Pod {
		pod := &corev1.Pod{}
		pod.Name, pod.APIVersion, pod.Kind = "web", "v1", "Pod"
		pod.Spec.InitContainers = containerLists.Draw(t, "init containers")
		pod.Spec.Containers = containerLists.Draw(t, "containers")
		for i := range pod.Spec.Containers {
			pod.Spec.Containers[i].RestartPolicy = nil
		}
		pod.Spec.Overhead = resourceLists.Draw(t, "overhead")
		if rapid.Bool().Draw(t, "resources of the pod") {
			pod.Spec.Resources = ptr.To(resourcesOfOne.Draw(t, "resources"))
		}
		return pod
	})
)

func readPod(t *rapid.T, registry *feeds.Registry, pod *corev1.Pod) corev1.ResourceRequirements {
	raw, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	feed, err := registry.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return feed.ReplicaRequirements.Resources
}

// TestResourcesAreThoseOfTheScheduler compares with a pod to which the API server has given its
// defaults.
func TestResourcesAreThoseOfTheScheduler(t *testing.T) {
	registry := builtIn(t)
	rapid.Check(t, func(t *rapid.T) {
		pod := pods.Draw(t, "pod")
		got := readPod(t, registry, pod)
		defaults.SetObjectDefaults_Pod(pod)
		want := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
		if !equality.Semantic.DeepEqual(got.Requests, want) && len(got.Requests)+len(want) > 0 {
			t.Errorf("requests %v, want %v", got.Requests, want)
		}
	})
}

func TestResourcesDoNotDependOnTheOrderOfContainers(t *testing.T) {
	registry := builtIn(t)
	rapid.Check(t, func(t *rapid.T) {
		pod := pods.Draw(t, "pod")
		want := readPod(t, registry, pod)
		pod.Spec.Containers = rapid.Permutation(pod.Spec.Containers).Draw(t, "order")
		if got := readPod(t, registry, pod); !equality.Semantic.DeepEqual(want, got) {
			t.Errorf("resources %v, want %v", got, want)
		}
	})
}

func TestYAMLAndJSONReadTheSame(t *testing.T) {
	registry := builtIn(t)
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(pods.Draw(t, "pod"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := yaml.JSONToYAML(raw)
		if err != nil {
			t.Fatal(err)
		}
		want, err := registry.Read(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := registry.Read(text); err != nil || !equality.Semantic.DeepEqual(want, got) {
			t.Errorf("read %+v, want %+v, error %v", got, want, err)
		}
	})
}
