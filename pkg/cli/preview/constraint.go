// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/placement/constraint"
)

const constraintLong = `Read a placement constraint and tell whether labels or metrics meet it.

Label constraints know is (= ==), is not (!=), in (...) and not in (...). Metric constraints know is (= ==), is not (!=),
less than (< lt), less than or equal (<= =< lte), greater than (> gt) and greater than or equal (>= => gte). A label or
metric that is missing meets no constraint, not even "is not" or "not in".`

const constraintExample = `  # Would a place with these labels do?
  berthctl preview constraint 'location is not DE' --labels location=SK,tier=gold

  # The same for metrics, for a program
  berthctl preview constraint 'load <= 5' --kind metric --metrics load=4 -o json`

// constraintOptions are the flags of preview constraint.
type constraintOptions struct {
	kind            string
	labels, metrics values.Texts
	output          *output.Flag
}

// constraintAnswer is the answer. The names of its fields are a promise to programs.
type constraintAnswer struct {
	Kind      constraint.Kind     `json:"kind"`
	Key       string              `json:"key"`
	Operator  constraint.Operator `json:"operator"`
	Values    []string            `json:"values"`
	Canonical string              `json:"canonical"`
	Matches   bool                `json:"matches"`

	found bool
}

func newConstraint(streams genericiooptions.IOStreams) *cobra.Command {
	o := &constraintOptions{output: output.NewFlag(output.Text, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use:     "constraint CONSTRAINT",
		Short:   "Read a placement constraint and tell whether it is met",
		Long:    constraintLong,
		Example: constraintExample,
		Args:    oneConstraint,
		RunE: func(_ *cobra.Command, args []string) error {
			return o.run(streams.Out, args[0])
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.kind, "kind", string(constraint.Label), "what the constraint speaks of: label or metric")
	flags.Var(&o.labels, "labels", "labels of the place")
	flags.Var(&o.metrics, "metrics", "values of the metrics of the place")
	o.output.AddTo(cmd)
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(
		[]string{string(constraint.Label), string(constraint.Metric)}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func oneConstraint(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments, give the constraint as one, in quotes: %s 'location is DE'", len(args), cmd.CommandPath())
	}
	return nil
}

func (o *constraintOptions) run(out io.Writer, text string) error {
	kind := constraint.Kind(o.kind)
	if kind != constraint.Label && kind != constraint.Metric {
		return fmt.Errorf("--kind must be label or metric, not %.64q", o.kind)
	}
	metrics, err := o.numbers()
	if err != nil {
		return err
	}
	c, err := constraint.Parse(kind, text)
	if err != nil {
		return fmt.Errorf("constraint %.100q: %w", text, err)
	}
	answer := &constraintAnswer{
		Kind: c.Kind(), Key: c.Key(), Operator: c.Operator(), Values: c.Values(), Canonical: c.String(),
	}
	if kind == constraint.Label {
		answer.Matches, answer.found = c.MatchLabels(o.labels.Values())
	} else {
		answer.Matches, answer.found = c.MatchMetrics(metrics)
	}
	return o.output.Print(out, answer, answer.print)
}

// numbers reads the values of the metrics. A value that is not a number, "nan", is what a provider
// can really answer: it is taken, and meets no constraint.
func (o *constraintOptions) numbers() (map[string]constraint.Number, error) {
	numbers := map[string]constraint.Number{}
	for name, text := range o.metrics.Values() {
		if strings.EqualFold(text, "nan") {
			numbers[name] = constraint.Number{}
			continue
		}
		number, err := constraint.ParseNumber(text)
		if err != nil {
			return nil, fmt.Errorf("--metrics: the value %.64q of %.64q is %w", text, name, err)
		}
		numbers[name] = number
	}
	return numbers, nil
}

func (a *constraintAnswer) print(w io.Writer) error {
	verdict := "is met"
	switch {
	case a.Matches:
	case a.found:
		verdict = "is not met"
	default:
		verdict = fmt.Sprintf("is not met: there is no %s %s", a.Kind, a.Key)
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", a.Canonical, verdict)
	return err
}
