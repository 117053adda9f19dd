// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/subscription"
)

// maxRebalance is how much of the value of the annotation counts.
const maxRebalance = 256

// item is a Subscription of a pass with what has been read for it.
type item struct {
	object *berthv1alpha1.Subscription
	// expanded is the same with objects in place of Helm releases, and troubles tells what is wrong
	// with these, see subscription.Expand.
	expanded *berthv1alpha1.Subscription
	troubles map[int]subscription.Trouble
	// input is what is decided on. Its feeds are those of feeds, in the same order.
	input bundle.Subscription
	feeds []feed
	// away are the Clusters that are offline and not left yet, with when they are.
	away map[string]time.Time
	// around are the workloads of the namespace, copies those of them that belong to the Subscription
	// as its copies, see copyAt.
	around *surroundings
	copies map[object]client.Object
	// policies are those of the Subscription, by name. Named are all of the namespace: one whose
	// owner was taken away is known by its name, which ends in a hash so that nobody else has it by
	// chance.
	policies, named map[string]*berthv1alpha1.PropagationPolicy
	// ownInventories reports whether Berth writes the FeedInventories.
	ownInventories bool
	// admit returns what the API server makes of a pod, see adviser.Admit.
	admit func(*corev1.Pod) (*corev1.Pod, error)
	// rebalance is the value of the annotation.
	rebalance string
	// next is when time alone may change a limit, or which Clusters are left; the zero time for never.
	next time.Time
}

// wake lets the next pass come in time for what changes at a moment.
func (it *item) wake(at time.Time) {
	if it.next.IsZero() || at.Before(it.next) {
		it.next = at
	}
}

// surroundings are the workloads and the policies of a namespace.
type surroundings struct {
	// owners are the objects of the kinds that control pods, and known what they and the pods make up.
	owners map[object]workload.Object
	known  map[object]*workload.Observed
	// tallies are what has been counted so far, see tallyOf.
	tallies map[*workload.Observed]*tally
	// asked is for how many feeds events have been read.
	asked state.Questions
	// copies are by owner, with no UID for those whose owner somebody has removed.
	copies map[types.UID]map[object]client.Object
	// policies are all of them by name, and owned those of each controller.
	policies map[string]*berthv1alpha1.PropagationPolicy
	owned    map[types.UID]map[string]*berthv1alpha1.PropagationPolicy
}

// object names an object regardless of its version.
type object struct {
	kind schema.GroupKind
	name string
}

func objectOf(ref *berthv1alpha1.Feed) object {
	return object{schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind(), ref.Name}
}

// gather reads what the Subscriptions are about and returns them in the order in which they are
// served. Those that are being deleted are left out: their policies go with them.
func (r *Reconciler) gather(
	ctx context.Context, subscriptions []*berthv1alpha1.Subscription, snapshot *topology.Snapshot, now metav1.Time,
) (items []*item, err error) {
	index := subscription.NewIndex(subscriptions)
	observed := map[string]*surroundings{}
	for _, s := range subscriptions {
		if s.DeletionTimestamp != nil {
			continue
		}
		if observed[s.Namespace] == nil {
			if observed[s.Namespace], err = r.observe(ctx, s.Namespace); err != nil {
				return nil, err
			}
		}
		it, err := r.read(ctx, s, snapshot, index, observed[s.Namespace])
		if err != nil {
			return nil, err
		}
		var again time.Duration
		if it.away, again = division.Failover(s, it.input.Clusters, snapshot, now.Time); again > 0 {
			it.wake(now.Add(again))
		}
		it.input.Expired = it.input.Pledged && !now.Before(&s.Status.Pledge.ExpirationTime)
		items = append(items, it)
	}
	slices.SortFunc(items, func(a, b *item) int { return subscription.Compare(a.object, b.object) })
	return items, nil
}

// observe reads the workloads and the policies of a namespace.
func (r *Reconciler) observe(ctx context.Context, namespace string) (*surroundings, error) {
	objects, err := state.ListWorkloads(ctx, r.Client, namespace)
	if err != nil {
		return nil, err
	}
	if r.Owners != nil {
		objects.Further = r.Owners
	}
	around := &surroundings{
		owners: map[object]workload.Object{}, known: map[object]*workload.Observed{}, tallies: map[*workload.Observed]*tally{},
		copies: copiesByOwner(objects),
	}
	if around.policies, around.owned, err = r.policiesOf(ctx, namespace); err != nil {
		return nil, err
	}
	for _, o := range objects.Owners {
		around.owners[keyOf(o)] = o
	}
	for _, o := range workload.Observe(objects) {
		of := object{schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind(), o.Name}
		if before := around.known[of]; before != nil {
			o = together(before, o)
		}
		around.known[of] = o
	}
	return around, nil
}

// together returns what has been observed of two components of one object: a feed is the object as
// a whole.
func together(a, b *workload.Observed) *workload.Observed {
	whole := *a
	whole.Component, whole.ReplicasKnown, whole.Pods = "", false, slices.Concat(a.Pods, b.Pods)
	return &whole
}

// read reads what belongs to one Subscription.
func (r *Reconciler) read(
	ctx context.Context, s *berthv1alpha1.Subscription, snapshot *topology.Snapshot, index *subscription.Index, around *surroundings,
) (*item, error) {
	dynamic := division.DynamicOf(&s.Spec)
	it := &item{
		object: s, ownInventories: r.OwnInventories, around: around, copies: around.copies[s.UID],
		admit: func(pod *corev1.Pod) (*corev1.Pod, error) { return r.Adviser.Admit(ctx, pod) },
		input: bundle.Subscription{
			Name: s.Namespace + "/" + s.Name, Strategy: subscription.StrategyOf(&s.Spec), Bundled: subscription.Bundled(&s.Spec),
			Pledged:     s.Status.Pledge != nil,
			MinClusters: int64(ptr.Deref(dynamic.MinClusters, 0)), MaxClusters: int64(ptr.Deref(dynamic.MaxClusters, 0)),
		},
	}
	if value := s.Annotations[berthv1alpha1.RebalanceAnnotation]; value != "" {
		it.rebalance = value[:min(len(value), maxRebalance)]
		it.input.Rebalance = it.rebalance != s.Status.ObservedRebalance
	}
	var err error
	if it.input.Clusters, it.input.Subgroups, err = division.Select(&s.Spec, snapshot); err != nil {
		it.input.Problem = &bundle.Problem{Reason: berthv1alpha1.ReasonInvalidSubscriber, Message: err.Error()}
	}
	it.policies, it.named = around.owned[s.UID], around.policies
	inventory, err := r.inventoryOf(ctx, s)
	if err != nil {
		return nil, err
	}
	it.expanded, it.troubles = subscription.Expand(s)
	for i := range it.expanded.Spec.Feeds {
		it.readFeed(i, index, inventory, snapshot)
	}
	return it, nil
}

// inventoryOf returns the inventory of a Subscription, nil if there is none that tells anything
// yet.
func (r *Reconciler) inventoryOf(ctx context.Context, s *berthv1alpha1.Subscription) (*berthv1alpha1.FeedInventory, error) {
	inventory := &berthv1alpha1.FeedInventory{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(s), inventory)
	switch {
	case apierrors.IsNotFound(err), err == nil && r.OwnInventories && inventory.Status.ObservedGeneration == 0:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("getting the inventory of Subscription %s/%s: %w", s.Namespace, s.Name, err)
	}
	return inventory, nil
}
