// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// aheadTime is how long pods wait for a grant to move to a pod of higher priority that waits for
// another scheduler, once there is enough for it. That takes some tenths of a second. A scheduler
// that cannot be reached, or a pod that something else keeps from a node, does not keep others
// waiting for longer.
const aheadTime = 2 * time.Second

// Ahead are the pods that wait for other schedulers and, by their priority, come before some that
// wait for this one. What becomes free within the grant of this process is kept for them until
// berth-controller-manager has moved it. It is safe for concurrent use.
type Ahead struct {
	clock clock.PassiveClock

	mu sync.Mutex
	// followed is what the demands were taken from.
	followed *catalog.Homes
	// demands are those that were told of each pool.
	demands map[pool.Key][]*ahead
}

// ahead is what pods of one priority want that wait for another scheduler.
type ahead struct {
	scheduler     string
	wanted, least resource.Quantity
	priority      int32
	since         int64
	// enough is since when there is enough for one of them, zero while there is not.
	enough time.Time
}

// is reports whether two demands are the same, so that the time goes on.
func (a *ahead) is(b *ahead) bool {
	return a.scheduler == b.scheduler && a.priority == b.priority && a.since == b.since && a.least.Cmp(b.least) == 0
}

// NewAhead returns an empty set.
func NewAhead(clock clock.PassiveClock) *Ahead {
	return &Ahead{clock: clock}
}

// follow takes over what other schedulers say.
func (a *Ahead) follow(homes *catalog.Homes) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.followed == homes {
		return
	}
	before := a.demands
	a.followed, a.demands = homes, nil
	for scheduler, said := range homes.Others {
		for i := range said.Pools {
			key := pool.Key{Resource: said.Pools[i].Resource, Pool: said.Pools[i].Pool}
			for _, next := range demandsOf(scheduler, &said.Pools[i]) {
				if same := slices.IndexFunc(before[key], next.is); same >= 0 {
					next.enough = before[key][same].enough
				}
				if a.demands == nil {
					a.demands = map[pool.Key][]*ahead{}
				}
				a.demands[key] = append(a.demands[key], next)
			}
		}
	}
}

// demandsOf returns what pods want of a pool that wait for another scheduler.
func demandsOf(scheduler string, said *berthv1alpha1.PoolSpending) []*ahead {
	var demands []*ahead
	add := func(wanted, least resource.Quantity, priority int32, since int64) {
		demands = append(demands, &ahead{scheduler: scheduler, wanted: wanted, least: least, priority: priority, since: since})
	}
	if said.Wanted != nil && said.Least != nil && said.Since != nil {
		add(*said.Wanted, *said.Least, said.Priority, said.Since.Unix())
	}
	for _, more := range [][]berthv1alpha1.PoolDemand{said.Lower, said.Next} {
		for i := range more {
			add(more[i].Wanted, more[i].Least, more[i].Priority, more[i].Since.Unix())
		}
	}
	return demands
}

// Withhold takes away what is kept from a pod, of what is free of each pool within the grant of
// this process. All is what is free in whosever grant.
func (a *Ahead) Withhold(pod *corev1.Pod, r *pool.Resource, free, all []int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.demands) == 0 {
		return
	}
	priority := corev1helpers.PodPriority(pod)
	for i, known := range r.Pools() {
		kept := int64(0)
		for _, d := range a.demands[pool.Key{Resource: r.Name(), Pool: known.Name}] {
			if d.priority > priority && a.applies(d, r.Unit(), all[i]) { //nolint:gosec // it has a number for each pool
				kept = pool.AddUnits(kept, pool.UnitsUp(d.wanted, r.Unit()))
			}
		}
		free[i] = pool.AddUnits(free[i], -kept) //nolint:gosec // it has a number for each pool
	}
}

// applies reports whether something is kept for a demand while so many units of the pool are free.
func (a *Ahead) applies(d *ahead, unit resource.Quantity, free int64) bool {
	if free <= 0 || free < pool.UnitsUp(d.least, unit) {
		d.enough = time.Time{}
		return false
	}
	if d.enough.IsZero() {
		d.enough = a.clock.Now()
	}
	return a.clock.Since(d.enough) < aheadTime
}

// Marks returns what is kept, the highest priority first. Unit returns the unit of a
// ClusterResource, false if that is not known.
func (a *Ahead) Marks(unit func(resource string) (resource.Quantity, bool)) []waitlist.Mark {
	a.mu.Lock()
	defer a.mu.Unlock()
	var marks []waitlist.Mark
	for key, demands := range a.demands {
		one, known := unit(key.Resource)
		if !known {
			continue
		}
		for _, d := range demands {
			if d.priority == math.MinInt32 {
				continue
			}
			marks = append(marks, waitlist.Mark{
				Priority: d.priority - 1, Charges: []pool.Charge{{Resource: key.Resource, Pool: key.Pool, Quantity: d.wanted}},
				Applies: func(left int64) bool {
					a.mu.Lock()
					defer a.mu.Unlock()
					return a.applies(d, one, left)
				},
			})
		}
	}
	slices.SortStableFunc(marks, func(a, b waitlist.Mark) int { return cmp.Compare(b.Priority, a.Priority) })
	return marks
}
