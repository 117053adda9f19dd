// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
)

// The kinds, as rights name them. Those that control pods are named as workload.Kinds names them.
const (
	nodes         = "nodes"
	pods          = "pods"
	clusters      = "clusters"
	resources     = "clusterresources"
	policies      = "propagationpolicies"
	applications  = "applications"
	subscriptions = "subscriptions"
)

// watchedKinds returns all kinds that the pages show or are worked out from.
func watchedKinds(kube kubernetes.Interface, berth versioned.Interface, namespace string) map[string]*kind {
	core, apps, batch, own := kube.CoreV1(), kube.AppsV1(), kube.BatchV1(), berth.BerthV1alpha1()
	return map[string]*kind{
		nodes:         watched(kube, &corev1.Node{}, core.Nodes().List, core.Nodes().Watch),
		pods:          watched(kube, &corev1.Pod{}, core.Pods(namespace).List, core.Pods(namespace).Watch),
		clusters:      watched(berth, &berthv1alpha1.Cluster{}, own.Clusters().List, own.Clusters().Watch),
		resources:     watched(berth, &berthv1alpha1.ClusterResource{}, own.ClusterResources().List, own.ClusterResources().Watch),
		applications:  watched(berth, &berthv1alpha1.Application{}, own.Applications(namespace).List, own.Applications(namespace).Watch),
		subscriptions: watched(berth, &berthv1alpha1.Subscription{}, own.Subscriptions(namespace).List, own.Subscriptions(namespace).Watch),
		policies: watched(berth, &berthv1alpha1.PropagationPolicy{},
			own.PropagationPolicies(namespace).List, own.PropagationPolicies(namespace).Watch),
		"deployments":  watched(kube, &appsv1.Deployment{}, apps.Deployments(namespace).List, apps.Deployments(namespace).Watch),
		"replicasets":  watched(kube, &appsv1.ReplicaSet{}, apps.ReplicaSets(namespace).List, apps.ReplicaSets(namespace).Watch),
		"statefulsets": watched(kube, &appsv1.StatefulSet{}, apps.StatefulSets(namespace).List, apps.StatefulSets(namespace).Watch),
		"jobs":         watched(kube, &batchv1.Job{}, batch.Jobs(namespace).List, batch.Jobs(namespace).Watch),
		"cronjobs":     watched(kube, &batchv1.CronJob{}, batch.CronJobs(namespace).List, batch.CronJobs(namespace).Watch),
		"replicationcontrollers": watched(kube, &corev1.ReplicationController{},
			core.ReplicationControllers(namespace).List, core.ReplicationControllers(namespace).Watch),
	}
}
