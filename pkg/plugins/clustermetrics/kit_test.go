// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clustermetrics_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/clustermetrics"
	"berth.dev/berth/pkg/plugintest"
)

// site returns a Cluster with labels, given as key and value in turn.
func site(name string, labels ...string) *berthv1alpha1.Cluster {
	cluster := plugintest.Site(name)
	cluster.Labels = map[string]string{}
	for i := 0; i < len(labels); i += 2 {
		cluster.Labels[labels[i]] = labels[i+1]
	}
	return cluster
}

// measure gives a Cluster a metric of weight 1 between 0 and 10.
func measure(cluster *berthv1alpha1.Cluster, metric string, value float64) *berthv1alpha1.Cluster {
	cluster.Spec.Metrics = append(cluster.Spec.Metrics, berthv1alpha1.MetricReference{Name: metric, Weight: 1})
	normalized := value / 10
	cluster.Status.Metrics = append(cluster.Status.Metrics,
		berthv1alpha1.MetricSample{Name: metric, Value: &value, Normalized: &normalized})
	return cluster
}

func online(cluster *berthv1alpha1.Cluster, status metav1.ConditionStatus) *berthv1alpha1.Cluster {
	cluster.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.ClusterOnline, Status: status}}
	return cluster
}

// newSites returns a scheduler that knows the Clusters, with one node in each, and a node in none
// of them.
func newSites(t testing.TB, clusters ...*berthv1alpha1.Cluster) *plugintest.Scheduler {
	t.Helper()
	objects := []runtime.Object{plugintest.MakeNode("nowhere", 0).Obj()}
	for _, cluster := range clusters {
		objects = append(objects, cluster, plugintest.MakeNode(cluster.Name, 0).Obj())
	}
	return plugintest.New(t, objects)
}

// asking returns a pod with annotations, given as key and value in turn.
func asking(name string, annotations ...string) *corev1.Pod {
	pod := plugintest.MakePod(name)
	for i := 0; i < len(annotations); i += 2 {
		pod.Annotation(annotations[i], annotations[i+1])
	}
	return pod.Obj()
}

const (
	byLabel    = "berth.dev/cluster-label-constraint"
	byMetric   = "berth.dev/cluster-metric-constraint"
	byResource = "berth.dev/cluster-resource-constraint"
	ranking    = "berth.dev/cluster-ranking"
)

// find returns the plugin as the framework made it.
func find[T fwk.Plugin](t testing.TB, s *plugintest.Scheduler) T {
	t.Helper()
	var found T
	for _, extension := range s.Framework.EnqueueExtensions() {
		if plugin, ok := extension.(T); ok && extension.Name() == clustermetrics.Name {
			return plugin
		}
	}
	t.Fatal("the framework does not have the plugin")
	return found
}
