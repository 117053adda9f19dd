// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
)

func deploymentList() *appsv1.DeploymentList   { return &appsv1.DeploymentList{} }
func replicaSetList() *appsv1.ReplicaSetList   { return &appsv1.ReplicaSetList{} }
func statefulSetList() *appsv1.StatefulSetList { return &appsv1.StatefulSetList{} }
func jobList() *batchv1.JobList                { return &batchv1.JobList{} }

// meta makes the metadata of an object whose UID is its name, an hour before the tests.
func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(name), Generation: 1, CreationTimestamp: metav1.NewTime(birth),
	}
}

// newPolicy shares the Deployment "web" out: beijing 2, hangzhou 3. Its guards let everything pass.
func newPolicy(name string, changes ...func(*berthv1alpha1.PropagationPolicySpec)) *berthv1alpha1.PropagationPolicy {
	p := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: meta(name),
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}},
			Placement:         berthv1alpha1.Placement{StaticWeightList: weigh(2, 3)},
			Rebalance: berthv1alpha1.Rebalance{
				Mode: berthv1alpha1.RebalanceEvict, MaxUnavailable: new(intstr.FromInt32(5)),
				Cooldown: &metav1.Duration{Duration: 10 * time.Second}, MinPodAge: &metav1.Duration{},
			},
		},
	}
	for _, change := range changes {
		change(&p.Spec)
	}
	return p
}

func weigh(beijing, hangzhou int64) []berthv1alpha1.StaticClusterWeight {
	return []berthv1alpha1.StaticClusterWeight{
		{ClusterNames: []string{"beijing"}, Weight: beijing}, {ClusterNames: []string{"hangzhou"}, Weight: hangzhou},
	}
}

// reweighed changes the weights.
func reweighed(beijing, hangzhou int64) func(*berthv1alpha1.PropagationPolicySpec) {
	return func(spec *berthv1alpha1.PropagationPolicySpec) {
		spec.Placement.StaticWeightList = weigh(beijing, hangzhou)
	}
}

// newNode makes a ready node with 16 CPUs; the part of its name before the dash is its cluster.
func newNode(name string, changes ...func(*corev1.Node)) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourcePods: resource.MustParse("110"),
			},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, change := range changes {
		change(node)
	}
	return node
}

func newCluster(name string, nodes ...string) *berthv1alpha1.Cluster {
	return &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: berthv1alpha1.ClusterSpec{Nodes: nodes},
	}
}

// sites are the clusters beijing and hangzhou, with a node each.
func sites() []client.Object {
	return []client.Object{
		newNode("beijing-0"), newNode("hangzhou-0"), newCluster("beijing", "beijing-0"), newCluster("hangzhou", "hangzhou-0"),
	}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{SchedulerName: "berth-scheduler"},
	}
}

// newDeployment is the Deployment "web", of which everything has been rolled out.
func newDeployment(replicas int32, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: meta("web"),
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template(),
		},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: replicas, UpdatedReplicas: replicas},
	}
	d.Annotations = map[string]string{workload.RevisionAnnotation: "1"}
	for _, change := range changes {
		change(d)
	}
	return d
}

// newReplicaSet is a revision of the Deployment "web".
func newReplicaSet(name, revision string, replicas int32) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{
		ObjectMeta: meta(name),
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template(),
		},
	}
	rs.Labels = map[string]string{"app": "web"}
	rs.Annotations = map[string]string{workload.RevisionAnnotation: revision}
	rs.OwnerReferences = []metav1.OwnerReference{owner("apps/v1", "Deployment", "web")}
	return rs
}

func owner(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(name), Controller: new(true)}
}

// webPod is a ready pod of the Deployment "web" that the policy "p" placed on a node; an empty node
// leaves it pending.
func webPod(name, node string, seat int32, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: meta(name),
		Spec: corev1.PodSpec{
			NodeName: node, SchedulerName: "berth-scheduler",
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
			}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	pod.Labels = map[string]string{"app": "web"}
	pod.OwnerReferences = []metav1.OwnerReference{owner("apps/v1", "ReplicaSet", "rs1")}
	if node != "" {
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		given := stamp.Stamp{Policy: "p", Cluster: node[:len(node)-2], Seat: seat}
		pod.Annotations = given.Annotations(pod, node)
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func notReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

func annotated(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[key] = value
	}
}

func unstamped(p *corev1.Pod) { p.Annotations = nil }

// placed are beijing 2 and hangzhou 3 of the Deployment "web" with 5 replicas, as the weights 2 and
// 3 want it: beijing owns the seats 1 and 3.
func placed(changes ...func(*corev1.Pod)) []client.Object {
	objects := []client.Object{newDeployment(5), newReplicaSet("rs1", "1", 5)}
	for seat, site := range []string{"hangzhou", "beijing", "hangzhou", "beijing", "hangzhou"} {
		objects = append(objects, webPod(fmt.Sprintf("web-%d", seat), site+"-0", int32(seat), changes...))
	}
	return objects
}

// world joins groups of objects.
func world(groups ...[]client.Object) []client.Object {
	var all []client.Object
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}

func these(objects ...client.Object) []client.Object { return objects }
