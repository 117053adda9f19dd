// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/workload"
)

// runControllers makes and deletes pods as the controllers of Kubernetes do.
func (s *Simulation) runControllers(ctx context.Context) error {
	replicaSet, controllers := appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), corev1.SchemeGroupVersion.WithKind("ReplicationController")
	return cmp.Or(
		each(s, s.runDeployment),
		each(s, func(set *appsv1.ReplicaSet) error {
			return s.runReplicas(ctx, set, metav1.NewControllerRef(set, replicaSet), &set.Spec.Template)
		}),
		each(s, func(rc *corev1.ReplicationController) error {
			return s.runReplicas(ctx, rc, metav1.NewControllerRef(rc, controllers), rc.Spec.Template)
		}),
		each(s, func(job *batchv1.Job) error { return s.runJob(ctx, job) }),
		each(s, func(set *appsv1.StatefulSet) error { return s.runStatefulSet(ctx, set) }),
		each(s, func(set *appsv1.DaemonSet) error { return s.runDaemonSet(ctx, set) }),
		s.runClaims(ctx),
		s.runBudgets(),
	)
}

// each runs a controller for each of its objects, until it fails.
func each[T object](s *Simulation, run func(T) error) error {
	for _, o := range kept[T](s) {
		if err := run(o); err != nil {
			return err
		}
	}
	return nil
}

// runDeployment gives all replicas to the ReplicaSet of the present template, at once.
func (s *Simulation) runDeployment(d *appsv1.Deployment) error {
	if err := s.tooMany(d, int(ptr.Deref(d.Spec.Replicas, 1))); err != nil {
		return err
	}
	newest := s.newestReplicaSet(d)
	delete(s.refused, d.UID)
	if d.Spec.Paused {
		return s.runPaused(d, newest)
	}
	for _, set := range append(kept[*appsv1.ReplicaSet](s), newest) {
		replicas := int32(0)
		if set.UID == newest.UID {
			replicas = ptr.Deref(d.Spec.Replicas, 1)
		}
		if !metav1.IsControlledBy(set, d) || s.known(set) && ptr.Deref(set.Spec.Replicas, 1) == replicas {
			continue
		}
		scaled := set.DeepCopy()
		scaled.Spec.Replicas = &replicas
		if err := s.replace(scaled); err != nil {
			return err
		}
	}
	settled := d.DeepCopy()
	if settled.Annotations == nil {
		settled.Annotations = map[string]string{}
	}
	settled.Annotations[workload.RevisionAnnotation] = newest.Annotations[workload.RevisionAnnotation]
	settled.Status.ObservedGeneration = d.Generation
	replicas, _ := workload.ReplicasOf(d)
	settled.Status.Replicas, settled.Status.UpdatedReplicas = replicas, replicas
	return s.replace(settled)
}

// pausedReason is why a Deployment makes no pods that it wants.
const pausedReason = "the Deployment is paused"

// runPaused scales what there is: a Deployment that is paused makes no ReplicaSet, and one that was
// paused in the midst of a rollout stays as it is.
func (s *Simulation) runPaused(d *appsv1.Deployment, newest *appsv1.ReplicaSet) error {
	wanted := ptr.Deref(d.Spec.Replicas, 1)
	made, only := int32(0), newest
	for _, set := range kept[*appsv1.ReplicaSet](s) {
		replicas := ptr.Deref(set.Spec.Replicas, 1)
		switch {
		case !metav1.IsControlledBy(set, d) || replicas == 0:
			continue
		case made > 0:
			only = nil
		default:
			only = set
		}
		made += replicas
	}
	settled := d.DeepCopy()
	settled.Status.ObservedGeneration, settled.Status.Replicas = d.Generation, made
	if only != nil && s.known(only) {
		scaled := only.DeepCopy()
		scaled.Spec.Replicas, settled.Status.Replicas = &wanted, wanted
		if only.UID == newest.UID {
			settled.Status.UpdatedReplicas = wanted
		}
		return cmp.Or(s.replace(scaled), s.replace(settled))
	}
	if made < wanted {
		s.refused[d.UID] = refusal{int(wanted - made), pausedReason}
	}
	return s.replace(settled)
}

// newestReplicaSet returns the ReplicaSet of the present template, a new one if there is none.
func (s *Simulation) newestReplicaSet(d *appsv1.Deployment) *appsv1.ReplicaSet {
	var newest *appsv1.ReplicaSet
	highest := int64(0)
	for _, set := range kept[*appsv1.ReplicaSet](s) {
		if !metav1.IsControlledBy(set, d) {
			continue
		}
		n, _ := strconv.ParseInt(set.Annotations[workload.RevisionAnnotation], 10, 64)
		if sameTemplate(&set.Spec.Template, &d.Spec.Template) && (newest == nil || n >= highest) {
			newest = set
		}
		highest = max(highest, n)
	}
	if newest == nil {
		return newReplicaSet(d, highest+1)
	}
	return newest
}

// known reports whether the object is there.
func (s *Simulation) known(o object) bool {
	_, identity, err := identify(o)
	return err == nil && s.objects[identity] != nil
}

// replace stores an object unless it is there already as it is.
func (s *Simulation) replace(o object) error {
	_, identity, err := identify(o)
	if err != nil || apiequality.Semantic.DeepEqual(s.objects[identity], o) {
		return err
	}
	return s.store(identity, o)
}

// sameTemplate reports whether two templates differ in nothing but the hash that the Deployment
// controller adds.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	delete(a.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(b.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return apiequality.Semantic.DeepEqual(a, b)
}

func newReplicaSet(d *appsv1.Deployment, revision int64) *appsv1.ReplicaSet {
	hash := controller.ComputeHash(&d.Spec.Template, d.Status.CollisionCount)
	name := d.Name + "-" + hash
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: name, Generation: 1,
			UID:             uidOf(id{appsv1.SchemeGroupVersion.WithKind("ReplicaSet").GroupKind(), typesName(d.Namespace, name)}),
			Annotations:     map[string]string{workload.RevisionAnnotation: strconv.FormatInt(revision, 10)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: d.Spec.Selector.DeepCopy(), Template: *d.Spec.Template.DeepCopy()},
	}
	set.Status.ObservedGeneration = 1
	if set.Spec.Template.Labels == nil {
		set.Spec.Template.Labels = map[string]string{}
	}
	set.Spec.Template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	set.Labels = set.Spec.Template.Labels
	return set
}

// runReplicas makes as many pods as a controller of interchangeable ones wants.
func (s *Simulation) runReplicas(
	ctx context.Context, owner object, ref *metav1.OwnerReference, template *corev1.PodTemplateSpec,
) error {
	replicas, _ := workload.ReplicasOf(owner)
	wanted := int(replicas)
	if err := s.tooMany(owner, wanted); err != nil || template == nil {
		return err
	}
	pods := s.podsOf(owner.GetUID())
	for _, pod := range s.surplus(pods, len(pods)-wanted) {
		if err := s.dropPod(pod); err != nil {
			return err
		}
	}
	if len(pods) >= wanted {
		delete(s.refused, owner.GetUID())
	}
	for n := len(pods); n < wanted; n++ {
		pod, err := controller.GetPodFromTemplate(template, owner, ref)
		if err != nil {
			return err
		}
		pod.Name, pod.GenerateName = s.randomName(owner, pod.GenerateName), ""
		if made, err := s.create(ctx, owner, pod, wanted-n); err != nil || !made {
			return err
		}
	}
	return nil
}

// surplus returns the pods that a ReplicaSet deletes first, in its own order.
func (s *Simulation) surplus(pods []*corev1.Pod, n int) []*corev1.Pod {
	if n <= 0 {
		return nil
	}
	onNode := map[string]int{}
	for _, pod := range pods {
		onNode[pod.Spec.NodeName]++
	}
	ranked := controller.ActivePodsWithRanks{Pods: slices.Clone(pods), Rank: make([]int, len(pods))}
	for i, pod := range pods {
		ranked.Rank[i] = onNode[pod.Spec.NodeName]
	}
	sort.Stable(ranked) //nolint:forbidigo // upstream's order is a sort.Interface
	return ranked.Pods[:n]
}
