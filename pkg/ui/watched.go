// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/model/workload"
)

// The kinds, as rights name them. Those that control pods are named by workload.Kinds.
const (
	nodes         = "nodes"
	pods          = "pods"
	clusters      = "clusters"
	resources     = "clusterresources"
	policies      = "propagationpolicies"
	applications  = "applications"
	subscriptions = "subscriptions"
)

// watchedKinds returns all kinds that the pages show or are worked out from. Changed is called
// after each change.
func watchedKinds(kube kubernetes.Interface, berth versioned.Interface, namespace string, changed func()) map[string]*kind {
	core, own := kube.CoreV1(), berth.BerthV1alpha1()
	found := map[string]*kind{
		nodes:     watched(changed, kube, &corev1.Node{}, core.Nodes().List, core.Nodes().Watch),
		pods:      watched(changed, kube, &corev1.Pod{}, core.Pods(namespace).List, core.Pods(namespace).Watch),
		clusters:  watched(changed, berth, &berthv1alpha1.Cluster{}, own.Clusters().List, own.Clusters().Watch),
		resources: watched(changed, berth, &berthv1alpha1.ClusterResource{}, own.ClusterResources().List, own.ClusterResources().Watch),
		applications: watched(changed, berth, &berthv1alpha1.Application{},
			own.Applications(namespace).List, own.Applications(namespace).Watch),
		subscriptions: watched(changed, berth, &berthv1alpha1.Subscription{},
			own.Subscriptions(namespace).List, own.Subscriptions(namespace).Watch),
		policies: watched(changed, berth, &berthv1alpha1.PropagationPolicy{},
			own.PropagationPolicies(namespace).List, own.PropagationPolicies(namespace).Watch),
	}
	for _, k := range workload.Kinds() {
		found[k.Resource] = watchedOwner(kube, k, namespace, changed)
	}
	return found
}

// watchedOwner returns a kind that controls pods.
func watchedOwner(kube kubernetes.Interface, k *workload.Kind, namespace string, changed func()) *kind {
	core, apps, batch := kube.CoreV1(), kube.AppsV1(), kube.BatchV1()
	switch example := k.NewObject().(type) {
	case *appsv1.Deployment:
		return watched(changed, kube, example, apps.Deployments(namespace).List, apps.Deployments(namespace).Watch)
	case *appsv1.ReplicaSet:
		return watched(changed, kube, example, apps.ReplicaSets(namespace).List, apps.ReplicaSets(namespace).Watch)
	case *appsv1.StatefulSet:
		return watched(changed, kube, example, apps.StatefulSets(namespace).List, apps.StatefulSets(namespace).Watch)
	case *batchv1.Job:
		return watched(changed, kube, example, batch.Jobs(namespace).List, batch.Jobs(namespace).Watch)
	case *batchv1.CronJob:
		return watched(changed, kube, example, batch.CronJobs(namespace).List, batch.CronJobs(namespace).Watch)
	case *corev1.ReplicationController:
		return watched(changed, kube, example, core.ReplicationControllers(namespace).List, core.ReplicationControllers(namespace).Watch)
	default:
		// A test sees to it that all kinds are above. One that is not is told as one that is not read.
		unread := apierrors.NewNotFound(k.GroupVersionResource().GroupResource(), "")
		return watched(changed, kube, example,
			func(context.Context, metav1.ListOptions) (workload.List, error) { return nil, unread },
			func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, unread })
	}
}
