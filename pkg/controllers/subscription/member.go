// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/policymatch"
	"berth.dev/berth/pkg/placement/subscription"
)

// member is a Subscription in a pass.
type member struct {
	object   *berthv1alpha1.Subscription
	strategy divide.Strategy
	bundled  bool
	// clusters are those that the subscribers select, by name.
	clusters []candidate
	// problem says why nothing can be divided at present.
	problem *problem
	feeds   []*feed
	// copies are those that should be, existing those that are. Known are all workloads of the namespace, and looks is what can
	// be seen of those that can be copied.
	copies   []copied
	existing map[object]client.Object
	known    observations
	looks    map[object]string
	// policies are those of the Subscription, by name. Named are all of the namespace: one whose owner was taken away is known by
	// its name, which ends in a hash so that nobody else has it by chance.
	policies, named map[string]*berthv1alpha1.PropagationPolicy
	pledge          *berthv1alpha1.Pledge
	// waiting says that the bundle is not admitted, and why.
	waiting string
	// rebalance is the value of the annotation.
	rebalance string
}

type problem struct{ reason, message string }

// candidate is a Cluster that the subscribers select.
type candidate struct {
	name               string
	labels             map[string]string
	weight, preference int64
	// open says that it takes pods.
	open  bool
	nodes []*corev1.Node
}

// dynamic says whether room decides.
func (m *member) dynamic() bool { return subscription.ByRoom(&m.object.Spec) }

// rebalancing says whether a rebalance is asked for that has not been carried out.
func (m *member) rebalancing() bool {
	return m.rebalance != "" && m.rebalance != m.object.Status.ObservedRebalance && m.dynamic()
}

// admitted says whether pods may start.
func (m *member) admitted() bool { return !m.bundled || m.pledge != nil }

// candidate returns a selected Cluster, nil if it is not selected.
func (m *member) candidate(name string) *candidate {
	i, found := slices.BinarySearchFunc(m.clusters, name, func(c candidate, name string) int { return strings.Compare(c.name, name) })
	if !found {
		return nil
	}
	return &m.clusters[i]
}

// open says whether a Cluster is selected and takes pods.
func (m *member) open(name string) bool {
	c := m.candidate(name)
	return c != nil && c.open
}

// selectClusters finds the Clusters of the subscribers.
func (m *member) selectClusters(snapshot *topology.Snapshot) {
	subscribers, err := subscribersOf(&m.object.Spec)
	if err != nil {
		m.problem = &problem{berthv1alpha1.ReasonInvalidSubscriber, err.Error()}
		return
	}
	prefer, err := m.preference()
	if err != nil {
		m.problem = &problem{berthv1alpha1.ReasonInvalidSubscriber, err.Error()}
		return
	}
	all := make([]*topology.Cluster, 0, len(snapshot.Clusters()))
	for _, c := range snapshot.Clusters() {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *topology.Cluster) int { return strings.Compare(a.Object.Name, b.Object.Name) })
	sets := make([]labels.Set, len(all))
	for i, c := range all {
		sets[i] = c.Object.Labels
	}
	weights, selected, err := divide.Weights(sets, subscribers)
	if err != nil {
		m.problem = &problem{berthv1alpha1.ReasonInvalidSubscriber, err.Error()}
		return
	}
	for i, c := range all {
		if selected[i] && c.Object.DeletionTimestamp == nil {
			m.clusters = append(m.clusters, candidate{
				name: c.Object.Name, labels: c.Object.Labels, weight: weights[i], preference: prefer(c.Object), open: c.ReadyNodes > 0, nodes: c.Nodes,
			})
		}
	}
}

// judge finds what is wrong with the selected Clusters.
func (m *member) judge() {
	weighted := slices.ContainsFunc(m.clusters, func(c candidate) bool { return c.weight > 0 })
	switch {
	case len(m.clusters) == 0:
		m.problem = &problem{berthv1alpha1.ReasonNoClusters, "the subscribers select no Cluster"}
	case len(m.clusters) > policymatch.MaxClusters:
		m.problem = &problem{berthv1alpha1.ReasonInvalidSubscriber,
			fmt.Sprintf("the subscribers select %d Clusters; at most %d can be served", len(m.clusters), policymatch.MaxClusters)}
	case m.strategy == divide.Static && !weighted:
		m.problem = &problem{berthv1alpha1.ReasonNoWeight, "all selected Clusters have weight 0: give at least one a weight"}
	}
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

// preference returns what tells how much a Cluster is preferred.
func (m *member) preference() (func(*berthv1alpha1.Cluster) int64, error) {
	dynamic := dynamicOf(&m.object.Spec)
	if len(dynamic.PreferredClusters) == 0 {
		return func(*berthv1alpha1.Cluster) int64 { return 0 }, nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(dynamic.PreferredClusters)
	if err != nil {
		return nil, fmt.Errorf("spec.dividingScheduling.dynamicDividing.preferredClusters: %w", err)
	}
	return func(c *berthv1alpha1.Cluster) int64 {
		return terms.Score(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Labels: c.Labels}})
	}, nil
}

// dynamicOf returns how free capacity is used.
func dynamicOf(spec *berthv1alpha1.SubscriptionSpec) berthv1alpha1.DynamicDividing {
	if spec.DividingScheduling == nil || spec.DividingScheduling.DynamicDividing == nil {
		return berthv1alpha1.DynamicDividing{}
	}
	return *spec.DividingScheduling.DynamicDividing
}
