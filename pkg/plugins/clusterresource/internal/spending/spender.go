// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

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
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

const (
	// interval is that of the passes over the grants. A change of them waits for no longer.
	interval = 200 * time.Millisecond
	// demandPause is the least time between two writes that differ in nothing but what pods want.
	demandPause = 500 * time.Millisecond
	// alonePause is the least time between two attempts to find out whether there is another
	// scheduler.
	alonePause = time.Second
	// requestTimeout bounds the requests of one pass.
	requestTimeout = 10 * time.Second
)

// Sharing is what a process that is one of several schedulers needs to keep to its grants.
type Sharing struct {
	// Berth reads and writes Berth's kinds.
	Berth versioned.Interface
	// Fence is open while this process is the leader.
	Fence *fence.Fence
	// Homes returns which Schedulers there are, nil while that is not known.
	Homes func() *catalog.Homes
	// Charged returns the pods with a node that carry the name of a Scheduler as their grantee, as
	// the informer knows them.
	Charged func(grantee string) []*corev1.Pod
}

// Demand is what pods that wait want of pools.
type Demand interface {
	// Wishes returns it by pool, the higher priority first, as far as what is left of the pools
	// could serve them.
	Wishes() map[pool.Key][]waitlist.Wish
	// Raised notes that so many units more of some pools may be given out, and returns the pods
	// that this can serve.
	Raised(by map[pool.Key]int64) []*corev1.Pod
	// Lifted notes that everything may be given out, and returns the pods that this may serve, of
	// all that wait.
	Lifted(waiting []*corev1.Pod) []*corev1.Pod
}

// Spender keeps a process to its grants and reports what it spends in the status of its Scheduler.
type Spender struct {
	*Sharing

	// Clock is the time that the Spender goes by.
	Clock clock.WithTicker
	// Grants are what the Spender sets.
	Grants *Grants
	// Resources returns the ClusterResources, nil while they have not been read.
	Resources func() *catalog.Resources
	// Pending are the charges of pods that are being bound.
	Pending *ledger.Pending
	// Late is what the process before may still charge.
	Late *LateUnits
	// Ahead are the pods of other schedulers that come first.
	Ahead *Ahead
	// Demand is what pods that wait want.
	Demand Demand
	// Waiting returns the pods that ask for ClusterResources and have no node, as the informer
	// knows them.
	Waiting func() []*corev1.Pod
	// Wake lets pods be tried.
	Wake func([]*corev1.Pod)

	// floors are the revisions of grants that were recorded when this process became the leader.
	// Older ones, which its informer may still show, were meant for the process before it.
	floors map[types.UID]int64
	// followed are the ClusterResources by which the grants were set last, and leaving and registered
	// what the Scheduler was then.
	followed            *catalog.Resources
	leaving, registered bool
	// alone is when it was last tried to find out whether there is another scheduler, wrote when
	// the status was written.
	alone, wrote time.Time
}

// Run makes a pass every interval once this process is the leader, until the context ends. An error
// is logged when it comes, not again while it lasts.
func (p *Spender) Run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-p.Fence.Opened():
	}
	tick := p.Clock.NewTicker(interval)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
			err := p.pass(ctx)
			if err != nil && !failing {
				klog.FromContext(ctx).Error(err, "Cannot keep the account of grants, trying again",
					"scheduler", p.Grants.Self())
			}
			failing = err != nil
		}
	}
}

// pass does what is to be done about grants at present.
func (p *Spender) pass(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	homes, resources := p.Homes(), p.Resources()
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
	p.Ahead.follow(homes)
	p.follow(homes, resources)
	if !homes.Registered && !homes.Leaving {
		return nil // there is nothing to write to
	}
	return p.report(ctx, homes, resources)
}

// readFloors reads from the API server which grants are recorded. Whoever led before has written
// nothing since.
func (p *Spender) readFloors(ctx context.Context) error {
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

// beAlone lets everything be given out once there is certainly no other scheduler to which
// something is granted, nor can be before this process has seen it. The controller grants nothing
// while a Scheduler runs without spending in its status. So if this is scheduler a,
//  1. a removes its spending: from now on nobody is granted anything,
//  2. a lists the Schedulers from the API server: if b is there, which may have been granted
//     something before, a keeps to its grants,
//  3. if a is the only one, it gives out everything; when b comes, it is granted nothing until a
//     has seen it and reports again.
func (p *Spender) beAlone(ctx context.Context, homes *catalog.Homes) error {
	if !p.Grants.Allowance().Limited || p.Clock.Since(p.alone) < alonePause {
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
	only := &list.Items[0]
	if only.Name != p.Grants.Self() || only.DeletionTimestamp != nil || only.Status.Spending != nil {
		return nil
	}
	p.Grants.Lift()
	p.Ahead.follow(homes)
	p.followed = nil
	p.Wake(p.Demand.Lifted(p.Waiting()))
	return nil
}

// follow sets what may be given out to what was granted, and wakes the pods that can have more now.
func (p *Spender) follow(homes *catalog.Homes, resources *catalog.Resources) {
	same := p.followed == resources && p.leaving == homes.Leaving && p.registered == homes.Registered
	if same && p.Grants.Allowance().Limited {
		return
	}
	p.followed, p.leaving, p.registered = resources, homes.Leaving, homes.Registered
	caps := map[pool.Key]int64{}
	if homes.Registered {
		resources.Each(func(name string, r *catalog.Resource) { p.capsOf(name, r, caps) })
	}
	if raised := p.Grants.set(caps); len(raised) > 0 {
		p.Wake(p.Demand.Raised(raised))
	}
}

func (p *Spender) capsOf(name string, r *catalog.Resource, caps map[pool.Key]int64) {
	if r.Pools != nil && r.GrantsRevision >= p.floors[r.UID] {
		addCaps(p.Grants.Self(), name, r, caps)
	}
}

// report writes what this process spends of its grants and what its pods want, if that has changed.
func (p *Spender) report(ctx context.Context, homes *catalog.Homes, resources *catalog.Resources) error {
	next := p.statement(homes, resources)
	if equality.Semantic.DeepEqual(next, homes.Spending) {
		return nil
	}
	if sameAnswers(next, homes.Spending) && p.Clock.Since(p.wrote) < demandPause {
		return nil
	}
	return p.write(ctx, next)
}

// sameAnswers reports whether two statements differ in nothing but in what pods want.
func sameAnswers(a, b *berthv1alpha1.Spending) bool {
	if a == nil || b == nil || a.Closed != b.Closed {
		return false
	}
	answers := func(s *berthv1alpha1.Spending) []berthv1alpha1.PoolSpending {
		var found []berthv1alpha1.PoolSpending
		for _, reported := range s.Pools {
			if reported.Limit != nil {
				found = append(found, berthv1alpha1.PoolSpending{
					Resource: reported.Resource, Pool: reported.Pool, Revision: reported.Revision, Limit: reported.Limit,
				})
			}
		}
		return found
	}
	return equality.Semantic.DeepEqual(answers(a), answers(b))
}

// write replaces the spending in the status of the Scheduler, while the lease is held.
func (p *Spender) write(ctx context.Context, spending *berthv1alpha1.Spending) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"spending": replacing(spending)}})
	if err != nil {
		return fmt.Errorf("writing the status of scheduler %s: %w", p.Grants.Self(), err)
	}
	guarded, leave, err := p.Fence.Enter(ctx)
	if err != nil {
		return nil // whoever is the leader does it
	}
	defer leave()
	_, err = p.Berth.BerthV1alpha1().Schedulers().Patch(
		guarded, p.Grants.Self(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("writing the status of scheduler %s: %w", p.Grants.Self(), err)
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
