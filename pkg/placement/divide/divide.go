// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package divide

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"berth.dev/berth/pkg/placement/apportion"
)

// Strategy says by what replicas are divided.
type Strategy string

const (
	// Replication gives all replicas to each cluster.
	Replication Strategy = "Replication"

	// Static divides by weight.
	Static Strategy = "Static"

	// Spread divides by free capacity.
	Spread Strategy = "Spread"

	// Binpack uses as few clusters as possible.
	Binpack Strategy = "Binpack"
)

// ByRoom reports whether free capacity decides.
func (s Strategy) ByRoom() bool { return s == Spread || s == Binpack }

// MaxReplicas is the largest number of replicas, capacity included, that one cluster can have.
const MaxReplicas = math.MaxInt32

// Target is a place that can take replicas, or holds some.
type Target struct {
	// Name identifies the cluster and breaks ties.
	Name string

	// Weight counts for Static only: 0 to apportion.MaxWeight. A cluster of weight 0 gets nothing.
	Weight int64

	// Free is the number of further replicas that the cluster has room for, beside those it holds.
	// It counts for Spread and Binpack. 0 to MaxReplicas.
	Free int64

	// Held is the number of replicas that the cluster was given before. It counts for Spread and
	// Binpack. 0 to MaxReplicas.
	//
	// Who places the replicas of one division one after the other leaves Held as it was when the
	// division began, and adds to Free what has been placed since: then each step finds the same
	// shares.
	Held int64

	// Closed says that the cluster takes no further replicas, because it left or is not selected
	// any more. It keeps what it holds while nothing shrinks, and is the first to shrink.
	Closed bool

	// Preference orders clusters for Spread and Binpack: those with the largest take as many
	// replicas as possible, the next ones what is left.
	Preference int64
}

// Load is what is to be divided.
type Load struct {
	// Strategy says how.
	Strategy Strategy

	// Replicas is the number of replicas wanted, not negative.
	Replicas int64

	// MinClusters is the number of clusters that get at least one replica, as far as there are as
	// many replicas, and clusters with room. It counts for Spread and Binpack. A division that is
	// as wanted stays, whatever it says.
	MinClusters int64

	// MaxClusters is the number of clusters that hold replicas at most, 0 for any number. It counts
	// for Spread and Binpack. Clusters beyond it that hold replicas already keep them while nothing
	// shrinks.
	MaxClusters int64

	// Rebalance forgets what clusters hold: what they hold counts as room, and all replicas are
	// divided anew.
	Rebalance bool
}

// Division is how replicas are divided.
type Division struct {
	// Shares holds the replicas of each cluster, as the clusters were given.
	Shares []int64

	// Unplaced is the number of replicas that find no room. It is 0 for Replication.
	Unplaced int64

	clusters []Target
	kept     []int64 // what each cluster held and keeps
	runs     []run   // what has been added, in order
}

// ErrNoWeight says that replicas are to be divided by weights that are all 0.
var ErrNoWeight = errors.New("all weights are 0: give at least one cluster a weight")

// Divide divides replicas over clusters. It fails, naming the cluster, if a name is empty or given
// twice or a number is out of range; and if there is no cluster, the strategy is unknown, or
// MinClusters exceeds MaxClusters.
func Divide(demand Load, clusters []Target) (Division, error) {
	if err := demand.validate(); err != nil {
		return Division{}, err
	}
	if err := validate(clusters); err != nil {
		return Division{}, err
	}
	switch demand.Strategy {
	case Replication:
		return replicate(demand.Replicas, len(clusters)), nil
	case Static:
		return static(demand.Replicas, clusters)
	}
	if demand.Rebalance {
		clusters = forgotten(clusters)
	}
	d := &divider{Load: &demand, clusters: clusters}
	change := demand.Replicas - d.total()
	if change < 0 {
		return d.shrink(-change)
	}
	return d.grow(change)
}

func (d *Load) validate() error {
	switch {
	case !slices.Contains([]Strategy{Replication, Static, Spread, Binpack}, d.Strategy):
		return fmt.Errorf("unknown strategy %.64q", string(d.Strategy))
	case d.Replicas < 0:
		return fmt.Errorf("replicas %d is negative", d.Replicas)
	case d.MinClusters < 0:
		return fmt.Errorf("minClusters %d is negative", d.MinClusters)
	case d.MaxClusters < 0:
		return fmt.Errorf("maxClusters %d is negative", d.MaxClusters)
	case d.MaxClusters > 0 && d.MinClusters > d.MaxClusters:
		return fmt.Errorf("minClusters %d is larger than maxClusters %d", d.MinClusters, d.MaxClusters)
	}
	return nil
}

func validate(clusters []Target) error {
	if len(clusters) == 0 {
		return errors.New("no clusters to divide replicas over")
	}
	seen := make(map[string]struct{}, len(clusters))
	for i := range clusters {
		c := &clusters[i]
		if c.Name == "" {
			return fmt.Errorf("cluster at index %d has no name", i)
		}
		if _, twice := seen[c.Name]; twice {
			return fmt.Errorf("cluster %q is listed twice", c.Name)
		}
		seen[c.Name] = struct{}{}
		switch {
		case c.Weight < 0 || c.Weight > apportion.MaxWeight:
			return fmt.Errorf("cluster %q: weight %d is not in the range [0, %d]", c.Name, c.Weight, apportion.MaxWeight)
		case c.Free < 0 || c.Free > MaxReplicas:
			return fmt.Errorf("cluster %q: free capacity %d is not in the range [0, %d]", c.Name, c.Free, MaxReplicas)
		case c.Held < 0 || c.Held > MaxReplicas:
			return fmt.Errorf("cluster %q: held %d is not in the range [0, %d]", c.Name, c.Held, MaxReplicas)
		}
	}
	return nil
}

func replicate(replicas int64, clusters int) Division {
	d := Division{Shares: make([]int64, clusters)}
	for i := range d.Shares {
		d.Shares[i] = replicas
	}
	return d
}

func static(replicas int64, clusters []Target) (Division, error) {
	weighted := make([]apportion.Cluster, len(clusters))
	members := make([]int, len(clusters))
	var sum int64
	for i := range clusters {
		weighted[i] = apportion.Cluster{Name: clusters[i].Name, Weight: clusters[i].Weight}
		members[i] = i
		sum += clusters[i].Weight
	}
	if sum == 0 {
		return Division{}, ErrNoWeight
	}
	order, err := apportion.NewOrder(weighted)
	if err != nil {
		return Division{}, err
	}
	d := Division{runs: []run{{order: order, members: members, replicas: replicas}}}
	d.Shares, d.Unplaced = order.Shares(replicas)
	return d, nil
}

// forgotten returns the clusters with nothing held: what a cluster holds is room for replicas all
// the same.
func forgotten(clusters []Target) []Target {
	clusters = slices.Clone(clusters)
	for i := range clusters {
		c := &clusters[i]
		c.Free, c.Held = min(c.Free+c.Held, MaxReplicas), 0
	}
	return clusters
}
