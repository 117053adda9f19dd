// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// replicas is how many pods the workload has: a multiple of the sum of the weights and of the
// number of sites.
const replicas = 200

// webDeployment returns the workload as a Deployment with its ReplicaSet.
func webDeployment() (*appsv1.Deployment, *appsv1.ReplicaSet) {
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", UID: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To[int32](replicas)},
	}
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "web-1", UID: "web-1",
			Labels:          map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: "1"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: ptr.To[int32](replicas), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
	}
	return deployment, set
}

// ownedPod returns the pod with the given number of a ReplicaSet.
func ownedPod(set *appsv1.ReplicaSet, number int) *corev1.Pod {
	pod := workloadPod(number).Label(appsv1.DefaultDeploymentUniqueLabelKey, "1").Obj()
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
	return pod
}

// sitesAndPolicy returns a Cluster for every site and the policy of the workload.
func sitesAndPolicy(l *layout) []runtime.Object {
	var objects []runtime.Object
	known := map[string]bool{}
	for _, node := range l.nodes {
		site := node.Labels[siteLabel]
		if known[site] {
			continue
		}
		known[site] = true
		objects = append(objects, &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: site, UID: "cluster", Generation: 1},
			Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{siteLabel: site}},
		})
	}
	policy := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", UID: "web", Generation: 1},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}},
		},
	}
	for s, site := range l.chosen {
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{site}, Weight: int64(weightOf(s))})
	}
	return append(objects, policy)
}
