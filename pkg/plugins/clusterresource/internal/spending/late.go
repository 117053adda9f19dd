// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// LateUnits knows which pods the process before may still bind, by Bindings that are on their way
// to the API server although the lease has been waited out. That can happen to pods that had no
// node when this process listed them, as long as they have not changed since. It is safe for
// concurrent use.
type LateUnits struct {
	mu sync.Mutex
	// held is what pods held according to the list.
	held *pool.Account
	pods map[types.UID]Claimant
	// claimed is what the pods ask for together, by ClusterResource. Its values are replaced, never
	// changed.
	claimed map[string]resource.Quantity
	// most is what late Bindings can take at most, however many pods there are, by ClusterResource;
	// nil if that is not known.
	most map[string]resource.Quantity
	// told is what claimed was when Raised told of it last.
	told map[string]resource.Quantity
	hold hold
}

// Claimant is a pod that the process before may still bind.
type Claimant struct {
	ledger.PodRef

	// Version is that of the pod in the list. Bindings that were sent before carry no newer one.
	Version string

	requests []pool.Request
	// priority and created tell when the scheduler's queue tries it.
	priority int32
	created  metav1.Time
}

// NewLate returns an empty set.
func NewLate() *LateUnits {
	return &LateUnits{held: pool.NewAccount()}
}

// newClaimant returns a pod of a list as a Claimant. It is false for those that ask for nothing
// that can be charged.
func newClaimant(pod *corev1.Pod) (Claimant, bool) {
	requests, err := demand.Of(pod)
	return Claimant{
		PodRef: ledger.Ref(pod), Version: pod.ResourceVersion, requests: requests,
		priority: corev1helpers.PodPriority(pod), created: pod.CreationTimestamp,
	}, err == nil && len(requests) > 0
}

// expect takes over what a list showed. There are no more late Bindings than the bound, if that is
// not 0.
func (l *LateUnits) expect(held *pool.Account, claimants []Claimant, bound int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held, l.pods, l.claimed = held, make(map[types.UID]Claimant, len(claimants)), map[string]resource.Quantity{}
	for _, c := range claimants {
		l.pods[c.UID] = c
		for _, r := range c.requests {
			sum := l.claimed[r.Resource].DeepCopy()
			sum.Add(r.Quantity)
			l.claimed[r.Resource] = sum
		}
	}
	l.most = mostOf(claimants, bound)
	l.told, l.hold.free = maps.Clone(l.claimed), nil
}

// mostOf returns what so many late Bindings can take at most of each ClusterResource, nil without a
// bound.
func mostOf(claimants []Claimant, bound int) map[string]resource.Quantity {
	if bound == 0 {
		return nil
	}
	most := map[string]resource.Quantity{}
	for _, c := range claimants {
		for _, r := range c.requests {
			if known := most[r.Resource]; known.Cmp(r.Quantity) < 0 {
				most[r.Resource] = r.Quantity.DeepCopy()
			}
		}
	}
	for name, largest := range most {
		largest.Mul(int64(bound))
		most[name] = largest
	}
	return most
}

// takeable returns what late Bindings may take of a ClusterResource if pods ask for so much of it.
func (l *LateUnits) takeable(name string, claimed resource.Quantity) resource.Quantity {
	if most, bounded := l.most[name]; bounded && most.Cmp(claimed) < 0 {
		return most
	}
	return claimed
}

// Over reports whether no late Binding is possible any more. It is false before the list.
func (l *LateUnits) Over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pods != nil && len(l.pods) == 0
}

// Settled notes that no late Binding can happen to a pod any more. If one has happened, its charges
// must have been put before.
func (l *LateUnits) Settled(pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.pods[pod].requests {
		l.claimed[r.Resource] = less(l.claimed[r.Resource], r)
	}
	delete(l.pods, pod)
}

func less(sum resource.Quantity, r pool.Request) resource.Quantity {
	left := sum.DeepCopy()
	left.Sub(r.Quantity)
	return left
}

// Open returns the pods that are not settled yet and ask for a ClusterResource of which units were
// free when they were listed, those first that the scheduler's queue tries last: once enough of
// these are settled the others are bound, which settles them, too. Pools returns the pools of a
// ClusterResource, nil if they are not known.
func (l *LateUnits) Open(pools func(resource string) *pool.Resource) []Claimant {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := map[string]bool{}
	for name := range l.claimed {
		if r := pools(name); r != nil {
			for _, units := range l.held.Free(r) {
				free[name] = free[name] || units > 0
			}
		}
	}
	var open []Claimant
	for _, c := range l.pods {
		for _, r := range c.requests {
			if free[r.Resource] {
				open = append(open, c)
				break
			}
		}
	}
	slices.SortFunc(open, func(a, b Claimant) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), b.created.Compare(a.created.Time))
	})
	return open
}

// Raised returns by how many units less of each pool is withheld than when it was called last, or
// than at the take-over. Of ClusterResources that are not known it tells once they are.
func (l *LateUnits) Raised(pools func(resource string) *pool.Resource) map[pool.Key]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	raised := map[pool.Key]int64{}
	for name, told := range l.told {
		r := pools(name)
		if r == nil {
			continue
		}
		now := withheldOf(l.held, r, l.takeable(name, l.claimed[name]))
		for i, before := range withheldOf(l.held, r, l.takeable(name, told)) {
			if more := before - now[i]; more > 0 {
				raised[pool.Key{Resource: name, Pool: r.Pools()[i].Name}] = more
			}
		}
		l.told[name] = l.claimed[name]
	}
	return raised
}

// withheld returns how many units of each pool late Bindings keep from being given out. Pools
// returns the pools of a ClusterResource, nil if they are not known.
func (l *LateUnits) withheld(pools func(resource string) *pool.Resource) map[pool.Key]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	withheld := map[pool.Key]int64{}
	for name, claimed := range l.claimed {
		r := pools(name)
		if r == nil {
			continue
		}
		for i, kept := range withheldOf(l.held, r, l.takeable(name, claimed)) {
			if kept > 0 {
				withheld[pool.Key{Resource: name, Pool: r.Pools()[i].Name}] = kept
			}
		}
	}
	return withheld
}

// withheldOf returns how many units of each pool of a ClusterResource are withheld for what pods
// ask for together, by what the list has shown.
func withheldOf(held *pool.Account, r *pool.Resource, claimed resource.Quantity) []int64 {
	units, withheld := pool.UnitsUp(claimed, r.Unit()), held.Free(r)
	for i, free := range withheld {
		withheld[i] = pool.Withheld(free, units)
	}
	return withheld
}

// LateClaims is what late Bindings may take at one moment.
type LateClaims struct {
	held    *pool.Account
	claimed map[string]resource.Quantity
}

// Beside returns what late Bindings may take that happen to other pods than this one: a late
// Binding of the pod itself and one of this process exclude each other. It must be asked before it
// is counted what is free, so that a late Binding which arrives meanwhile is in one of the two, or
// in both.
func (l *LateUnits) Beside(pod types.UID) LateClaims {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pods) == 0 {
		return LateClaims{}
	}
	claims := LateClaims{held: l.held, claimed: make(map[string]resource.Quantity, len(l.claimed))}
	maps.Copy(claims.claimed, l.claimed)
	for _, r := range l.pods[pod].requests {
		claims.claimed[r.Resource] = less(claims.claimed[r.Resource], r)
	}
	for name, claimed := range claims.claimed {
		claims.claimed[name] = l.takeable(name, claimed)
	}
	return claims
}

// Withhold returns what is left of each pool to be given out, of what is free: free itself if all
// of it is.
func (c LateClaims) Withhold(r *pool.Resource, free []int64) []int64 {
	claimed, some := c.claimed[r.Name()]
	if !some || claimed.Sign() <= 0 {
		return free
	}
	left := withheldOf(c.held, r, claimed)
	for i, now := range free {
		left[i] = pool.AddUnits(now, -left[i])
	}
	return left
}
