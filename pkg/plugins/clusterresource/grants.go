// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// Grants keep the process of a Scheduler to what it was granted. While there is no other Scheduler it may give out everything, and
// that must have been read from the API server before. It is safe for concurrent use.
type Grants struct {
	self string

	mu sync.RWMutex
	// limited is true while only what was granted may be given out: of each pool as many units as caps says, of others nothing.
	limited bool
	caps    map[pool.Key]int64
	// tightened changes whenever less may be given out than before.
	tightened int64
}

// NewGrants returns those of the Scheduler of a name, empty for a process that is none and may give out everything.
func NewGrants(self string) *Grants {
	return &Grants{self: self, limited: self != "", caps: map[pool.Key]int64{}}
}

// allowance is what a scheduling cycle may give out.
type allowance struct {
	limited   bool
	tightened int64
	caps      map[pool.Key]int64
}

// now returns what may be given out at present. The caps are never changed once they are returned.
func (g *Grants) now() allowance {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return allowance{limited: g.limited, tightened: g.tightened, caps: g.caps}
}

// limit lowers what is free of each pool to what is left of the grant, and returns what is free altogether. It returns the same
// twice if everything may be given out.
func (a allowance) limit(r *pool.Resource, l *ledger.Ledger, free []int64) (own, all []int64) {
	if !a.limited {
		return free, free
	}
	own = l.Own(r)
	for i := range own {
		left := a.caps[pool.Key{Resource: r.Name(), Pool: r.Pools()[i].Name}] - own[i]
		own[i] = min(left, free[i])
	}
	return own, free
}

// whileAllowed calls charge unless less may be given out than at the time of the allowance; then it returns false. Whoever is told
// afterwards what has been charged is told of this, too.
func (g *Grants) whileAllowed(a allowance, charge func()) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.tightened != a.tightened {
		return false
	}
	charge()
	return true
}

// Mine reports whether what a charge gives back can be given out again by this process.
func (g *Grants) Mine(c pool.Charge) bool {
	if g == nil || g.self == "" {
		return true
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	return !g.limited || c.Grantee == g.self
}

// free lets everything be given out.
func (g *Grants) free() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limited = false
}

// set limits what may be given out, and returns by how much more that is of each pool than before. When it returns, nothing can be
// charged by an older allowance that is larger.
func (g *Grants) set(caps map[pool.Key]int64) (raised map[pool.Key]int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.caps
	if g.limited && maps.Equal(before, caps) {
		return nil
	}
	less := !g.limited
	for key, units := range before {
		less = less || caps[key] < units
	}
	if less {
		g.tightened++
	}
	raised = map[pool.Key]int64{}
	for key, units := range caps {
		if more := units - before[key]; more > 0 {
			raised[key] = more
		}
	}
	g.limited, g.caps = true, caps
	return raised
}

// retryPause is after what time a pod is tried again that a grant which shrank has kept from what a scheduling cycle had found.
const retryPause = 200 * time.Millisecond

func (p *ClusterResource) tryAgain(pod *corev1.Pod) {
	p.shared.Clock.AfterFunc(retryPause, func() {
		p.handle.Activate(klog.Background(), map[string]*corev1.Pod{pod.Namespace + "/" + pod.Name: pod})
	})
}
