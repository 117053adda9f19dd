// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
)

// peace is what a pass has seen where nothing was to be done. Most changes of pods after that have
// nothing to do with others, and change at most what the status says: whoever looks at their policy
// alone finds that out. A pass over the namespace is made as soon as there is more.
type peace struct {
	snapshot *topology.Snapshot
	// until is when time alone may change something, the zero time for never.
	until time.Time
	// policies are those at rest, by the objects that are above their pods.
	policies map[types.UID]*atRest
}

// atRest is a policy all of whose pods are where they should be.
type atRest struct {
	compiled *modelpolicy.Policy
	// objects are those above its pods, workloads what it places, in their order.
	objects   sets.Set[types.UID]
	workloads []workload.ID
	replicas  int32
}

// makePeace notes what is at rest after a pass.
func (p *pass) makePeace() {
	found := &peace{snapshot: p.snapshot, policies: map[types.UID]*atRest{}}
	if p.next > 0 {
		found.until = p.now.Add(p.next)
	}
	for _, in := range p.policies {
		if len(in.placements) == 0 || !in.rests() {
			continue
		}
		one := in.atRest()
		for object := range one.objects {
			found.policies[object] = one
		}
	}
	p.notes.peace = found
}

// atRest returns what is to be the same at the next glance.
func (in *inForce) atRest() *atRest {
	one := &atRest{compiled: in.Policy, objects: sets.New[types.UID]()}
	for _, placed := range in.placements {
		one.workloads = append(one.workloads, placed.ID())
		one.replicas += placed.Replicas
		one.objects.Insert(placed.UID)
		for _, above := range placed.AboveObjects() {
			one.objects.Insert(above.GetUID())
		}
		for _, pod := range placed.Observed.Pods {
			if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
				one.objects.Insert(ref.UID)
			}
		}
	}
	return one
}

// rests reports whether nothing is to be done for a policy, and nobody waits for anything.
func (in *inForce) rests() bool {
	spec := &in.policy.Spec
	_, scales := in.Policy.Replicas()
	if in.Err != nil || scales || in.unsettled || spec.Failover != nil || len(spec.Placement.ClusterGroups) > 0 ||
		len(in.lost)+len(in.unserved)+len(in.unread)+len(in.uncounted) > 0 {
		return false
	}
	return !slices.ContainsFunc(in.placements, func(placed *placement) bool { return !placed.rests(in) })
}

// rests reports whether all pods of a workload run, where they should and in the order in which
// they should, and nothing is remembered of times when that was otherwise.
func (p *placement) rests(in *inForce) bool {
	if !p.note.idle() || !p.ReplicasKnown || !p.RolloutFinished() || p.Foreign() || workload.KindFor(p.APIVersion, p.Kind) == nil ||
		p.Misplaced > 0 || p.pending > 0 || len(p.Leaving) > 0 || p.places == nil || p.putOff > 0 ||
		len(p.bound) != int(p.Replicas) || len(p.Observed.Pods) != int(p.Replicas) {
		return false
	}
	for i := range p.places {
		if len(in.Restamped(&p.Shares.Pods[i], p.places[i], p.bound[i])) > 0 {
			return false
		}
	}
	return true
}

// idle reports whether nothing is remembered that a pass would have to look after.
func (r *record) idle() bool {
	return !r.open && !r.told && r.held == "" && len(r.limits.clusters) == 0 &&
		len(r.gone)+len(r.asked)+len(r.refusals)+len(r.promised)+len(r.lacks) == 0
}

// glance looks at the policies alone that are above some objects, and reports whether that was
// enough: they were at rest and still are.
func (r *Reconciler) glance(ctx context.Context, namespace string, objects sets.Set[types.UID]) (result reconcile.Result, enough bool, err error) {
	before, now := r.memory.of(namespace), r.Clock.Now()
	if len(objects) == 0 || before.peace == nil || !before.peace.until.IsZero() && !now.Before(before.peace.until) {
		return result, false, nil
	}
	snapshot, err := r.Topology.Snapshot(ctx)
	if err != nil || snapshot != before.peace.snapshot {
		return result, false, err
	}
	p := &pass{Reconciler: r, namespace: namespace, logger: ctrl.LoggerFrom(ctx), before: before.records, notes: before}
	p.snapshot, p.now, p.unheard, p.schedulers = snapshot, now, p.lookUp(ctx), r.Schedulers
	for len(objects) > 0 {
		object, _ := objects.Clone().PopAny()
		one := before.peace.policies[object]
		if one == nil {
			return result, false, nil
		}
		in, err := p.look(ctx, one)
		if err != nil || in == nil {
			return result, false, err
		}
		p.policies, objects = append(p.policies, in), objects.Difference(one.objects)
	}
	var errs []error
	for _, in := range p.policies {
		errs = append(errs, p.report(ctx, in))
	}
	if p.next > 0 {
		for _, in := range p.policies {
			r.asks.about(namespace, in.placements[0].UID)
		}
	}
	if until := before.peace.until; !until.IsZero() {
		p.requeueAfter(until.Sub(now))
	}
	return reconcile.Result{RequeueAfter: p.next}, true, errors.Join(errs...)
}

// look looks at a policy that was at rest, and returns nil if it is not any more.
func (p *pass) look(ctx context.Context, one *atRest) (*inForce, error) {
	known := one.compiled.Object
	policy := &berthv1alpha1.PropagationPolicy{}
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(known), policy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading policy %s/%s: %w", known.Namespace, known.Name, err)
	}
	if policy.UID != known.UID || policy.Generation != known.Generation || !modelpolicy.SameMeaning(policy, known) {
		return nil, nil
	}
	found, err := p.observe(ctx, one)
	if err != nil {
		return nil, err
	}
	in := p.inForce(policy, one.compiled)
	replicas := int32(0)
	for i, o := range found {
		note := p.before[o.ID()]
		if len(found) != len(one.workloads) || o.ID() != one.workloads[i] || note == nil || !o.Asks(p.schedulers) {
			return nil, nil
		}
		note.update(policyVersion{uid: policy.UID, generation: policy.Generation}, o.Pods, p.now)
		in.placements = append(in.placements, p.assess(in, o, note))
		replicas += o.Replicas
	}
	if len(found) != len(one.workloads) || replicas != one.replicas || p.next > 0 || !in.rests() {
		return nil, nil
	}
	return in, nil
}

// observe returns the workloads of a policy, in their order.
func (p *pass) observe(ctx context.Context, one *atRest) ([]*workload.Observed, error) {
	all, err := state.ListOwners(ctx, p.Client, p.namespace)
	if err != nil {
		return nil, err
	}
	all.Owners = slices.DeleteFunc(all.Owners, func(owner workload.Object) bool { return !one.objects.Has(owner.GetUID()) })
	if p.Owners != nil {
		all.Further = p.Owners
	}
	for object := range one.objects {
		var pods corev1.PodList
		err := p.Client.List(ctx, &pods, client.InNamespace(p.namespace), client.MatchingFields{controllerIndex: string(object)}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("listing the pods of %s in namespace %s: %w", object, p.namespace, err)
		}
		all.Pods = append(all.Pods, pods.Items...)
	}
	return workload.Observe(all), nil
}
