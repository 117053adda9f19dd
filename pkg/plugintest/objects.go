// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Namespace is where the workloads and policies of the builders live.
const Namespace = "default"

// SiteLabel is the node label by which the Clusters of Site select their nodes.
const SiteLabel = "site"

// Site returns a Cluster that selects the nodes of MakeNode by label.
func Site(name string) *berthv1alpha1.Cluster {
	return &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("cluster-" + name), Generation: 1},
		Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{SiteLabel: name}},
	}
}

// MakeNode starts a node of a site, named SITE-NUMBER, with room for 110 pods, 32 CPUs and 128 GiB.
func MakeNode(site string, number int) *st.NodeWrapper {
	name := fmt.Sprintf("%s-%d", site, number)
	return st.MakeNode().Name(name).Label(SiteLabel, site).Label(corev1.LabelHostname, name).Capacity(
		map[corev1.ResourceName]string{corev1.ResourcePods: "110", corev1.ResourceCPU: "32", corev1.ResourceMemory: "128Gi"})
}

// SiteOf returns the site of a node of MakeNode.
func SiteOf(node string) string {
	if i := strings.LastIndexByte(node, '-'); i >= 0 {
		return node[:i]
	}
	return node
}

// Sites returns Clusters with the given number of nodes each, and their nodes.
func Sites(nodes int, names ...string) []runtime.Object {
	objects := make([]runtime.Object, 0, len(names)*(nodes+1))
	for _, name := range names {
		objects = append(objects, Site(name))
		for i := range nodes {
			objects = append(objects, MakeNode(name, i).Obj())
		}
	}
	return objects
}

// PolicyWrapper builds a PropagationPolicy.
type PolicyWrapper struct {
	berthv1alpha1.PropagationPolicy
}

// MakePolicy starts a policy.
func MakePolicy(name string) *PolicyWrapper {
	return &PolicyWrapper{berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: Namespace, UID: types.UID("policy-" + name), Generation: 1,
	}}}
}

// Obj returns the policy.
func (p *PolicyWrapper) Obj() *berthv1alpha1.PropagationPolicy {
	return &p.PropagationPolicy
}

// Selects adds a selector; an empty name selects all workloads of the kind.
func (p *PolicyWrapper) Selects(apiVersion, kind, name string) *PolicyWrapper {
	p.Spec.ResourceSelectors = append(p.Spec.ResourceSelectors,
		berthv1alpha1.ResourceSelector{APIVersion: apiVersion, Kind: kind, Name: name})
	return p
}

// Deployment adds a selector of the Deployment.
func (p *PolicyWrapper) Deployment(name string) *PolicyWrapper {
	return p.Selects("apps/v1", "Deployment", name)
}

// Weight gives a weight to clusters.
func (p *PolicyWrapper) Weight(weight int64, clusters ...string) *PolicyWrapper {
	p.Spec.Placement.StaticWeightList = append(p.Spec.Placement.StaticWeightList,
		berthv1alpha1.StaticClusterWeight{ClusterNames: clusters, Weight: weight})
	return p
}

// Bounds gives a min and a max to the clusters of the last Weight; a negative max is none.
func (p *PolicyWrapper) Bounds(least, most int32) *PolicyWrapper {
	entry := &p.Spec.Placement.StaticWeightList[len(p.Spec.Placement.StaticWeightList)-1]
	entry.Min = &least
	if most >= 0 {
		entry.Max = &most
	}
	return p
}

// Groups shares replicas out over groups of clusters.
func (p *PolicyWrapper) Groups(groups ...berthv1alpha1.ClusterGroup) *PolicyWrapper {
	p.Spec.Placement.ClusterGroups = groups
	return p
}

// Anyway lets pods go beyond the shares.
func (p *PolicyWrapper) Anyway() *PolicyWrapper {
	p.Spec.Placement.WhenUnsatisfiable = berthv1alpha1.ScheduleAnyway
	return p
}

// Deployment returns a Deployment.
func Deployment(name string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: meta(name), Spec: appsv1.DeploymentSpec{Replicas: &replicas}}
}

// ReplicaSet returns the ReplicaSet of a revision of a Deployment.
func ReplicaSet(deployment *appsv1.Deployment, revision string) *appsv1.ReplicaSet {
	set := &appsv1.ReplicaSet{ObjectMeta: meta(deployment.Name + "-" + revision)}
	set.Labels = map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: revision}
	set.OwnerReferences = []metav1.OwnerReference{ControllerRef(deployment)}
	set.Spec.Replicas = deployment.Spec.Replicas
	return set
}

// StatefulSet returns a StatefulSet.
func StatefulSet(name string, replicas int32) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{ObjectMeta: meta(name), Spec: appsv1.StatefulSetSpec{Replicas: &replicas}}
}

// Job returns a Job that is not indexed.
func Job(name string, parallelism, completions int32) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: meta(name), Spec: batchv1.JobSpec{Parallelism: &parallelism, Completions: &completions},
	}
}

// ReplicationController returns a ReplicationController.
func ReplicationController(name string, replicas int32) *corev1.ReplicationController {
	return &corev1.ReplicationController{
		ObjectMeta: meta(name), Spec: corev1.ReplicationControllerSpec{Replicas: &replicas},
	}
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: Namespace, UID: types.UID("owner-" + name)}
}

// ControllerRef returns a reference to the owner as controller.
func ControllerRef(owner metav1.Object) metav1.OwnerReference {
	var gvk schema.GroupVersionKind
	if object, ok := owner.(runtime.Object); ok {
		if gvks, _, err := scheme.Scheme.ObjectKinds(object); err == nil {
			gvk = gvks[0]
		}
	}
	return metav1.OwnerReference{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: owner.GetName(), UID: owner.GetUID(),
		Controller: ptr.To(true),
	}
}

// MakePod starts a pod that nobody owns and that asks for the profile of the tests.
func MakePod(name string) *st.PodWrapper {
	return st.MakePod().Namespace(Namespace).Name(name).UID("pod-" + name).SchedulerName(Profile).Container("pause")
}

// MakePodOf starts the pod with the given number of an owner. A StatefulSet's pods have the number
// as ordinal.
func MakePodOf(owner metav1.Object, number int) *st.PodWrapper {
	pod := MakePod(fmt.Sprintf("%s-%d", owner.GetName(), number))
	pod.OwnerReferences = []metav1.OwnerReference{ControllerRef(owner)}
	for key, value := range owner.GetLabels() {
		pod.Label(key, value)
	}
	return pod
}
