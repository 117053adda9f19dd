// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/model/stamp"
)

const (
	// Namespace is where the objects of a World are, and what its kubeconfig says.
	Namespace = "default"

	// Scheduler is the schedulerName of pods that Berth places.
	Scheduler = "berth-scheduler"
)

// World is a cluster in memory that a test fills with objects. Objects may be changed until the
// first command runs.
type World struct {
	// Kubernetes and Berth are the objects by client.
	Kubernetes, Berth []runtime.Object

	// Clients are there once Options was called.
	Clients struct {
		Kubernetes *fake.Clientset
		Berth      *berthfake.Clientset
	}

	uids int
}

// NewWorld returns an empty cluster. No kubeconfig of the machine reaches the test.
func NewWorld(t *testing.T) *World {
	t.Helper()
	t.Setenv("KUBECONFIG", "/dev/null")
	return &World{}
}

// Options makes the clients and returns options that use them.
func (w *World) Options() cli.Options {
	if w.Clients.Kubernetes == nil {
		w.Clients.Kubernetes = fake.NewClientset(w.Kubernetes...)
		w.Clients.Berth = berthfake.NewSimpleClientset(w.Berth...)
	}
	return cli.Options{
		NewClients: func(genericclioptions.RESTClientGetter) (kubernetes.Interface, versioned.Interface, error) {
			return w.Clients.Kubernetes, w.Clients.Berth, nil
		},
	}
}

// meta returns metadata with a UID of its own; later objects are younger.
func (w *World) meta(name string) metav1.ObjectMeta {
	w.uids++
	return metav1.ObjectMeta{
		Namespace: Namespace, Name: name, UID: types.UID(fmt.Sprintf("uid-%d", w.uids)),
		CreationTimestamp: metav1.NewTime(time.Unix(int64(w.uids), 0)),
	}
}

// Node adds a ready node.
func (w *World) Node(name string) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: w.meta(name),
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	node.Namespace = ""
	w.Kubernetes = append(w.Kubernetes, node)
	return node
}

// Cluster adds a Cluster with a number of ready nodes, NAME-0 and so on.
func (w *World) Cluster(name string, nodes int) []*corev1.Node {
	cluster := &berthv1alpha1.Cluster{ObjectMeta: w.meta(name)}
	cluster.Namespace = ""
	added := make([]*corev1.Node, nodes)
	for i := range added {
		added[i] = w.Node(fmt.Sprintf("%s-%d", name, i))
		cluster.Spec.Nodes = append(cluster.Spec.Nodes, added[i].Name)
	}
	w.Berth = append(w.Berth, cluster)
	return added
}

// Policy adds a policy that selects by name, or, without a name, by kind.
func (w *World) Policy(name, apiVersion, kind, selected string, weights map[string]int64) *berthv1alpha1.PropagationPolicy {
	policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: w.meta(name)}
	policy.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: apiVersion, Kind: kind, Name: selected}}
	for cluster, weight := range weights {
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{cluster}, Weight: weight})
	}
	w.Berth = append(w.Berth, policy)
	return policy
}

// Deployment adds a Deployment for Berth's scheduler with its first ReplicaSet.
func (w *World) Deployment(name string, replicas int32) *Deployment {
	d := &Deployment{
		world:  w,
		Object: &appsv1.Deployment{ObjectMeta: w.meta(name)},
	}
	d.Object.Spec.Replicas = &replicas
	d.Object.Spec.Template.Spec.SchedulerName = Scheduler
	d.Object.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	w.Kubernetes = append(w.Kubernetes, d.Object)
	d.Rollout(replicas)
	return d
}

// Deployment is a Deployment of a World.
type Deployment struct {
	// Object is the Deployment, ReplicaSet the newest of its ReplicaSets.
	Object     *appsv1.Deployment
	ReplicaSet *appsv1.ReplicaSet

	world     *World
	revisions int
}

// Rollout adds a ReplicaSet that is newer than the ones before; further pods belong to it.
func (d *Deployment) Rollout(replicas int32) {
	d.revisions++
	d.ReplicaSet = &appsv1.ReplicaSet{ObjectMeta: d.world.meta(fmt.Sprintf("%s-r%d", d.Object.Name, d.revisions))}
	d.ReplicaSet.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
		d.Object, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	d.ReplicaSet.Annotations = map[string]string{"deployment.kubernetes.io/revision": strconv.Itoa(d.revisions)}
	d.ReplicaSet.Spec.Replicas = &replicas
	d.ReplicaSet.Spec.Template = d.Object.Spec.Template
	d.ReplicaSet.Spec.Selector = d.Object.Spec.Selector
	d.world.Kubernetes = append(d.world.Kubernetes, d.ReplicaSet)
}

// Pod adds a pod that no node has taken yet.
func (d *Deployment) Pod(name string) *corev1.Pod {
	return d.world.Pod(name, metav1.NewControllerRef(d.ReplicaSet, appsv1.SchemeGroupVersion.WithKind("ReplicaSet")))
}

// Placed adds a pod that Berth has bound.
func (d *Deployment) Placed(name, node, policy, cluster string, seat int32) *corev1.Pod {
	pod := d.Pod(name)
	Place(pod, node, stamp.Stamp{Policy: policy, Cluster: cluster, Seat: seat})
	return pod
}

// Pod adds a pod that no node has taken yet; the owner may be nil.
func (w *World) Pod(name string, owner *metav1.OwnerReference) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: w.meta(name)}
	pod.Spec.SchedulerName = Scheduler
	pod.Status.Phase = corev1.PodPending
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	w.Kubernetes = append(w.Kubernetes, pod)
	return pod
}

// Place binds a pod as Berth does.
func Place(pod *corev1.Pod, node string, given stamp.Stamp) {
	pod.Annotations = given.Annotations(pod, node)
	pod.Spec.NodeName = node
	pod.Status.Phase = corev1.PodRunning
}
