// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
)

// kubeconfigFormat is that of a server that asks nobody who he is.
const kubeconfigFormat = `apiVersion: v1
kind: Config
clusters: [{name: memory, cluster: {server: %q}}]
contexts: [{name: memory, context: {cluster: memory}}]
current-context: memory
`

const (
	namespace = "default"
	siteLabel = "example.com/site"
	// sites is how many Clusters each scheduler has.
	sites = 10
)

func nameOf(s int) string { return "scheduler-" + strconv.Itoa(s) }

// configurationOf is the shipped configuration with another server, of which there is no limit to
// what may be asked.
func configurationOf(shipped, kubeconfig string) ([]byte, error) {
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(shipped), &fields); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	fields["clientConnection"] = map[string]any{
		"kubeconfig": kubeconfig, "contentType": jsonType, "acceptContentTypes": protobufType + "," + jsonType, "qps": 5000, "burst": 10000,
	}
	return yaml.Marshal(fields)
}

var (
	nodes      = corev1.SchemeGroupVersion.WithResource("nodes")
	pods       = corev1.SchemeGroupVersion.WithResource("pods")
	clusters   = berthv1alpha1.SchemeGroupVersion.WithResource("clusters")
	schedulers = berthv1alpha1.SchemeGroupVersion.WithResource("schedulers")
)

// fill makes the s-th Scheduler with Clusters that are bound to it, and their nodes.
func (f *fleet) fill(s int) error {
	name := nameOf(s)
	scheduler := &berthv1alpha1.Scheduler{
		TypeMeta: typeOf("Scheduler"), ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	if err := f.server.do("create", schedulers, "", name, "", scheduler); err != nil {
		return err
	}
	for c := range sites {
		site := fmt.Sprintf("site-%d-%d", s, c)
		cluster := &berthv1alpha1.Cluster{
			TypeMeta: typeOf("Cluster"), ObjectMeta: metav1.ObjectMeta{Name: site},
			Spec: berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{siteLabel: site}},
		}
		if err := f.server.do("create", clusters, "", site, "", cluster); err != nil {
			return err
		}
		home := map[string]any{"status": map[string]any{"homeScheduler": name, "homeRevision": 1}}
		if err := f.server.do("patch", clusters, "", site, "status", home); err != nil {
			return err
		}
	}
	for i := range f.Nodes {
		node := localplane.FakeNode(fmt.Sprintf("node-%d-%d", s, i), map[string]string{siteLabel: fmt.Sprintf("site-%d-%d", s, i%sites)}, nil)
		node.TypeMeta, node.Annotations = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, nil
		if err := f.server.do("create", nodes, "", node.Name, "", node); err != nil {
			return err
		}
		status := map[string]any{"status": node.Status}
		if err := f.server.do("patch", nodes, "", node.Name, "status", status); err != nil {
			return err
		}
	}
	return nil
}

func typeOf(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: kind}
}

// createPod makes a pod whose home is the s-th scheduler.
func (f *fleet) createPod(s int, name string) error {
	return f.server.do("create", pods, namespace, name, "", &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{"app": "web", berthv1alpha1.HomeSchedulerLabel: nameOf(s)},
		},
		Spec: corev1.PodSpec{
			SchedulerName: localplane.BerthScheduler,
			Containers: []corev1.Container{{Name: "main", Image: "pause", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
			}}},
		},
	})
}
