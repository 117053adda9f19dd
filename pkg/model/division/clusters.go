// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package division

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/rank"
)

// Select returns the Clusters that a Subscription selects, without those that are drained, and the
// groups of which it takes some; nil if it takes all. The error names the field that cannot be
// understood.
func Select(spec *berthv1alpha1.SubscriptionSpec, snapshot *topology.Snapshot) ([]bundle.SelectedCluster, []divide.Selection, error) {
	subscribers, err := subscribersOf(spec)
	if err != nil {
		return nil, nil, err
	}
	preference, err := preferenceOf(spec)
	if err != nil {
		return nil, nil, err
	}
	all := make([]*topology.Cluster, 0, len(snapshot.Clusters()))
	sets := make([]labels.Set, 0, len(snapshot.Clusters()))
	for _, c := range snapshot.Clusters() {
		all = append(all, c)
		sets = append(sets, rank.LabelsOf(c.Object))
	}
	weights, selected, err := divide.Weights(sets, subscribers)
	if err != nil {
		return nil, nil, err
	}
	var clusters []bundle.SelectedCluster
	for i, c := range all {
		if selected[i] && c.Object.DeletionTimestamp == nil && !c.Object.Spec.Drain {
			clusters = append(clusters, bundle.SelectedCluster{
				Name: c.Object.Name, Labels: sets[i], Weight: weights[i], Preference: preference(c.Object), Open: c.TakesPods(),
				Cordoned: c.Object.Spec.Unschedulable,
			})
		}
	}
	if ptr.Deref(spec.SchedulingBySubGroup, false) {
		return clusters, subgroupsOf(spec, subscribers), nil
	}
	return clusters, nil, nil
}

func subgroupsOf(spec *berthv1alpha1.SubscriptionSpec, subscribers []divide.Subscriber) []divide.Selection {
	groups := make([]divide.Selection, len(subscribers))
	for i := range subscribers {
		groups[i] = divide.Selection{Selector: subscribers[i].Selector}
		if strategy := spec.Subscribers[i].SubGroupStrategy; strategy != nil {
			groups[i].Clusters = int(strategy.MinClusters)
		}
	}
	return groups
}

func subscribersOf(spec *berthv1alpha1.SubscriptionSpec) ([]divide.Subscriber, error) {
	list := make([]divide.Subscriber, len(spec.Subscribers))
	for i := range spec.Subscribers {
		selector, err := metav1.LabelSelectorAsSelector(&spec.Subscribers[i].ClusterAffinity)
		if err != nil {
			return nil, fmt.Errorf("spec.subscribers[%d].clusterAffinity: %w", i, err)
		}
		list[i] = divide.Subscriber{Selector: selector, Weight: int64(spec.Subscribers[i].Weight)}
	}
	return list, nil
}

// preferenceOf returns a function that returns how much a Cluster is preferred; more is better.
func preferenceOf(spec *berthv1alpha1.SubscriptionSpec) (func(*berthv1alpha1.Cluster) int64, error) {
	preferred := DynamicOf(spec).PreferredClusters
	if len(preferred) == 0 {
		return func(*berthv1alpha1.Cluster) int64 { return 0 }, nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(preferred)
	if err != nil {
		return nil, fmt.Errorf("spec.dividingScheduling.dynamicDividing.preferredClusters: %w", err)
	}
	return func(c *berthv1alpha1.Cluster) int64 {
		return terms.Score(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Labels: rank.LabelsOf(c)}})
	}, nil
}

// DynamicOf returns how free capacity is used.
func DynamicOf(spec *berthv1alpha1.SubscriptionSpec) berthv1alpha1.DynamicDividing {
	if spec.DividingScheduling == nil || spec.DividingScheduling.DynamicDividing == nil {
		return berthv1alpha1.DynamicDividing{}
	}
	return *spec.DividingScheduling.DynamicDividing
}
