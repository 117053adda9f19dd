// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"fmt"
	"math/bits"

	"berth.dev/berth/pkg/placement/rendezvous"
)

// Scheduler is a scheduler as the bindings see it.
type Scheduler struct {
	// Name is the name of the Scheduler.
	Name string
	// Weight is its share of the clusters in relation to the others, 1 to rendezvous.maxWeight; 0
	// counts as 1.
	Weight int
	// Registered is false for one that is only known because clusters are bound to it.
	Registered bool
	// Leaving is true while it is being deleted: it gets nothing and gives up what it has.
	Leaving bool
	// Alive is true while its lease is held, and for as long after that as the lease lasts.
	Alive bool
	// Fenced is true if it is certain that it binds nothing any more, because its lease belongs to
	// somebody else.
	Fenced bool
	// Alone is true while it may place pods on clusters that nobody has: it has not said that it
	// knows of others.
	Alone bool
	// Drained are the revisions that it has acknowledged, by cluster.
	Drained map[string]int64
}

// Takes reports whether the scheduler may be given clusters. There may be none.
func (s *Scheduler) Takes() bool {
	return s != nil && s.Registered && !s.Leaving && s.Alive
}

// BoundCluster is a cluster with its recorded binding.
type BoundCluster struct {
	// Name is the name of the Cluster.
	Name string
	// Pin is the scheduler that the user wants, empty for any.
	Pin string
	// Leaving is true while the Cluster is being deleted.
	Leaving bool
	// Size is what the cluster costs its scheduler in relation to others; 0 counts as 1.
	Size int
	// Region, Province and City are where the cluster lies, empty if that is not known.
	Region, Province, City string
	// Record is the binding.
	Record Record
}

// SizeOf returns what a cluster costs its scheduler: its number of nodes, rounded down to a power
// of two so that it seldom changes; 0 without nodes.
func SizeOf(nodes int) int {
	if nodes <= 0 {
		return 0
	}
	return 1 << (bits.Len(uint(nodes)) - 1)
}

// Schedulers are schedulers by name.
type Schedulers map[string]*Scheduler

// Taking returns how many schedulers may be given clusters.
func (s Schedulers) Taking() int {
	n := 0
	for _, scheduler := range s {
		if scheduler.Takes() {
			n++
		}
	}
	return n
}

// Alone returns the first by name of the schedulers other than the given one that may place pods on
// clusters which nobody has, empty if none may.
func (s Schedulers) Alone(given string) (first string) {
	for name, scheduler := range s {
		if name != given && scheduler.Alone && scheduler.Alive && !scheduler.Fenced && (first == "" || name < first) {
			first = name
		}
	}
	return first
}

// Desired returns the scheduler to which each cluster, as given, should be bound: the one it is
// pinned to if that is ready, otherwise what rendezvous hashing says. A cluster that is being
// deleted should be bound to none, and none to a scheduler that is not ready: while no scheduler
// is, a scheduler without a name places pods everywhere. The result does not depend on the order
// of anything. It fails if there are more clusters or schedulers than can be shared out.
func Desired(clusters []BoundCluster, schedulers Schedulers) ([]string, error) {
	return DesiredBy(rendezvous.GroupByNone, clusters, schedulers)
}

// DesiredBy is Desired where clusters of one place are kept together as far as the balance allows.
func DesiredBy(place rendezvous.GroupBy, clusters []BoundCluster, schedulers Schedulers) ([]string, error) {
	desired := make([]string, len(clusters))
	var ready []rendezvous.Server
	for _, s := range schedulers {
		if s.Takes() {
			ready = append(ready, rendezvous.Server{Name: s.Name, Weight: s.Weight})
		}
	}
	if len(ready) == 0 {
		return desired, nil
	}
	var shared []rendezvous.Object
	var at []int
	for i, c := range clusters {
		if c.Leaving {
			continue
		}
		shared = append(shared, rendezvous.Object{
			Name: c.Name, Pin: c.Pin, Size: c.Size, Region: c.Region, Province: c.Province, City: c.City,
		})
		at = append(at, i)
	}
	assignment, err := rendezvous.Assign(shared, ready, rendezvous.Options{GroupBy: place})
	if err != nil {
		return nil, fmt.Errorf("sharing clusters out among schedulers: %w", err)
	}
	for k, owner := range assignment.Owners {
		desired[at[k]] = ready[owner].Name
	}
	return desired, nil
}
