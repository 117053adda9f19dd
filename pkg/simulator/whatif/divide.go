// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/subscription"
)

// divider divides the Subscriptions once.
type divider struct {
	*Simulation
	index    *subscription.Index
	places   *topology.Snapshot
	observed map[reference]*workload.Observed
	// objects are the Subscriptions, and expanded the same with objects in place of Helm releases,
	// with what is wrong with these.
	objects, expanded []*berthv1alpha1.Subscription
	troubles          []map[int]subscription.Trouble
	inputs            []bundle.Subscription
	// samples are pods like those of the feeds, as far as room is concerned.
	samples [][]*corev1.Pod
}

// divide divides the Subscriptions and writes what follows into their status and policies.
func (s *Simulation) divide(ctx context.Context) error {
	objects := kept[*berthv1alpha1.Subscription](s)
	if len(objects) == 0 {
		return nil
	}
	slices.SortStableFunc(objects, subscription.Compare)
	s.resolve(objects)
	d := &divider{
		Simulation: s, index: subscription.NewIndex(objects), places: s.topology(), observed: map[reference]*workload.Observed{},
		objects: objects,
	}
	for _, o := range s.observe() {
		d.observed[reference{o.Namespace, o.Kind, o.Name}] = o
	}
	for _, object := range objects {
		expanded, troubles := subscription.Expand(object)
		d.expanded, d.troubles = append(d.expanded, expanded), append(d.troubles, troubles)
		d.read(ctx, expanded, troubles)
	}
	results, err := d.decide(ctx)
	if err != nil {
		return err
	}
	for i := range objects {
		outcome := &division.Outcome{Object: d.expanded[i], Input: &d.inputs[i], Decision: &results[i]}
		if err := d.write(ctx, objects[i], outcome); err != nil {
			return err
		}
	}
	return nil
}

// decide asks for the division, with room for what is promised.
func (d *divider) decide(ctx context.Context) ([]bundle.Result, error) {
	d.snapshot.Fork()
	defer d.snapshot.Revert()
	room := d.snapshot.Ledger(ctx, func(ref bundle.Ref) *corev1.Pod { return d.samples[ref.Subscription][ref.Feed] })
	results, err := bundle.Decide(d.inputs, room)
	return results, errors.Join(room.Err(), err)
}

// read makes the input of a Subscription.
func (d *divider) read(ctx context.Context, s *berthv1alpha1.Subscription, troubles map[int]subscription.Trouble) {
	dynamic := division.DynamicOf(&s.Spec)
	input := bundle.Subscription{
		Name: s.Namespace + "/" + s.Name, Strategy: subscription.StrategyOf(&s.Spec), Bundled: subscription.Bundled(&s.Spec),
		Pledged:     s.Status.Pledge != nil,
		MinClusters: int64(ptr.Deref(dynamic.MinClusters, 0)), MaxClusters: int64(ptr.Deref(dynamic.MaxClusters, 0)),
	}
	var err error
	if input.Clusters, input.Subgroups, err = division.Select(&s.Spec, d.places); err != nil {
		input.Problem = &bundle.Problem{Reason: berthv1alpha1.ReasonInvalidSubscriber, Message: err.Error()}
	}
	division.Failover(s, input.Clusters, d.places, time.Time{})
	samples := make([]*corev1.Pod, len(s.Spec.Feeds))
	for i := range s.Spec.Feeds {
		feed := d.readFeed(s, i, troubles)
		if o := d.observed[referenceOf(s, &s.Spec.Feeds[i])]; o != nil && feed.Obstacle == "" {
			samples[i], err = d.sampleOf(ctx, o)
			if err != nil {
				feed.Obstacle = err.Error()
			}
		}
		input.Feeds = append(input.Feeds, feed)
	}
	d.inputs, d.samples = append(d.inputs, input), append(d.samples, samples)
}

func referenceOf(s *berthv1alpha1.Subscription, feed *berthv1alpha1.Feed) reference {
	return reference{s.Namespace, feed.Kind, feed.Name}
}

func (d *divider) readFeed(s *berthv1alpha1.Subscription, i int, troubles map[int]subscription.Trouble) bundle.Feed {
	ref := &s.Spec.Feeds[i]
	o := d.observed[referenceOf(s, ref)]
	policy := d.policyNamed(s.Namespace, subscription.PolicyName(s.Name, ref))
	feed := bundle.Feed{
		Name:     ref.Describe(),
		Recorded: division.RecordedShares(subscription.PlacementOf(s, ref)), Published: division.PublishedShares(policy),
		Home: division.HomeOf(policy), HasPods: o != nil, Copyable: division.Copyable(ref), KeepsRecord: true,
		Bound: map[string]int64{}, Copies: map[string]int64{},
	}
	owner, at := d.index.Of(s.Namespace, ref.APIVersion, ref.Kind, ref.Name)
	trouble, release := troubles[i]
	switch {
	case release:
		feed.Obstacle = trouble.Message
	case subscription.Foreign(s, ref) || owner == nil || owner.UID != s.UID || at != i:
		feed.Obstacle = "another Subscription places it"
	case o != nil && o.ReplicasKnown:
		feed.Wanted = ptr.To(int64(o.Replicas))
	case workload.KindFor(ref.APIVersion, ref.Kind) != nil:
		feed.Obstacle = "it does not exist, or has finished"
	}
	if o != nil {
		d.countFeed(s, ref, o, &feed)
	}
	return feed
}

// countFeed counts the pods of a feed, and its copies.
func (d *divider) countFeed(s *berthv1alpha1.Subscription, ref *berthv1alpha1.Feed, o *workload.Observed, feed *bundle.Feed) {
	for _, pod := range o.Pods {
		if cluster := d.clusterOf(pod); cluster != "" {
			feed.Bound[cluster]++
		}
	}
	for cluster := range d.places.Clusters() {
		copied := division.CopyOf(ref, cluster)
		if o := d.observed[referenceOf(s, &copied)]; o != nil {
			feed.Copies[cluster] = int64(o.Replicas)
		}
	}
}

func (s *Simulation) policyNamed(namespace, name string) *berthv1alpha1.PropagationPolicy {
	kind := berthv1alpha1.SchemeGroupVersion.WithKind("PropagationPolicy").GroupKind()
	policy, _ := s.objects[id{kind, typesName(namespace, name)}].(*berthv1alpha1.PropagationPolicy)
	return policy
}

// sampleOf returns a pod like those of a workload, as the API server makes it.
func (s *Simulation) sampleOf(ctx context.Context, o *workload.Observed) (*corev1.Pod, error) {
	sample, admitted := o.Sample()
	if sample == nil || admitted {
		return sample, nil
	}
	return s.server.Pod(ctx, sample)
}

// write notes a division in the status of its Subscription, and has its policies say it.
func (d *divider) write(ctx context.Context, s *berthv1alpha1.Subscription, o *division.Outcome) error {
	after := s.DeepCopy()
	after.Status.ObservedGeneration, after.Status.Feeds = after.Generation, nil
	switch o.Decision.Admission {
	case bundle.Granted:
		after.Status.Pledge = &berthv1alpha1.Pledge{}
	case bundle.Waits, bundle.NotNeeded:
		after.Status.Pledge = nil
	case bundle.Kept:
	}
	wanted := map[string]bool{}
	for i := range o.Object.Spec.Feeds {
		after.Status.Feeds = append(after.Status.Feeds, placementOf(o, i))
		policy, keep := o.Policy(i)
		if policy != nil {
			if err := d.writePolicy(policy); err != nil {
				return err
			}
		}
		wanted[subscription.PolicyName(o.Object.Name, &o.Object.Spec.Feeds[i])] = keep
		if err := d.copyFeed(ctx, o, i, wanted); err != nil {
			return err
		}
	}
	for _, policy := range kept[*berthv1alpha1.PropagationPolicy](d.Simulation) {
		if metav1.IsControlledBy(policy, o.Object) && !wanted[policy.Name] {
			if err := d.remove(policy); err != nil {
				return err
			}
		}
	}
	return d.replace(after)
}

// placementOf is what the status tells of a feed.
func placementOf(o *division.Outcome, i int) berthv1alpha1.FeedPlacement {
	input, decided := &o.Input.Feeds[i], &o.Decision.Feeds[i]
	p := berthv1alpha1.FeedPlacement{Feed: o.Object.Spec.Feeds[i], Unplaced: int32(decided.Unplaced), Message: input.Obstacle}
	if input.Wanted != nil {
		p.Replicas = ptr.To(int32(*input.Wanted))
	}
	for _, name := range slices.Sorted(maps.Keys(decided.Shares)) {
		p.Clusters = append(p.Clusters, berthv1alpha1.FeedClusterReplicas{Name: name, Replicas: int32(decided.Shares[name])})
	}
	return p
}

// writePolicy stores a policy that Berth writes. What users set beside it stays.
func (s *Simulation) writePolicy(policy *berthv1alpha1.PropagationPolicy) error {
	after := policy
	if before := s.policyNamed(policy.Namespace, policy.Name); before != nil {
		after = before.DeepCopy()
		after.OwnerReferences = policy.OwnerReferences
		after.Spec.ResourceSelectors = policy.Spec.ResourceSelectors
		after.Spec.Placement.StaticWeightList = policy.Spec.Placement.StaticWeightList
		if policy.Spec.Rebalance.Mode != "" {
			after.Spec.Rebalance.Mode = policy.Spec.Rebalance.Mode
		}
		maps.Copy(after.Annotations, policy.Annotations)
		if apiequality.Semantic.DeepEqual(before, after) {
			return nil
		}
		after.Generation++
	} else {
		after.Generation = 1
		after.UID = uidOf(id{berthv1alpha1.SchemeGroupVersion.WithKind("PropagationPolicy").GroupKind(), keyOf(after)})
	}
	return s.replace(after)
}

// copyFeed makes the copies of a feed that its Subscription replicates, and their policies.
func (d *divider) copyFeed(ctx context.Context, o *division.Outcome, i int, wanted map[string]bool) error {
	if o.Input.Strategy != divide.Replication {
		return nil
	}
	source := d.observed[referenceOf(o.Object, &o.Object.Spec.Feeds[i])]
	for _, cluster := range o.Decision.Feeds[i].Copies {
		ref := division.CopyOf(&o.Object.Spec.Feeds[i], cluster)
		policy := division.NewPolicy(o.Object, &ref, division.OneOf(cluster), division.AnyNumber)
		wanted[policy.Name] = true
		if err := d.writePolicy(policy); err != nil {
			return err
		}
		if source == nil || d.observed[referenceOf(o.Object, &ref)] != nil {
			continue
		}
		if err := d.copyObject(ctx, o.Object, &o.Object.Spec.Feeds[i], ref.Name, cluster); err != nil {
			return err
		}
	}
	return nil
}
