// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/scenario"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/placement/rank"
)

const rankingLong = `Rank clusters for the applications of a file, and tell why.

The file holds Clusters, Metrics, GlobalMetrics, their providers and Applications, as YAML documents or JSON. Values come
from providers of type static. For other providers the values count that stand in status.metrics of the clusters. A cluster
counts as online unless its condition Online says otherwise. An application runs where its status.scheduledTo says.

Clusters that can be chosen come first, the best one at the top. With several applications there is one answer for each.`

const rankingExample = `  # Which cluster would be chosen, and why?
  berthctl preview ranking -f scenario.yaml

  # What if the metrics of today were those of the file, for a program
  kubectl get clusters.berth.dev,globalmetrics.berth.dev,globalmetricsproviders.berth.dev,applications.berth.dev -o json |
    berthctl preview ranking -f - -o json`

// rankingOptions are the flags of preview ranking.
type rankingOptions struct {
	file       values.File
	stickiness values.Stickiness
	output     *output.Flag
}

// rankingAnswer is the answer for one application. The names of its fields are a promise to
// programs.
type rankingAnswer struct {
	Application string           `json:"application"`
	Ranking     []explain.Ranked `json:"ranking"`
}

var rankingColumns = []output.Column{
	{Name: "Application"}, {Name: "Cluster"}, {Name: "Eligible"}, {Name: "Score"}, {Name: "Parts"}, {Name: "Reasons"},
}

func newRanking(streams genericiooptions.IOStreams) *cobra.Command {
	o := &rankingOptions{output: output.NewFlag(output.Table, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use:     "ranking -f FILE",
		Short:   "Rank clusters for an application",
		Long:    rankingLong,
		Example: rankingExample,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return o.run(streams)
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	o.file.AddTo(cmd, "file with the objects")
	o.stickiness.AddTo(cmd.Flags(), "")
	o.output.AddTo(cmd)
	// It fails only for a flag that does not exist.
	_ = cmd.MarkFlagRequired("filename")
	return cmd
}

func (o *rankingOptions) run(streams genericiooptions.IOStreams) error {
	if err := o.stickiness.Check(); err != nil {
		return err
	}
	world, err := values.ReadFile(&o.file, streams.In, scenario.Read)
	if err != nil {
		return err
	}
	rankings := world.Rank(o.stickiness.Stickiness)
	answers := make([]rankingAnswer, 0, len(rankings))
	for i := range rankings {
		answers = append(answers, rankingAnswer{
			Application: rankings[i].Application.Name, Ranking: explain.RankedOf(rankings[i].Results),
		})
	}
	return o.print(streams.Out, answers)
}

// print writes one table for all applications, or one document for each.
func (o *rankingOptions) print(w io.Writer, answers []rankingAnswer) error {
	if o.output.ForPeople() {
		return o.output.Print(w, answers, func(w io.Writer) error { return output.Rows(w, false, rankingColumns, rows(answers)) })
	}
	for i := range answers {
		if i > 0 && o.output.String() == string(output.YAML) {
			if _, err := io.WriteString(w, "---\n"); err != nil {
				return err
			}
		}
		if err := o.output.Print(w, &answers[i], nil); err != nil {
			return err
		}
	}
	return nil
}

func rows(answers []rankingAnswer) [][]any {
	var rows [][]any
	for _, answer := range answers {
		for _, entry := range answer.Ranking {
			score := orNone("")
			if entry.Eligible {
				score = rank.Digits(entry.Score)
			}
			rows = append(rows, []any{
				answer.Application, entry.Cluster, entry.Eligible, score,
				orNone(entry.Sum()), orNone(strings.Join(entry.Reasons, ", ")),
			})
		}
	}
	return rows
}
