// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/topology"
)

// allNamespaces is the key of a pass that asks for a pass over each namespace that has a policy.
const allNamespaces = ""

// change is what has changed of nodes, Clusters or ClusterResources.
type change struct {
	// whole is true if it may matter to every policy. Otherwise it matters to those that wait for
	// something, and to those over the Clusters that nodes have come to, have left, or are counted in
	// otherwise.
	whole bool
	nodes []changedNode
}

// changedNode is a node whose labels have changed, or whether it takes pods.
type changedNode struct {
	name          string
	before, after map[string]string
	turned        bool
}

// nodeChange returns what has changed of a node. What it says of itself but for its labels, and
// whether it takes pods, is a matter of those alone that look for room.
func nodeChange(before, after *corev1.Node) change {
	turned := topology.TakesPods(before) != topology.TakesPods(after)
	switch {
	case before.UID != after.UID:
		return change{whole: true}
	case maps.Equal(before.Labels, after.Labels) && !turned:
		return change{}
	default:
		return change{nodes: []changedNode{{after.Name, before.Labels, after.Labels, turned}}}
	}
}

// clusterChange returns what has changed of a Cluster. Its status, such as whether it is online, is
// a matter of those that look for room, or go elsewhere while a Cluster is offline.
func clusterChange(before, after *berthv1alpha1.Cluster) change {
	update := event.TypedUpdateEvent[*berthv1alpha1.Cluster]{ObjectOld: before, ObjectNew: after}
	return change{whole: state.ClusterChanges().Update(update)}
}

// grantChange returns what has changed of a ClusterResource: what pods may wait for.
func grantChange(_, _ *berthv1alpha1.ClusterResource) change { return change{} }

// changes are those since the last pass over all namespaces, together. They are safe for concurrent
// use.
type changes struct {
	mu    sync.Mutex
	noted *change
}

func (c *changes) add(one change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noted == nil {
		c.noted = &change{}
	}
	c.noted.whole, c.noted.nodes = c.noted.whole || one.whole, append(c.noted.nodes, one.nodes...)
}

// take returns the changes, nil if there are none, and forgets them.
func (c *changes) take() *change {
	c.mu.Lock()
	defer c.mu.Unlock()
	noted := c.noted
	c.noted = nil
	return noted
}

// everywhere asks for passes over namespaces that have a policy, after a moment: a burst of node
// events costs as much as one. That has a key of its own, since a namespace may have been asked for
// already, earlier than an event that is yet to come.
func everywhere[T client.Object](r *Reconciler, changed func(before, after T) change) handler.TypedEventHandler[T, string] {
	note := func(one change, q queue) {
		r.Topology.Invalidate()
		r.changes.add(one)
		r.queue.Store(&q)
		q.AddAfter(allNamespaces, pause/2)
	}
	return handler.TypedFuncs[T, string]{
		CreateFunc: func(_ context.Context, _ event.TypedCreateEvent[T], q queue) { note(change{whole: true}, q) },
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[T], q queue) {
			note(changed(e.ObjectOld, e.ObjectNew), q)
		},
		DeleteFunc: func(_ context.Context, _ event.TypedDeleteEvent[T], q queue) { note(change{whole: true}, q) },
	}
}

// askEverywhere is the pass for allNamespaces.
func (r *Reconciler) askEverywhere(ctx context.Context) error {
	changed := r.changes.take()
	if changed == nil {
		return nil
	}
	err := r.askAbout(ctx, changed)
	if err != nil {
		r.changes.add(change{whole: true})
	}
	return err
}

// askAbout asks for a pass over each namespace that has a policy, about what has changed.
func (r *Reconciler) askAbout(ctx context.Context, changed *change) error {
	clusters, err := r.concerned(ctx, changed)
	if err != nil {
		return err
	}
	var list berthv1alpha1.PropagationPolicyList
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing policies: %w", err)
	}
	namespaces := sets.New[string]()
	for i := range list.Items {
		namespaces.Insert(list.Items[i].Namespace)
	}
	for namespace := range namespaces {
		r.asks.add(namespace, &ask{whole: changed.whole, around: true, clusters: clusters})
		(*r.queue.Load()).AddAfter(namespace, pause/2)
	}
	return nil
}

// concerned returns the Clusters that a change matters to. Whose a node was is told by the Clusters
// that there are now: had these changed, everything would be asked for.
func (r *Reconciler) concerned(ctx context.Context, changed *change) (sets.Set[string], error) {
	clusters := sets.New[string]()
	if changed.whole || len(changed.nodes) == 0 {
		return clusters, nil
	}
	snapshot, err := r.Topology.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	for i := range changed.nodes {
		node := &changed.nodes[i]
		before, after := snapshot.Claimants(node.name, node.before), snapshot.Claimants(node.name, node.after)
		if node.turned || !slices.Equal(before, after) {
			clusters.Insert(before...)
			clusters.Insert(after...)
		}
	}
	return clusters, nil
}

// askWhole asks for a pass over a namespace, in which anything may have changed.
func (r *Reconciler) askWhole(namespace string, q queue, after time.Duration) {
	r.asks.whole(namespace)
	q.AddAfter(namespace, after)
}
