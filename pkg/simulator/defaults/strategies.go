// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	_ "k8s.io/kubernetes/pkg/apis/apps/install" // the defaults of the groups
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
)

// strategies are what the API server does to new objects of the kinds that make pods.
var strategies = map[schema.GroupKind]rest.RESTCreateStrategy{
	corev1.SchemeGroupVersion.WithKind("Pod").GroupKind():                   pod.Strategy,
	corev1.SchemeGroupVersion.WithKind("ReplicationController").GroupKind(): replicationcontroller.Strategy,
	appsv1.SchemeGroupVersion.WithKind("DaemonSet").GroupKind():             daemonset.Strategy,
	appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind():            deployment.Strategy,
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet").GroupKind():            replicaset.Strategy,
	appsv1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind():           statefulset.Strategy,
	batchv1.SchemeGroupVersion.WithKind("CronJob").GroupKind():              cronjob.Strategy,
	batchv1.SchemeGroupVersion.WithKind("Job").GroupKind():                  job.Strategy,
}
