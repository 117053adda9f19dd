// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/input"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/scenario"
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
	filename   string
	stickiness rank.Stickiness
	output     *output.Flag
}

// rankingAnswer is the answer for one application. The names of its fields are a promise to programs.
type rankingAnswer struct {
	Application string        `json:"application"`
	Ranking     []rankedEntry `json:"ranking"`
}

type rankedEntry struct {
	Cluster  string      `json:"cluster"`
	Eligible bool        `json:"eligible"`
	Reasons  []string    `json:"reasons"`
	Score    float64     `json:"score"`
	Parts    []partEntry `json:"parts"`
}

type partEntry struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Weight float64 `json:"weight"`
}

var rankingColumns = []output.Column{
	{Name: "Application"}, {Name: "Cluster"}, {Name: "Eligible"}, {Name: "Score"}, {Name: "Parts"}, {Name: "Reasons"},
}

func newRanking(streams genericiooptions.IOStreams) *cobra.Command {
	o := &rankingOptions{
		stickiness: rank.DefaultStickiness,
		output:     output.NewFlag(output.Table, output.JSON, output.YAML),
	}
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
	flags := cmd.Flags()
	flags.StringVarP(&o.filename, "filename", "f", "", "file with the objects, - for standard input")
	flags.Float64Var(&o.stickiness.Value, "stickiness-value", o.stickiness.Value,
		"value of the stickiness of applications that set none")
	flags.Float64Var(&o.stickiness.Weight, "stickiness-weight", o.stickiness.Weight,
		"weight of the stickiness of applications that set none")
	o.output.AddTo(cmd)
	// They fail only for flags that do not exist.
	_ = cmd.MarkFlagRequired("filename")
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml", "json")
	return cmd
}

// maxStickiness is the largest stickiness that an application can set.
const maxStickiness = 1_000_000

func (o *rankingOptions) run(streams genericiooptions.IOStreams) error {
	for name, number := range map[string]float64{"value": o.stickiness.Value, "weight": o.stickiness.Weight} {
		if !(number >= 0 && number <= maxStickiness) {
			return fmt.Errorf("--stickiness-%s must be from 0 to %d", name, maxStickiness)
		}
	}
	raw, err := input.Read(o.filename, streams.In)
	if err != nil {
		return err
	}
	world, err := scenario.Read(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", input.Title(o.filename), err)
	}
	rankings := world.Rank(o.stickiness)
	answers := make([]rankingAnswer, 0, len(rankings))
	for i := range rankings {
		answers = append(answers, answerOf(&rankings[i]))
	}
	return o.print(streams.Out, answers)
}

func answerOf(ranking *scenario.Ranking) rankingAnswer {
	answer := rankingAnswer{Application: ranking.Application.Name, Ranking: make([]rankedEntry, 0, len(ranking.Results))}
	for i := range ranking.Results {
		result := &ranking.Results[i]
		entry := rankedEntry{
			Cluster: result.Name, Eligible: result.Eligible, Score: result.Score,
			Reasons: append(append([]string{}, result.Rejections...), result.Problems...),
			Parts:   make([]partEntry, 0, len(result.Parts)),
		}
		for _, part := range result.Parts {
			entry.Parts = append(entry.Parts, partEntry(part))
		}
		answer.Ranking = append(answer.Ranking, entry)
	}
	return answer
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
			parts := make([]string, 0, len(entry.Parts))
			for _, part := range entry.Parts {
				parts = append(parts, fmt.Sprintf("%s=%s*%s", part.Name, short(part.Value), short(part.Weight)))
			}
			score := orNone("")
			if entry.Eligible {
				score = short(entry.Score)
			}
			rows = append(rows, []any{
				answer.Application, entry.Cluster, entry.Eligible, score,
				orNone(strings.Join(parts, " ")), orNone(strings.Join(entry.Reasons, ", ")),
			})
		}
	}
	return rows
}

// short writes a number for people.
func short(number float64) string { return strconv.FormatFloat(number, 'g', 4, 64) }
