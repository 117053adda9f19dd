// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// manyPods is how many pods a large user sees.
	manyPods = 10_000

	// viewerCost is what the caches of such a user may take, in MiB. The limits of the gateway and
	// what docs/tasks/sizing.md says of them follow from it.
	viewerCost = 45
)

// TestWhatAViewerCosts measures the memory that a Source and its snapshot take.
func TestWhatAViewerCosts(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 100)
	pod := w.deployment("nginx", manyPods, map[string]int64{"beijing": 1})
	for i := range int32(manyPods) {
		p := pod(fmt.Sprintf("nginx-76d6c9b8c-%05d", i))
		fill(p)
		place(p, fmt.Sprintf("beijing-%d", i%100), "nginx", "beijing", i)
	}
	w.prepare()
	before := heap()
	w.start()
	eventually(t, "that all pods are shown", func() bool {
		_, body := w.get("/ui/sites")
		return strings.Contains(body, strconv.Itoa(manyPods))
	})
	cost := heap() - before
	t.Logf("a viewer of %d pods takes %.1f MiB", manyPods, cost)
	if cost > viewerCost {
		t.Errorf("a viewer of %d pods takes %.1f MiB, more than %d", manyPods, cost, viewerCost)
	}
	runtime.KeepAlive(w.server)
}

// heap is what is in use, in MiB, without what nobody can reach.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc) / (1 << 20)
}

// fill makes a pod as large as pods are.
func fill(pod *corev1.Pod) {
	pod.Labels = map[string]string{"app": "nginx", "pod-template-hash": "76d6c9b8c", "team": "shop", "tier": "front"}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:` + strings.Repeat("f", 2000) + `":{}}`)}}}
	environment := make([]corev1.EnvVar, 20)
	for i := range environment {
		environment[i] = corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", i), Value: strings.Repeat("v", 50)}
	}
	for _, name := range []string{"nginx", "proxy", "log"} {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: name, Image: "registry.example/" + name + "@sha256:" + strings.Repeat("0", 64), Env: environment,
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				"cpu": resource.MustParse("100m"), "memory": resource.MustParse("1Gi"),
			}},
			VolumeMounts: []corev1.VolumeMount{{Name: "token", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
		})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: name, ImageID: "registry.example/" + name + "@sha256:" + strings.Repeat("0", 64), ContainerID: strings.Repeat("c", 64),
		})
	}
	pod.Spec.Volumes = []corev1.Volume{{Name: "token"}, {Name: "configuration"}}
	pod.Spec.Tolerations = []corev1.Toleration{{Key: "node.kubernetes.io/not-ready"}, {Key: "node.kubernetes.io/unreachable"}}
	for _, kind := range []corev1.PodConditionType{"Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue})
	}
}
