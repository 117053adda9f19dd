// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/selection"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// readInventory takes the requirements of a feed from the inventory, which may be nil, and returns
// how many replicas it wants, nil if it is copied whole, or why that is not known. Where Berth
// reads the kind the present number counts.
func (it *item) readInventory(f *feed, inventory *berthv1alpha1.FeedInventory) (replicas *int64, obstacle string) {
	order, trouble := orderOf(inventory, f.ref)
	switch {
	case order == nil:
		return nil, "the FeedInventory does not tell of it yet"
	case trouble != "":
		return nil, trouble
	case order.DesiredReplicas == nil:
		return nil, "" // It is copied whole.
	case f.observed != nil && f.observed.ReplicasKnown:
		replicas = new(int64(f.observed.Replicas))
	case f.ref.Kind == workload.KindJob && isRead(f.ref) && (!it.input.Bundled || it.input.Pledged):
		replicas = new(int64(0)) // It has finished.
	case isRead(f.ref):
		return nil, notFound
	default:
		replicas = new(int64(*order.DesiredReplicas))
	}
	var err error
	if f.sample, err = it.sampleOf(f.observed, order); err != nil {
		f.refused = true
		return nil, "its pods would be refused: " + err.Error()
	}
	return replicas, ""
}

// sampleOf returns a pod like those of a feed, as admission completes it, or why the API server
// would refuse it. What the workload itself makes says most. An inventory that somebody else has
// written may know better what such a pod takes, and is all that is known of kinds that are not
// read. It leaves out what a template must have, so that it is no reason to refuse anything.
func (it *item) sampleOf(observed *workload.Observed, order *berthv1alpha1.FeedOrder) (*corev1.Pod, error) {
	var sample *corev1.Pod
	admitted := false
	if observed != nil {
		sample, admitted = observed.Sample()
	}
	switch {
	case sample != nil && it.ownInventories && admitted:
		return sample, nil
	case sample != nil && it.ownInventories:
		return it.admit(sample)
	}
	if sample == nil {
		sample = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: it.object.Namespace, Name: order.Name, UID: it.object.UID, Labels: labelsOf(observed),
			Annotations: map[string]string{berthv1alpha1.PolicyAnnotation: berthv1alpha1.PolicyNone},
		}}
	}
	needs := &order.ReplicaRequirements
	sample.Spec.NodeSelector, sample.Spec.Tolerations, sample.Spec.Affinity = needs.NodeSelector, needs.Tolerations, needs.Affinity
	container := corev1.Container{Resources: needs.Resources}
	for i := range sample.Spec.Containers {
		container.Ports = append(container.Ports, sample.Spec.Containers[i].Ports...)
	}
	sample.Spec.Containers, sample.Spec.InitContainers = []corev1.Container{container}, nil
	if whole, err := it.admit(sample); err == nil {
		return whole, nil
	}
	return sample, nil
}

// orderOf returns what an inventory, which may be nil, says of a feed, nil if it says nothing, and
// why it does not know more, empty if it does.
func orderOf(inventory *berthv1alpha1.FeedInventory, ref *berthv1alpha1.Feed) (order *berthv1alpha1.FeedOrder, trouble string) {
	if inventory == nil {
		return nil, ""
	}
	for i := range inventory.Spec.Feeds {
		if objectOf(&inventory.Spec.Feeds[i].Feed) == objectOf(ref) {
			order = &inventory.Spec.Feeds[i]
			break
		}
	}
	for i := range inventory.Status.Feeds {
		status := &inventory.Status.Feeds[i]
		if objectOf(&status.Feed) != objectOf(ref) {
			continue
		}
		if parsed := apimeta.FindStatusCondition(status.Conditions, berthv1alpha1.FeedParsed); parsed != nil &&
			parsed.Status == metav1.ConditionFalse && parsed.Message != "" {
			return order, parsed.Message
		}
	}
	return order, ""
}

// labelsOf returns the labels by which a workload, which may be nil, knows its pods, and by which
// they may avoid each other.
func labelsOf(observed *workload.Observed) map[string]string {
	if observed == nil || observed.Selector == nil {
		return nil
	}
	found := map[string]string{}
	requirements, _ := observed.Selector.Requirements()
	for _, r := range requirements {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if value, single := r.Values().PopAny(); single {
				found[r.Key()] = value
			}
		}
	}
	return found
}
