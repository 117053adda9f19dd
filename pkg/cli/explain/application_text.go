// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/placement/rank"
)

var rankingColumns = []output.Column{
	{Name: "Cluster"}, {Name: "Eligible"}, {Name: "Score"}, {Name: "Parts"}, {Name: "Says"},
}

// printApplication writes the answer for people.
func printApplication(w io.Writer, a *explain.ApplicationAnswer) error {
	title := func(name, value string) { fmt.Fprintf(w, "%-13s%s\n", name+":", output.OneLine(value)) }
	title("Application", a.Namespace+"/"+a.Application)
	title("Cluster", orDash(a.ScheduledTo))
	for _, c := range a.Conditions {
		title(c.Type, fmt.Sprintf("%s (%s), %s", c.Status, c.Reason, c.Message))
	}
	if a.NextReview != nil {
		title("Next review", timeOf(*a.NextReview))
	}
	if len(a.Ranking) == 0 {
		fmt.Fprintln(w, "\nThere are no clusters.")
	} else if err := printRanking(w, a); err != nil {
		return err
	}
	return printDecisions(w, a)
}

// printRanking writes the clusters, the best one first.
func printRanking(w io.Writer, a *explain.ApplicationAnswer) error {
	fmt.Fprintln(w)
	rows := make([][]any, 0, len(a.Ranking))
	for i := range a.Ranking {
		entry := &a.Ranking[i]
		score := "-"
		if entry.Eligible {
			score = rank.Digits(entry.Score)
		}
		rows = append(rows, []any{
			entry.Cluster, entry.Eligible, score, orDash(entry.Sum()), orDash(strings.Join(entry.Reasons, ", ")),
		})
	}
	return output.Rows(w, false, rankingColumns, rows)
}

var decisionColumns = []output.Column{
	{Name: "Decided"}, {Name: "From"}, {Name: "Score"}, {Name: "To"}, {Name: "Score"}, {Name: "Reason"}, {Name: "Says"},
}

// printDecisions writes the last decisions, the newest first.
func printDecisions(w io.Writer, a *explain.ApplicationAnswer) error {
	if len(a.Decisions) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	rows := make([][]any, 0, len(a.Decisions))
	for i := range a.Decisions {
		d := &a.Decisions[i]
		rows = append(rows, []any{
			timeOf(d.Time), orDash(d.From), digitsOrDash(d.FromScore), d.To, digitsOrDash(d.Score), string(d.Reason), orDash(d.Message),
		})
	}
	return output.Rows(w, false, decisionColumns, rows)
}

func timeOf(at metav1.Time) string { return at.UTC().Format(time.RFC3339) }

func digitsOrDash(number *float64) string {
	if number == nil {
		return "-"
	}
	return rank.Digits(*number)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
