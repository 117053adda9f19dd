// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugintest"
)

// mustParse makes a quantity.
var mustParse = resource.MustParse

const annotation = "pod.alpha.kubernetes.io/cluster-resource-"

// pools is a ClusterResource with pools of the given quantities, by name; the nodes of a pool have
// its name as label rack, except for those of the pool "all", which are all nodes.
func pools(name string, mode berthv1alpha1.PoolMode, quantities ...string) *berthv1alpha1.ClusterResource {
	object := &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Generation: 1},
		Spec:       berthv1alpha1.ClusterResourceSpec{Mode: mode},
	}
	for i := 0; i < len(quantities); i += 2 {
		pool := berthv1alpha1.ClusterResourceQuantity{Name: quantities[i], Quantity: mustParse(quantities[i+1])}
		if pool.Name != "all" {
			pool.NodeSelector = map[string]string{"rack": pool.Name}
		}
		object.Status.Allocatable = append(object.Status.Allocatable, pool)
	}
	return object
}

func rackNode(name, rack string) *corev1.Node {
	return st.MakeNode().Name(name).Label("rack", rack).Capacity(map[corev1.ResourceName]string{
		corev1.ResourceCPU: "4", corev1.ResourcePods: "110",
	}).Obj()
}

// asking is a pod that asks for amounts of ClusterResources by annotation, given as name and
// quantity in turn.
func asking(name string, amounts ...string) *corev1.Pod {
	wrapper := st.MakePod().Namespace("default").Name(name).UID(name).SchedulerName(plugintest.Profile)
	for i := 0; i < len(amounts); i += 2 {
		wrapper.Annotation(annotation+amounts[i], amounts[i+1])
	}
	return wrapper.Obj()
}

// withPriority gives a pod a priority.
func withPriority(pod *corev1.Pod, priority int32) *corev1.Pod {
	pod.Spec.Priority = &priority
	return pod
}

// charged returns what a bound pod was charged, as "resource/pool=quantity".
func charged(t *testing.T, pod *corev1.Pod) []string {
	t.Helper()
	charges, ok := stamp.ChargesOf(pod)
	if !ok {
		t.Fatalf("pod %s carries no charges: %v", pod.Name, pod.Annotations)
	}
	var texts []string
	for _, c := range charges {
		texts = append(texts, c.Resource+"/"+c.Pool+"="+c.Quantity.String())
	}
	return texts
}
