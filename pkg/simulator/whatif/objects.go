// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/membership"
	"berth.dev/berth/pkg/simulator"
)

// object is an object with metadata.
type object = workload.Object

// Observe takes up objects as they are in a cluster.
func (s *Simulation) Observe(objects ...runtime.Object) error {
	for _, o := range objects {
		typed, identity, err := identify(o)
		if err != nil {
			return err
		}
		if err := s.store(identity, typed); err != nil {
			return err
		}
	}
	return s.refresh()
}

// Confirm has the references of pods to owners of operators' kinds looked up. Without it they are
// taken at their word.
func (s *Simulation) Confirm(owners workload.FurtherSource) {
	s.owners, s.stale = owners, true
}

// Apply takes up objects as `kubectl apply` does: those that are there already are replaced. What
// the API server would refuse is an error, and so is a node that two Clusters claim. Objects of
// namespaced kinds must have a namespace.
func (s *Simulation) Apply(ctx context.Context, objects ...runtime.Object) error {
	// What admission reads comes first, and pods come when their controllers are there.
	ordered := slices.Clone(objects)
	slices.SortStableFunc(ordered, func(a, b runtime.Object) int { return s.rank(a) - s.rank(b) })
	for _, o := range ordered {
		if err := s.apply(ctx, o); err != nil {
			return err
		}
	}
	if err := s.checkMembership(); err != nil {
		return err
	}
	return s.refresh()
}

func (s *Simulation) rank(o runtime.Object) int {
	switch {
	case s.server.Reads(o):
		return 0
	case isPod(o):
		return 2
	}
	return 1
}

func isPod(o runtime.Object) bool {
	_, is := o.(*corev1.Pod)
	return is
}

// identify returns what an object is.
func identify(o runtime.Object) (object, id, error) {
	typed, ok := o.(object)
	if !ok {
		return nil, id{}, fmt.Errorf("a %T has no metadata", o)
	}
	kinds, _, err := scheme.ObjectKinds(o)
	if err != nil {
		return nil, id{}, fmt.Errorf("reading %s: %w", typed.GetName(), err)
	}
	return typed, id{kinds[0].GroupKind(), types.NamespacedName{Namespace: typed.GetNamespace(), Name: typed.GetName()}}, nil
}

// apply takes up one object.
func (s *Simulation) apply(ctx context.Context, given runtime.Object) error {
	typed, identity, err := identify(given.DeepCopyObject())
	if err != nil {
		return err
	}
	if pod, is := typed.(*corev1.Pod); is {
		return s.applyPod(ctx, pod)
	}
	before := s.objects[identity]
	s.inherit(identity, typed, before)
	stored, err := s.server.Create(ctx, typed)
	if err != nil {
		return err
	}
	typed, _, err = identify(stored)
	if err != nil {
		return err
	}
	if before != nil {
		carryStatus(typed, before)
	}
	switch o := typed.(type) {
	case *corev1.Node:
		completeNode(o)
	case *corev1.PersistentVolume:
		completeVolume(o)
	}
	return s.store(identity, typed)
}

// inherit gives an object the metadata that it would have on an API server.
func (s *Simulation) inherit(identity id, o, before object) {
	o.SetManagedFields(nil)
	o.SetDeletionTimestamp(nil)
	if before == nil {
		if o.GetUID() == "" {
			o.SetUID(uidOf(identity))
		}
		o.SetGeneration(max(1, o.GetGeneration()))
		return
	}
	o.SetUID(before.GetUID())
	o.SetCreationTimestamp(before.GetCreationTimestamp())
	o.SetGeneration(before.GetGeneration() + 1)
}

// uidOf returns the UID of an object that has none. It has no slash, because stamps have one behind
// it.
func uidOf(i id) types.UID {
	return types.UID(strings.Join([]string{i.Kind, i.Group, i.Namespace, i.Name}, "."))
}

// applyPod takes up a pod. One that has a UID has been through admission already.
func (s *Simulation) applyPod(ctx context.Context, pod *corev1.Pod) error {
	key := keyOf(pod)
	if before := s.pods[key]; before != nil {
		return fmt.Errorf("pod %s: it is there already, and a pod cannot be changed", key)
	}
	status, made := pod.Status, pod.UID != ""
	s.inherit(id{corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), key}, pod, nil)
	if !made {
		created, err := s.server.Pod(ctx, pod)
		if err != nil {
			return err
		}
		pod = created
	}
	pod.Status = status
	if pod.Spec.NodeName != "" && status.Phase == "" {
		pod.Status = simulator.Running(0)
	}
	return s.putPod(pod)
}

// store takes up an object that is complete.
func (s *Simulation) store(identity id, o object) error {
	if pod, is := o.(*corev1.Pod); is {
		return s.putPod(pod)
	}
	if err := s.server.Put(o); err != nil {
		return err
	}
	switch typed := o.(type) {
	case *corev1.ResourceQuota:
		s.quotas.put(typed)
	case *policyv1.PodDisruptionBudget:
		s.budgets[keyOf(typed)] = newBudget(typed)
	case *storagev1.VolumeAttachment:
		if s.attached[typed.Spec.NodeName] == nil {
			s.attached[typed.Spec.NodeName] = map[string]*storagev1.VolumeAttachment{}
		}
		s.attached[typed.Spec.NodeName][typed.Name] = typed
	case *berthv1alpha1.ClusterResource:
		published, err := charges.Publish(typed)
		if err != nil {
			return fmt.Errorf("ClusterResource %s: %w", typed.Name, err)
		}
		o = published
	}
	if identity.Group == berthv1alpha1.GroupName {
		s.stale = true
	} else if err := s.snapshot.Put(o); err != nil {
		return err
	}
	s.objects[identity] = o
	s.version++
	return nil
}

// remove forgets an object.
func (s *Simulation) remove(o object) error {
	_, identity, err := identify(o)
	if err != nil {
		return err
	}
	if attached, is := o.(*storagev1.VolumeAttachment); is {
		delete(s.attached[attached.Spec.NodeName], attached.Name)
	}
	if identity.Group == berthv1alpha1.GroupName {
		s.stale = true
	} else if err := s.snapshot.Drop(o); err != nil {
		return err
	}
	delete(s.objects, identity)
	s.version++
	return nil
}

// refresh gives the snapshot Berth's objects, if some have changed.
func (s *Simulation) refresh() error {
	if s.stale {
		s.snapshot.SetObjects(&simulator.Objects{
			Clusters: kept[*berthv1alpha1.Cluster](s), Policies: kept[*berthv1alpha1.PropagationPolicy](s),
			Resources: kept[*berthv1alpha1.ClusterResource](s), Subscriptions: kept[*berthv1alpha1.Subscription](s),
			Further: s.owners,
		})
		s.stale = false
	}
	return nil
}

// checkMembership returns an error if two Clusters claim a node.
func (s *Simulation) checkMembership() error {
	index := membership.NewIndex(kept[*berthv1alpha1.Cluster](s))
	for _, node := range kept[*corev1.Node](s) {
		if claimants := index.Claimants(node.Name, node.Labels); len(claimants) > 1 {
			return fmt.Errorf("node %s is in two Clusters, %s and %s", node.Name, claimants[0], claimants[1])
		}
	}
	return nil
}

// completeNode gives a node of a file what its kubelet would report, unless the file says
// otherwise.
func completeNode(node *corev1.Node) {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return
		}
	}
	node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue})
}

// completeVolume has a volume that nobody claims be there for claims, as its controller does.
func completeVolume(volume *corev1.PersistentVolume) {
	if volume.Status.Phase == corev1.VolumePending && volume.Spec.ClaimRef == nil {
		volume.Status.Phase = corev1.VolumeAvailable
	}
}

func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}
