// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

const (
	// spendInterval is how often it is looked whether something is to be said about grants. A change of them waits for no longer.
	spendInterval = 200 * time.Millisecond
	// demandPause is the least time between two writes that tell nothing but what pods want.
	demandPause = 500 * time.Millisecond
	// alonePause is the least time between two attempts to find out whether there is another scheduler.
	alonePause = time.Second
	// requestTimeout bounds the requests of one look.
	requestTimeout = 10 * time.Second
)

// Sharing is what a process that is one of several schedulers needs to keep to its grants.
type Sharing struct {
	// Berth reads and writes Berth's kinds.
	Berth versioned.Interface
	// Fence tells whether this process is the leader.
	Fence *fence.Fence
	// Homes returns which Schedulers there are, nil while that is not known.
	Homes func() *catalog.Homes
	// Charged returns the pods with a node that carry the name of a Scheduler as their grantee, as the informer knows them.
	Charged func(grantee string) []*corev1.Pod
}

// spender keeps a process to its grants and says so in the status of its Scheduler.
type spender struct {
	*Shared
	*Sharing
	background *Background
	// floors are the revisions of grants that were recorded when this process became the leader. Older ones, which its informer may
	// still show, were meant for the process before it.
	floors map[types.UID]int64
	// resources are those by which the grants were set last.
	resources *catalog.Resources
	leaving   bool
	// alone is when it was last tried to find out whether there is another scheduler, wrote when the status was written.
	alone, wrote time.Time
}

// keepToGrants does what is to be done about grants until the context ends.
func (s *Shared) keepToGrants(ctx context.Context, b *Background) {
	select {
	case <-ctx.Done():
		return
	case <-b.Sharing.Fence.Opened():
	}
	p := &spender{Shared: s, Sharing: b.Sharing, background: b}
	tick := s.Clock.NewTicker(spendInterval)
	defer tick.Stop()
	told := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
			err := p.look(ctx)
			if err != nil && !told {
				klog.FromContext(ctx).Error(err, "Cannot keep the account of grants, trying again", "scheduler", s.Grants.self)
			}
			told = err != nil
		}
	}
}

func (p *spender) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	homes, resources := p.Homes(), p.Catalog.Snapshot()
	if homes == nil || resources == nil {
		return nil
	}
	if p.floors == nil {
		if err := p.readFloors(ctx); err != nil {
			return err
		}
	}
	if homes.Registered && !homes.Shared {
		return p.beAlone(ctx, homes)
	}
	p.follow(homes, resources)
	if !homes.Registered && !homes.Leaving {
		return nil // there is nothing to write to
	}
	return p.report(ctx, homes, resources)
}

// readFloors reads from the API server which grants are recorded. Whoever led before has written nothing since.
func (p *spender) readFloors(ctx context.Context) error {
	list, err := p.Berth.BerthV1alpha1().ClusterResources().List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		list, err = &berthv1alpha1.ClusterResourceList{}, nil // the kind is not served, so nothing was granted
	}
	if err != nil {
		return fmt.Errorf("listing cluster resources: %w", err)
	}
	p.floors = make(map[types.UID]int64, len(list.Items))
	for i := range list.Items {
		p.floors[list.Items[i].UID] = list.Items[i].Status.GrantsRevision
	}
	return nil
}

// beAlone lets everything be given out once it is certain that there is no other scheduler, and that none can be granted anything
// before this one has seen it: nobody is while this one does not say that it keeps to its grants.
func (p *spender) beAlone(ctx context.Context, homes *catalog.Homes) error {
	if !p.Grants.now().limited || p.Clock.Since(p.alone) < alonePause {
		return nil
	}
	p.alone = p.Clock.Now()
	if homes.Spending != nil {
		if err := p.write(ctx, nil); err != nil {
			return err
		}
	}
	list, err := p.Berth.BerthV1alpha1().Schedulers().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing schedulers: %w", err)
	}
	if len(list.Items) != 1 {
		return nil // the informer will see it, too
	}
	if only := &list.Items[0]; only.Name != p.Grants.self || only.DeletionTimestamp != nil || only.Status.Spending != nil {
		return nil
	}
	p.Grants.free()
	p.resources = nil
	p.background.Wake(p.background.Waiting())
	return nil
}

// follow sets what may be given out to what was granted, and wakes the pods that can have more now.
func (p *spender) follow(homes *catalog.Homes, resources *catalog.Resources) {
	if p.resources == resources && p.leaving == homes.Leaving && p.Grants.now().limited {
		return
	}
	p.resources, p.leaving = resources, homes.Leaving
	caps := map[pool.Key]int64{}
	if homes.Registered {
		resources.Each(func(name string, r *catalog.Resource) { p.capsOf(name, r, caps) })
	}
	if raised := p.Grants.set(caps); len(raised) > 0 {
		p.background.Wake(p.Waiting.Raised(raised))
	}
}

func (p *spender) capsOf(name string, r *catalog.Resource, caps map[pool.Key]int64) {
	if r.Pools == nil || r.GrantsRevision < p.floors[r.UID] {
		return
	}
	for i := range r.Grants {
		g := &r.Grants[i]
		if g.Scheduler != p.Grants.self {
			continue
		}
		units := wholeUnits(g.Quantity, r.Pools.Unit())
		if g.ShrinkTo != nil {
			units = min(units, wholeUnits(*g.ShrinkTo, r.Pools.Unit()))
		}
		caps[pool.Key{Resource: name, Pool: g.Pool}] = units
	}
}

// report writes what there is to say about grants, if that has changed.
func (p *spender) report(ctx context.Context, homes *catalog.Homes, resources *catalog.Resources) error {
	next := p.statement(homes, resources)
	if equality.Semantic.DeepEqual(next, homes.Spending) {
		return nil
	}
	if sameAnswers(next, homes.Spending) && p.Clock.Since(p.wrote) < demandPause {
		return nil
	}
	return p.write(ctx, next)
}

// sameAnswers says whether two statements differ in nothing but in what pods want.
func sameAnswers(a, b *berthv1alpha1.Spending) bool {
	if a == nil || b == nil || a.Closed != b.Closed {
		return false
	}
	answers := func(s *berthv1alpha1.Spending) []berthv1alpha1.PoolSpending {
		var found []berthv1alpha1.PoolSpending
		for _, said := range s.Pools {
			if said.Limit != nil {
				found = append(found, berthv1alpha1.PoolSpending{
					Resource: said.Resource, Pool: said.Pool, Revision: said.Revision, Limit: said.Limit,
				})
			}
		}
		return found
	}
	return equality.Semantic.DeepEqual(answers(a), answers(b))
}

// write replaces what the Scheduler says, while the lease is held.
func (p *spender) write(ctx context.Context, spending *berthv1alpha1.Spending) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"spending": replacing(spending)}})
	if err != nil {
		return fmt.Errorf("writing the status of scheduler %s: %w", p.Grants.self, err)
	}
	guarded, leave, err := p.Fence.Enter(ctx)
	if err != nil {
		return nil // whoever is the leader does it
	}
	defer leave()
	_, err = p.Berth.BerthV1alpha1().Schedulers().Patch(guarded, p.Grants.self, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("writing the status of scheduler %s: %w", p.Grants.self, err)
	}
	p.wrote = p.Clock.Now()
	return nil
}

// replacing returns a merge patch that leaves nothing of what was there before.
func replacing(s *berthv1alpha1.Spending) any {
	if s == nil {
		return nil
	}
	return map[string]any{"closed": s.Closed, "pools": slices.Clone(s.Pools)}
}
