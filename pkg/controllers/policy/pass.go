// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
)

// pass is one reconciliation of one namespace.
type pass struct {
	*Reconciler
	assessor
	namespace string
	logger    klog.Logger
	// policies in force, by name.
	policies []*inForce
	byUID    map[types.UID]*inForce
	// unplaced are the workloads without a policy, and astray those of them that ask for one which
	// does not exist.
	unplaced, astray []*workload.Observed
	// asked is for how many workloads events have been read.
	asked state.Questions
	// before are the records of the last pass, and notes are for the next one.
	before map[workload.ID]*record
	notes  *notes
	// next is when time alone may change something, 0 for never.
	next time.Duration
}

// requeueAfter asks for another pass after a while.
func (p *pass) requeueAfter(after time.Duration) {
	if after > 0 && (p.next == 0 || after < p.next) {
		p.next = after
	}
}

// gather reads the namespace and finds for each workload the policy that places it.
func (r *Reconciler) gather(ctx context.Context, namespace string) (*pass, error) {
	policies, err := listPolicies(ctx, r.Client, namespace)
	if err != nil {
		return nil, err
	}
	before := r.memory.of(namespace)
	p := &pass{
		Reconciler: r, namespace: namespace, logger: ctrl.LoggerFrom(ctx), byUID: map[types.UID]*inForce{}, before: before.records,
	}
	if len(policies) == 0 {
		if stamped, err := r.anyStamped(ctx, namespace); err != nil || !stamped {
			return p, err
		}
	}
	if p.snapshot, err = r.Topology.Snapshot(ctx); err != nil {
		return nil, err
	}
	objects, err := state.ListWorkloads(ctx, r.Client, namespace)
	if err != nil {
		return nil, err
	}
	p.notes = before.next(policies, p.snapshot.Sites())
	p.begin(ctx)
	for _, policy := range policies {
		in := p.inForce(policy, p.notes.policies.Of(policy))
		p.policies = append(p.policies, in)
		p.byUID[policy.UID] = in
	}
	p.assign(policymatch.NewIndex(policies), p.observed(objects))
	r.memory.keep(namespace, p.notes)
	return p, nil
}

// begin notes what the pass assesses by.
func (p *pass) begin(ctx context.Context) {
	p.now, p.unheard, p.schedulers = p.Clock.Now(), p.lookUp(ctx), p.Schedulers
}

// observed returns the workloads that objects make up.
func (p *pass) observed(objects *workload.Objects) []*workload.Observed {
	if p.Owners != nil {
		objects.Further = p.Owners
	}
	return workload.Observe(objects)
}

// count brings what is remembered of a workload up to date with its pods, and assesses it.
func (p *pass) count(in *inForce, o *workload.Observed, note *record) *placement {
	note.update(policyVersion{uid: in.policy.UID, generation: in.policy.Generation}, o.Pods, p.now)
	return p.assess(in, o, note)
}

// inForce returns a policy without workloads, with what it was compiled to.
func (p *pass) inForce(policy *berthv1alpha1.PropagationPolicy, compiled *modelpolicy.Policy) *inForce {
	in := &inForce{Policy: compiled, policy: policy}
	if in.Err == nil {
		in.clusters = p.clustersOf(in.Order)
		in.unsettled, in.settledIn = modelpolicy.Unsettled(policy, in.clusters, p.now)
	}
	in.unread = p.unreadKinds(policy)
	return in
}

// assign gives each workload to the policy in force for it, and notes it with the others that
// select it.
func (p *pass) assign(index *policymatch.Index, observed []*workload.Observed) {
	for _, o := range observed {
		winner, _, err := modelpolicy.InForce(index, o.Selectable(), modelpolicy.RequestOfWorkload(o))
		if winner == nil {
			if err != nil {
				p.astray = append(p.astray, o)
			}
			p.unplaced = append(p.unplaced, o)
			continue
		}
		in := p.byUID[winner.UID]
		if !o.Asks(p.Schedulers) {
			in.unserved = append(in.unserved, o)
			continue
		}
		for _, claimant := range index.Claimants(o.Selectable()) {
			if claimant.UID != winner.UID {
				loser := p.byUID[claimant.UID]
				loser.lost = append(loser.lost, loss{workload: o, winner: winner.Name})
			}
		}
		note := p.before[o.ID()]
		if note == nil {
			note = &record{roundAt: p.memory.began}
		}
		p.notes.records[o.ID()] = note
		placed := p.count(in, o, note)
		placed.pace(p.now)
		in.placements = append(in.placements, placed)
		if why := workload.WhyUncounted(&o.Workload, o.Further()); why != "" {
			in.uncounted = append(in.uncounted, name(o)+": "+why)
		}
	}
}

// unreadKinds says why objects cannot be read that a policy selects.
func (r *Reconciler) unreadKinds(policy *berthv1alpha1.PropagationPolicy) []string {
	var problems []string
	for _, selector := range policy.Spec.ResourceSelectors {
		if r.Owners == nil || workload.KindFor(selector.APIVersion, selector.Kind) != nil {
			continue
		}
		if err := r.Owners.Problem(schema.FromAPIVersionAndKind(selector.APIVersion, selector.Kind).GroupKind()); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

func listPolicies(
	ctx context.Context, reader client.Reader, namespace string,
) ([]*berthv1alpha1.PropagationPolicy, error) {
	var list berthv1alpha1.PropagationPolicyList
	if err := reader.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing the policies of namespace %s: %w", namespace, err)
	}
	policies := make([]*berthv1alpha1.PropagationPolicy, len(list.Items))
	for i := range list.Items {
		policies[i] = &list.Items[i]
	}
	slices.SortFunc(policies, func(a, b *berthv1alpha1.PropagationPolicy) int { return strings.Compare(a.Name, b.Name) })
	return policies, nil
}
