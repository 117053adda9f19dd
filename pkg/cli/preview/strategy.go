// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/divide"
)

// The values of --strategy.
const (
	strategyStatic  = "static"
	strategySpread  = "spread"
	strategyBinpack = "binpack"
)

var strategies = []string{strategyStatic, strategySpread, strategyBinpack}

// dynamicOptions are the flags that matter to spread and binpack only.
type dynamicOptions struct {
	minClusters, maxClusters *values.Number
	preferred                *values.Pairs
	rebalance                bool
}

func newDynamicOptions() dynamicOptions {
	return dynamicOptions{
		minClusters: values.NewNumber(values.Range{Max: values.MaxPairs}),
		maxClusters: values.NewNumber(values.Range{Max: values.MaxPairs}),
		preferred:   values.NewPairs(values.Range{Min: 1, Max: apportion.MaxWeight}),
	}
}

func (o *dynamicOptions) addTo(flags *pflag.FlagSet) {
	flags.Var(o.minClusters, "min-clusters", "clusters that get a replica at least (spread and binpack)")
	flags.Var(o.maxClusters, "max-clusters", "clusters that get replicas at most, 0 for any number (spread and binpack)")
	flags.Var(o.preferred, "preferred", "preference of a cluster: those with the largest are filled first (spread and binpack)")
	flags.BoolVar(&o.rebalance, "rebalance", false, "divide all replicas anew, also those that run now (spread and binpack)")
}

func (o *divisionOptions) isDynamic() bool {
	return o.strategy == strategySpread || o.strategy == strategyBinpack
}

// checkStrategy finds flags that do not go with the strategy. Weights are required where they
// count.
func (o *divisionOptions) checkStrategy(cmd *cobra.Command) error {
	o.strategy = strings.ToLower(o.strategy)
	if o.strategy != "" && !slices.Contains(strategies, o.strategy) {
		return fmt.Errorf("--strategy must be static, spread or binpack, not %.64q", o.strategy)
	}
	foreign, with := []string{"min", "max"}, "static"
	if !o.isDynamic() {
		foreign, with = []string{"min-clusters", "max-clusters", "preferred", "rebalance"}, "spread or binpack"
	}
	for _, name := range foreign {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s goes with --strategy %s only", name, with)
		}
	}
	if o.isDynamic() {
		cmd.MarkFlagsOneRequired("capacity", "current")
		return nil
	}
	return cmd.MarkFlagRequired("weights")
}

// checkWeights refuses weight 0 where no strategy is given, as a PropagationPolicy does, and
// weights that are all 0.
func (o *divisionOptions) checkWeights() error {
	weights := o.weights.Values()
	var sum int64
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		if weights[name] == 0 && o.strategy == "" {
			return fmt.Errorf("--weights: cluster %q: the value must be a whole number from 1 to %d, not \"0\"",
				name, apportion.MaxWeight)
		}
		sum += weights[name]
	}
	if sum == 0 {
		return fmt.Errorf("--weights: %w", divide.ErrNoWeight)
	}
	return nil
}

// divideByRoom shares replicas out by free capacity.
func (o *divisionOptions) divideByRoom() (division, error) {
	clusters, err := o.roomyClusters()
	if err != nil {
		return division{}, err
	}
	demand := divide.Load{
		Strategy: divide.Spread, Replicas: o.replicas.Value(), Rebalance: o.dynamic.rebalance,
		MinClusters: o.dynamic.minClusters.Value(), MaxClusters: o.dynamic.maxClusters.Value(),
	}
	if o.strategy == strategyBinpack {
		demand.Strategy = divide.Binpack
	}
	if demand.MaxClusters > 0 && demand.MinClusters > demand.MaxClusters {
		return division{}, fmt.Errorf("--min-clusters %d is larger than --max-clusters %d", demand.MinClusters, demand.MaxClusters)
	}
	d, err := divide.Divide(demand, clusters)
	if err != nil {
		return division{}, err
	}
	name := func(i int) string { return clusters[i].Name }
	return newDivisionOf(d.Unplaced, name, d.Shares, d.Seats(), o.current.Values()), nil
}

// roomyClusters returns all clusters that are named, by name. Who has no capacity takes nothing
// more.
func (o *divisionOptions) roomyClusters() ([]divide.Target, error) {
	capacity, current, preferred := o.capacity.Values(), o.current.Values(), o.dynamic.preferred.Values()
	all := maps.Clone(o.weights.Values())
	if all == nil {
		all = map[string]int64{}
	}
	maps.Copy(all, capacity)
	maps.Copy(all, current)
	for _, name := range slices.Sorted(maps.Keys(preferred)) {
		if _, known := all[name]; !known {
			return nil, fmt.Errorf("--preferred: cluster %q has no capacity: add it to --capacity", name)
		}
	}
	clusters := make([]divide.Target, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		free, open := capacity[name]
		clusters = append(clusters, divide.Target{
			Name: name, Free: free, Held: current[name], Closed: !open, Preference: preferred[name],
		})
	}
	return clusters, nil
}
