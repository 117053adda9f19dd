// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
)

// Home is the recorded binding of a cluster, or of what belongs to none.
type Home struct {
	// Scheduler is the name of the Scheduler, empty for none.
	Scheduler string
	// UID is that of the Cluster, empty for what belongs to none.
	UID types.UID
	// Draining is true while the Scheduler is to give it up.
	Draining bool
	// Revision tells this state of the binding from earlier ones.
	Revision int64
}

// HomeOf returns the recorded binding of a cluster.
func HomeOf(c *berthv1alpha1.Cluster) Home {
	return Home{
		Scheduler: c.Status.HomeScheduler, UID: c.UID, Draining: c.Status.HomeTransfer != nil, Revision: c.Status.HomeRevision,
	}
}

// Homes is an immutable picture of all Schedulers and of which cluster is bound to which.
type Homes struct {
	// Clusters are the bindings of those that have a home, by name; berthv1alpha1.CommonsName is
	// among them if a Scheduler has what belongs to no cluster.
	Clusters map[string]Home
	// Drained is what the Scheduler of this process has acknowledged.
	Drained []berthv1alpha1.Drained
	// Sharing is true while it has said that it leaves clusters alone which are bound to nobody.
	Sharing bool
	// Spending is what it says of its grants of ClusterResources.
	Spending *berthv1alpha1.Spending
	// Others is what the other Schedulers that may run say of theirs, by name.
	Others map[string]*berthv1alpha1.Spending
	// Leaving is true while it is being deleted.
	Leaving bool
	// Shared is true if there is another scheduler than that of this process. Otherwise this
	// process takes everything. To a process that is no Scheduler those are others that may run, or
	// to which something is still bound.
	Shared bool
	// Living is true if one of the other Schedulers may run.
	Living bool
	// Other is the first by name of the other Schedulers, of those that may run if there are any,
	// nil for none.
	Other *berthv1alpha1.Scheduler
	// Registered is true if there is a Scheduler for this process, which is not being deleted and
	// does not count as dead.
	Registered bool
}

// isDead reports whether it is known that no process of a Scheduler runs. One that was just made
// may have a process already.
func isDead(s *berthv1alpha1.Scheduler) bool {
	return apimeta.IsStatusConditionFalse(s.Status.Conditions, berthv1alpha1.SchedulerReady)
}

// HomeCatalog keeps the newest Homes. It is safe for concurrent use.
type HomeCatalog struct {
	*board[Homes]
}

// NewHomeCatalog is New for Schedulers and bindings, as the Scheduler of the given name sees them;
// empty for a process that is no Scheduler.
func NewHomeCatalog(
	client versioned.Interface, self string, clk clock.WithTicker, patience time.Duration, onChange func(before, after *Homes),
) (*HomeCatalog, error) {
	c := &HomeCatalog{newBoard("Schedulers or Clusters", clk, patience, onChange)}
	berth := client.BerthV1alpha1()
	schedulers, err := newSource("Scheduler", listWatch(berth.Schedulers()), &berthv1alpha1.Scheduler{}, clk, schedulerChanged, c.markDirty)
	if err != nil {
		return nil, fmt.Errorf("preparing the watch of Schedulers: %w", err)
	}
	clusters, err := newSource("", listWatch(berth.Clusters()), &berthv1alpha1.Cluster{}, clk, homeChanged, c.markDirty)
	if err != nil {
		return nil, fmt.Errorf("preparing the watch of the homes of Clusters: %w", err)
	}
	c.sources = []*source{schedulers, clusters}
	c.build = func(*Homes) *Homes {
		return buildHomes(self, typed[*berthv1alpha1.Scheduler](schedulers), typed[*berthv1alpha1.Cluster](clusters))
	}
	return c, nil
}

func schedulerChanged(oldObj, newObj any) bool {
	before, okBefore := oldObj.(*berthv1alpha1.Scheduler)
	after, okAfter := newObj.(*berthv1alpha1.Scheduler)
	return !okBefore || !okAfter || before.UID != after.UID ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() || isDead(before) != isDead(after) ||
		!equality.Semantic.DeepEqual(before.Status.Commons, after.Status.Commons) ||
		!equality.Semantic.DeepEqual(before.Status.Drained, after.Status.Drained) || before.Status.Sharing != after.Status.Sharing ||
		!equality.Semantic.DeepEqual(before.Status.Spending, after.Status.Spending)
}

func homeChanged(oldObj, newObj any) bool {
	before, okBefore := oldObj.(*berthv1alpha1.Cluster)
	after, okAfter := newObj.(*berthv1alpha1.Cluster)
	return !okBefore || !okAfter || before.UID != after.UID || HomeOf(before) != HomeOf(after)
}

func buildHomes(self string, schedulers []*berthv1alpha1.Scheduler, clusters []*berthv1alpha1.Cluster) *Homes {
	h := &Homes{Clusters: make(map[string]Home, len(clusters))}
	for _, s := range schedulers {
		if s.Name == self {
			h.Leaving, h.Drained, h.Spending = s.DeletionTimestamp != nil, s.Status.Drained, s.Status.Spending
			h.Sharing = s.Status.Sharing
			h.Registered = !h.Leaving && !isDead(s)
		} else {
			h.addOther(self, s)
		}
		if c := s.Status.Commons; c != nil {
			h.Clusters[berthv1alpha1.CommonsName] = Home{Scheduler: s.Name, Draining: c.Draining, Revision: c.Revision}
		}
	}
	for _, c := range clusters {
		if home := HomeOf(c); home.Scheduler != "" {
			h.Clusters[c.Name] = home
		}
	}
	h.compare(self, schedulers)
	return h
}

// compare finds out whether something is bound to another scheduler.
func (h *Homes) compare(self string, schedulers []*berthv1alpha1.Scheduler) {
	known := make(map[string]bool, len(schedulers))
	for _, s := range schedulers {
		known[s.Name] = true
	}
	for name, home := range h.Clusters {
		// A binding to another scheduler, or on its way to one, may be seen before that scheduler is.
		// A process without a name need not care for one that is gone.
		foreign := home.Scheduler != self || home.Draining && name != berthv1alpha1.CommonsName
		h.Shared = h.Shared || foreign && (self != "" || known[home.Scheduler])
	}
}

// addOther adds a Scheduler that is not that of this process. A named process keeps to what is
// bound to it as soon as there is another one, whether that runs or not. One without a name stands
// back for those that may run.
func (h *Homes) addOther(self string, s *berthv1alpha1.Scheduler) {
	living := !isDead(s)
	if living && s.DeletionTimestamp == nil && s.Status.Spending != nil {
		if h.Others == nil {
			h.Others = map[string]*berthv1alpha1.Spending{}
		}
		h.Others[s.Name] = s.Status.Spending
	}
	h.Shared = h.Shared || living || self != ""
	switch {
	case h.Other == nil, living && !h.Living, living == h.Living && s.Name < h.Other.Name:
		h.Other = s
	}
	h.Living = h.Living || living
}
