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
	"berth.dev/berth/pkg/model/workload"
)

// peace is what a pass has seen where nothing was to be done. Most changes of pods after that have
// nothing to do with others, and change at most what the status says: whoever looks at their policy
// alone finds that out. A pass over the namespace is made as soon as there is more.
type peace struct {
	// until is when time alone may change something, the zero time for never.
	until time.Time
	// policies are those at rest, by name, and byObject the same by the objects that are above their
	// pods. Restless is true if there are others.
	policies []*atRest
	byObject map[types.UID]*atRest
	restless bool
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
	found := &peace{byObject: map[types.UID]*atRest{}}
	if p.next > 0 {
		found.until = p.now.Add(p.next)
	}
	for _, in := range p.policies {
		if !in.rests() {
			found.restless = true
			continue
		}
		one := in.atRest()
		found.policies = append(found.policies, one)
		for object := range one.objects {
			found.byObject[object] = one
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
	if !p.note.idle() || !p.complete() || p.Misplaced > 0 || p.places == nil || p.putOff > 0 {
		return false
	}
	for i := range p.places {
		if len(in.Restamped(&p.Shares.Pods[i], p.places[i], p.bound[i])) > 0 {
			return false
		}
	}
	return true
}

// complete reports whether a workload of a kind that is read has all of its replicas, and no
// others.
func (p *placement) complete() bool {
	read := !p.Foreign() && workload.KindFor(p.APIVersion, p.Kind) != nil
	replicas := int(p.Replicas)
	return read && p.ReplicasKnown && p.RolloutFinished() && p.pending == 0 && len(p.Leaving) == 0 &&
		len(p.bound) == replicas && len(p.Observed.Pods) == replicas
}

// idle reports whether nothing is remembered that a pass would have to look after.
func (r *record) idle() bool {
	return !r.open && !r.told && r.held == "" && len(r.limits.clusters) == 0 &&
		len(r.gone)+len(r.asked)+len(r.refusals)+len(r.promised)+len(r.lacks) == 0
}

// over reports whether time alone may have changed something.
func (p *peace) over(now time.Time) bool { return !p.until.IsZero() && !now.Before(p.until) }

// left returns after what time it may, 0 for never.
func (p *peace) left(now time.Time) time.Duration {
	if p.until.IsZero() {
		return 0
	}
	return p.until.Sub(now)
}

// concerned returns the policies at rest that a change may concern, and reports whether it concerns
// no other ones.
func (p *peace) concerned(changed *ask) (policies []*atRest, alone bool) {
	if changed.whole || changed.around && p.restless {
		return nil, false
	}
	above := sets.New[*atRest]()
	for object := range changed.objects {
		one := p.byObject[object]
		if one == nil {
			return nil, false
		}
		above.Insert(one)
	}
	for _, one := range p.policies {
		if above.Has(one) || one.namesAny(changed.clusters) {
			policies = append(policies, one)
		}
	}
	return policies, true
}

// namesAny reports whether the policy names one of some Clusters.
func (a *atRest) namesAny(clusters sets.Set[string]) bool {
	for cluster := range clusters {
		if a.compiled.Names(cluster) {
			return true
		}
	}
	return false
}

// glance looks at the policies alone that a change concerns, and reports whether that was enough:
// they were at rest and still are.
func (r *Reconciler) glance(ctx context.Context, namespace string, changed *ask) (result reconcile.Result, enough bool, err error) {
	before, now := r.memory.of(namespace), r.Clock.Now()
	if changed == nil || before.peace == nil || before.peace.over(now) {
		return result, false, nil
	}
	policies, alone := before.peace.concerned(changed)
	if !alone || len(policies) == 0 {
		result.RequeueAfter = before.peace.left(now)
		return result, alone, nil
	}
	p := &pass{Reconciler: r, namespace: namespace, logger: ctrl.LoggerFrom(ctx), before: before.records, notes: before}
	if p.snapshot, err = r.Topology.Snapshot(ctx); err != nil {
		return result, false, err
	}
	p.begin(ctx)
	if enough, err := p.lookAt(ctx, policies); err != nil || !enough {
		return result, false, err
	}
	result, err = p.reportGlance(ctx, changed)
	return result, true, err
}

// lookAt looks at some policies, and reports whether all are at rest.
func (p *pass) lookAt(ctx context.Context, policies []*atRest) (bool, error) {
	owners, err := state.ListOwners(ctx, p.Client, p.namespace)
	if err != nil {
		return false, err
	}
	for _, one := range policies {
		in, err := p.look(ctx, one, owners.Owners)
		if err != nil || in == nil {
			return false, err
		}
		p.policies = append(p.policies, in)
	}
	return true, nil
}

// reportGlance writes what the status of the policies is now, and asks for what is to come: a
// status that was written a moment ago, and what the last pass waits for.
func (p *pass) reportGlance(ctx context.Context, changed *ask) (reconcile.Result, error) {
	errs := make([]error, len(p.policies))
	for i, in := range p.policies {
		errs[i] = p.report(ctx, in)
	}
	if p.next > 0 {
		p.asks.add(p.namespace, changed)
	}
	p.requeueAfter(p.notes.peace.left(p.now))
	return reconcile.Result{RequeueAfter: p.next}, errors.Join(errs...)
}

// look looks at a policy that was at rest, and returns nil if it is not any more.
func (p *pass) look(ctx context.Context, one *atRest, owners []workload.Object) (*inForce, error) {
	known := one.compiled.Object
	policy := &berthv1alpha1.PropagationPolicy{}
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(known), policy)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading policy %s/%s: %w", known.Namespace, known.Name, err)
	case policy.UID != known.UID || policy.Generation != known.Generation || !modelpolicy.SameMeaning(policy, known),
		one.compiled.Follow(p.snapshot.Sites()) != one.compiled:
		return nil, nil
	}
	found, err := p.observe(ctx, one, owners)
	if err != nil {
		return nil, err
	}
	in := p.inForce(policy, one.compiled)
	if !p.place(in, found) || p.next > 0 || !in.rests() {
		return nil, nil
	}
	if now := in.atRest(); !slices.Equal(now.workloads, one.workloads) || now.replicas != one.replicas {
		return nil, nil
	}
	return in, nil
}

// place gives workloads to the policy that was in force for them, and reports whether it still may
// be.
func (p *pass) place(in *inForce, observed []*workload.Observed) bool {
	for _, o := range observed {
		note := p.before[o.ID()]
		if note == nil || !o.Asks(p.schedulers) {
			return false
		}
		in.placements = append(in.placements, p.count(in, o, note))
	}
	return true
}

// observe returns the workloads of a policy, in their order.
func (p *pass) observe(ctx context.Context, one *atRest, owners []workload.Object) ([]*workload.Observed, error) {
	below := &workload.Objects{}
	for _, owner := range owners {
		if one.objects.Has(owner.GetUID()) {
			below.Owners = append(below.Owners, owner)
		}
	}
	for object := range one.objects {
		var pods corev1.PodList
		err := p.Client.List(ctx, &pods, client.InNamespace(p.namespace), client.MatchingFields{controllerIndex: string(object)}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("listing the pods of %s in namespace %s: %w", object, p.namespace, err)
		}
		below.Pods = append(below.Pods, pods.Items...)
	}
	return p.observed(below), nil
}
