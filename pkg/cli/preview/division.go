// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/placement/apportion"
)

const (
	maxReplicas = 1_000_000

	// seatsShown is how many seats people are shown; programs get all.
	seatsShown = 20
)

const divisionLong = `Compute how a PropagationPolicy or a Subscription shares replicas out over clusters.

Replicas are shared out in proportion to the weights by Webster's method: seats are handed out one by one, and the
shares of N replicas are the first N seats. So the shares depend on weights and bounds only, never on what runs now.

With --current the command also tells by how many replicas each cluster has to grow or shrink. With --capacity a
cluster takes at most what runs there now plus that many; what exceeds it goes to the other clusters.

--strategy is for Subscriptions:

  static   by weight, as above; a cluster of weight 0 gets nothing
  spread   by free capacity
  binpack  in as few clusters as possible, the one with most room first

Spread and binpack share out the difference between --replicas and --current and leave the rest where it is. Weights do
not matter to them. Clusters that are not listed in --capacity take nothing more, and are the first to shrink.`

const divisionExample = `  # Seven replicas at 2:3
  berthctl preview division --replicas 7 --weights beijing=2,hangzhou=3

  # At least one replica in each cluster, at most four in hangzhou, for a program
  berthctl preview division --replicas 7 --weights beijing=2,hangzhou=3 \
    --min beijing=1,hangzhou=1 --max hangzhou=4 -o json

  # What changes if beijing has room for one more replica only
  berthctl preview division --replicas 10 --weights beijing=2,hangzhou=3 \
    --current beijing=2,hangzhou=3 --capacity beijing=1

  # Six replicas by free capacity, in two clusters at most
  berthctl preview division --strategy spread --replicas 6 --capacity beijing=3,hangzhou=6,shanghai=9 --max-clusters 2`

// divisionOptions are the flags of preview division.
type divisionOptions struct {
	replicas                             *values.Number
	weights, min, max, current, capacity *values.Pairs
	strategy                             string
	dynamic                              dynamicOptions
	output                               *output.Flag
}

// division is the answer. The names of its fields are a promise to programs.
type division struct {
	Replicas int64    `json:"replicas"`
	Unplaced int64    `json:"unplaced"`
	Shares   []share  `json:"shares"`
	Seats    []string `json:"seats"`
	Moves    []move   `json:"moves,omitzero"`
}

type share struct {
	Cluster  string `json:"cluster"`
	Replicas int64  `json:"replicas"`
}

type move struct {
	Cluster string `json:"cluster"`
	Change  int64  `json:"change"`
}

func newDivision(streams genericiooptions.IOStreams) *cobra.Command {
	replicas := values.Range{Max: math.MaxInt32}
	o := &divisionOptions{
		replicas: values.NewNumber(values.Range{Max: maxReplicas}),
		weights:  values.NewPairs(values.Range{Max: apportion.MaxWeight}),
		min:      values.NewPairs(replicas),
		max:      values.NewPairs(replicas),
		current:  values.NewPairs(replicas),
		capacity: values.NewPairs(replicas),
		dynamic:  newDynamicOptions(),
		output:   output.NewFlag(output.Table, output.JSON, output.YAML),
	}
	cmd := &cobra.Command{
		Use:     "division --replicas N {--weights CLUSTER=WEIGHT,... | --strategy spread --capacity CLUSTER=N,...}",
		Short:   "Compute how replicas are shared out over clusters",
		Long:    divisionLong,
		Example: divisionExample,
		Args:    cobra.NoArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			return o.checkStrategy(cmd)
		},
		RunE: func(*cobra.Command, []string) error {
			return o.run(streams.Out)
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.Var(o.replicas, "replicas", fmt.Sprintf("number of replicas to share out, at most %d", maxReplicas))
	flags.Var(o.weights, "weights", fmt.Sprintf("weight of each cluster, from 1 to %d; with a strategy from 0", apportion.MaxWeight))
	flags.Var(o.min, "min", "replicas that a cluster gets before weights count")
	flags.Var(o.max, "max", "replicas that a cluster gets at most")
	flags.Var(o.current, "current", "replicas that run in a cluster now")
	flags.Var(o.capacity, "capacity", "further replicas for which a cluster has room")
	flags.StringVar(&o.strategy, "strategy", "", "how a Subscription divides: static, spread or binpack")
	o.dynamic.addTo(flags)
	o.output.AddTo(cmd)
	// They fail only for flags that do not exist.
	_ = cmd.MarkFlagRequired("replicas")
	_ = cmd.RegisterFlagCompletionFunc("strategy",
		cobra.FixedCompletions(strategies, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *divisionOptions) run(out io.Writer) error {
	d, err := o.divide()
	if err != nil {
		return err
	}
	return o.output.Print(out, d, func(w io.Writer) error { return d.print(w, o.current.Values()) })
}

func (o *divisionOptions) divide() (division, error) {
	if o.isDynamic() {
		return o.divideByRoom()
	}
	clusters, err := o.clusters()
	if err != nil {
		return division{}, err
	}
	order, err := apportion.NewOrder(clusters)
	if err != nil {
		return division{}, err
	}
	return divideByWeight(order, o.replicas.Value(), o.current.Values()), nil
}

// clusters returns the clusters by name with all their bounds.
func (o *divisionOptions) clusters() ([]apportion.Cluster, error) {
	weights := o.weights.Values()
	if err := o.checkWeights(); err != nil {
		return nil, err
	}
	for _, flag := range []struct {
		name   string
		values *values.Pairs
	}{{"min", o.min}, {"max", o.max}, {"current", o.current}, {"capacity", o.capacity}} {
		for _, name := range slices.Sorted(maps.Keys(flag.values.Values())) {
			if _, known := weights[name]; !known {
				return nil, fmt.Errorf("--%s: cluster %q has no weight: add it to --weights", flag.name, name)
			}
		}
	}
	clusters := make([]apportion.Cluster, 0, len(weights))
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		c := apportion.Cluster{Name: name, Weight: weights[name], Min: o.min.Values()[name]}
		if most, bounded := o.max.Values()[name]; bounded {
			c.Max = &most
		}
		if c.Max != nil && c.Min > *c.Max {
			return nil, fmt.Errorf("cluster %q: --min %d is larger than --max %d", name, c.Min, *c.Max)
		}
		clusters = append(clusters, c)
	}
	return apportion.Limit(clusters, o.room())
}

// room returns how many replicas the clusters with a capacity can hold at all.
func (o *divisionOptions) room() map[string]int64 {
	room := maps.Clone(o.capacity.Values())
	for name := range room {
		room[name] += o.current.Values()[name]
	}
	return room
}

// divideByWeight shares replicas out.
func divideByWeight(order *apportion.Order, replicas int64, current map[string]int64) division {
	shares, unplaced := order.Shares(replicas)
	return newDivisionOf(unplaced, order.Name, shares, order.Seats(replicas), current)
}

// newDivisionOf returns the answer for clusters by index. It lists moves only if it is told what
// runs now.
func newDivisionOf(
	unplaced int64, name func(int) string, shares []int64, seats []int32, current map[string]int64,
) division {
	d := division{Replicas: unplaced, Unplaced: unplaced, Seats: make([]string, len(seats))}
	if current != nil {
		d.Moves = []move{}
	}
	for i, n := range shares {
		cluster := name(i)
		d.Replicas += n
		d.Shares = append(d.Shares, share{Cluster: cluster, Replicas: n})
		if change := n - current[cluster]; current != nil && change != 0 {
			d.Moves = append(d.Moves, move{Cluster: cluster, Change: change})
		}
	}
	for seat, cluster := range seats {
		d.Seats[seat] = name(int(cluster))
	}
	return d
}

func (d division) print(w io.Writer, current map[string]int64) error {
	columns := []output.Column{{Name: "Cluster"}, {Name: "Replicas"}}
	if current != nil {
		columns = append(columns, output.Column{Name: "Current"}, output.Column{Name: "Change"})
	}
	rows := make([][]any, 0, len(d.Shares))
	for _, s := range d.Shares {
		row := []any{s.Cluster, s.Replicas}
		if current != nil {
			row = append(row, current[s.Cluster], fmt.Sprintf("%+d", s.Replicas-current[s.Cluster]))
		}
		rows = append(rows, row)
	}
	if err := output.Rows(w, false, columns, rows); err != nil {
		return err
	}
	if d.Unplaced > 0 {
		fmt.Fprintf(w, "\n%d of %d replicas find no place: all clusters are full.\n", d.Unplaced, d.Replicas)
	}
	if len(d.Seats) > 0 {
		shown := d.Seats[:min(len(d.Seats), seatsShown)]
		fmt.Fprintf(w, "\nSeats in order: %s", strings.Join(shown, ", "))
		if more := len(d.Seats) - len(shown); more > 0 {
			fmt.Fprintf(w, " and %d more (-o json lists all)", more)
		}
		fmt.Fprintln(w)
	}
	return nil
}
