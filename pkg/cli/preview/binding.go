// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/placement/rendezvous"
)

const bindingLong = `Compute how clusters are shared out among schedulers.

The result depends on the names alone, not on their order or on what was bound before. It is what the controller manager
does with clusters of one size and schedulers of one weight; with --load-factor no scheduler gets more than its fair
share times that, rounded up. With --then the command also tells what moves if a scheduler is added or removed.`

const bindingExample = `  # Six clusters, two schedulers
  berthctl preview binding --clusters c0,c1,c2,c3,c4,c5 --schedulers s0,s1

  # What moves if a third scheduler comes, for a program
  berthctl preview binding --clusters c0,c1,c2,c3,c4,c5 --schedulers s0,s1 --then add=s2 -o json`

// bindingOptions are the flags of preview binding.
type bindingOptions struct {
	clusters, schedulers *values.Names
	loadFactor           *values.Thousandths
	then                 string
	output               *output.Flag
}

// binding is the answer. The names of its fields are a promise to programs.
type binding struct {
	Bindings map[string]string `json:"bindings"`
	Load     map[string]int    `json:"load"`
	Then     *binding          `json:"then,omitempty"`
	Moves    []bindingMove     `json:"moves,omitzero"`
}

type bindingMove struct {
	Cluster string `json:"cluster"`
	From    string `json:"from"`
	To      string `json:"to"`
}

func newBinding(streams genericiooptions.IOStreams) *cobra.Command {
	o := &bindingOptions{
		clusters:   values.NewNames("cluster", 10_000),
		schedulers: values.NewNames("scheduler", rendezvous.MaxSchedulers),
		loadFactor: values.NewThousandths(values.Range{Min: 1000, Max: int64(rendezvous.MaxLoadFactor)}),
		output:     output.NewFlag(output.Table, output.JSON, output.YAML),
	}
	cmd := &cobra.Command{
		Use:     "binding --clusters CLUSTER,... --schedulers SCHEDULER,...",
		Short:   "Compute how clusters are shared out among schedulers",
		Long:    bindingLong,
		Example: bindingExample,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return o.run(streams.Out)
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.Var(o.clusters, "clusters", "names of the clusters")
	flags.Var(o.schedulers, "schedulers", "names of the schedulers")
	flags.Var(o.loadFactor, "load-factor",
		"how much more than its fair share a scheduler gets at most, instead of what the controller manager allows")
	flags.Lookup("load-factor").DefValue = ""
	flags.StringVar(&o.then, "then", "", "also tell what moves after this change: add=SCHEDULER or remove=SCHEDULER")
	o.output.AddTo(cmd)
	for _, required := range []string{"clusters", "schedulers"} {
		// It fails only for a flag that does not exist.
		_ = cmd.MarkFlagRequired(required)
	}
	return cmd
}

func (o *bindingOptions) run(out io.Writer) error {
	b, err := o.bind(o.schedulers.Values())
	if err != nil {
		return err
	}
	if o.then != "" {
		schedulers, err := o.changed()
		if err != nil {
			return fmt.Errorf("--then: %w", err)
		}
		if b.Then, err = o.bind(schedulers); err != nil {
			return err
		}
		b.Moves = b.moves(o.clusters.Values())
	}
	return o.output.Print(out, b, func(w io.Writer) error { return b.print(w, o.clusters.Values()) })
}

// bind shares the clusters out. Clusters without a scheduler are bound to "".
func (o *bindingOptions) bind(names []string) (*binding, error) {
	clusters := make([]rendezvous.Object, 0, len(o.clusters.Values()))
	for _, name := range o.clusters.Values() {
		clusters = append(clusters, rendezvous.Object{Name: name})
	}
	schedulers := make([]rendezvous.Server, 0, len(names))
	for _, name := range names {
		schedulers = append(schedulers, rendezvous.Server{Name: name})
	}
	assignment, err := rendezvous.Assign(clusters, schedulers,
		rendezvous.Options{LoadFactor: rendezvous.LoadFactor(o.loadFactor.Value())})
	if err != nil {
		return nil, err
	}
	b := &binding{Bindings: map[string]string{}, Load: map[string]int{}}
	for i, owner := range assignment.Owners {
		b.Bindings[clusters[i].Name] = ""
		if owner >= 0 {
			b.Bindings[clusters[i].Name] = names[owner]
		}
	}
	for i, load := range assignment.Loads {
		b.Load[names[i]] = load
	}
	return b, nil
}

// changed returns the schedulers after the change that --then asks for.
func (o *bindingOptions) changed() ([]string, error) {
	verb, name, _ := strings.Cut(o.then, "=")
	if verb != "add" && verb != "remove" {
		return nil, fmt.Errorf("must be add=SCHEDULER or remove=SCHEDULER, not %.64q", o.then)
	}
	if err := values.CheckName("scheduler", name); err != nil {
		return nil, err
	}
	known := slices.Contains(o.schedulers.Values(), name)
	switch {
	case verb == "add" && known:
		return nil, fmt.Errorf("scheduler %q is there already", name)
	case verb == "add":
		return append(slices.Clone(o.schedulers.Values()), name), nil
	case !known:
		return nil, fmt.Errorf("scheduler %q is not in --schedulers", name)
	}
	return slices.DeleteFunc(slices.Clone(o.schedulers.Values()), func(s string) bool { return s == name }), nil
}

func (b *binding) moves(clusters []string) []bindingMove {
	moves := []bindingMove{}
	for _, cluster := range slices.Sorted(slices.Values(clusters)) {
		if from, to := b.Bindings[cluster], b.Then.Bindings[cluster]; from != to {
			moves = append(moves, bindingMove{Cluster: cluster, From: from, To: to})
		}
	}
	return moves
}

func (b *binding) print(w io.Writer, clusters []string) error {
	columns := []output.Column{{Name: "Cluster"}, {Name: "Scheduler"}}
	if b.Then != nil {
		columns = append(columns, output.Column{Name: "Then"})
	}
	rows := make([][]any, 0, len(clusters))
	for _, cluster := range slices.Sorted(slices.Values(clusters)) {
		row := []any{cluster, orNone(b.Bindings[cluster])}
		if b.Then != nil {
			row = append(row, orNone(b.Then.Bindings[cluster]))
		}
		rows = append(rows, row)
	}
	if err := output.Rows(w, false, columns, rows); err != nil {
		return err
	}
	if b.Then == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%d of %d clusters move.\n", len(b.Moves), len(clusters))
	return err
}

func orNone(name string) string {
	if name == "" {
		return "<none>"
	}
	return name
}
