// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/explain"
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
	if len(a.Ranking) == 0 {
		_, err := fmt.Fprintln(w, "\nThere are no clusters.")
		return err
	}
	fmt.Fprintln(w)
	rows := make([][]any, 0, len(a.Ranking))
	for i := range a.Ranking {
		entry := &a.Ranking[i]
		score := "-"
		if entry.Eligible {
			score = fourDigits(entry.Score)
		}
		parts := make([]string, 0, len(entry.Parts))
		for _, part := range entry.Parts {
			parts = append(parts, fmt.Sprintf("%s=%s*%s", part.Name, fourDigits(part.Value), fourDigits(part.Weight)))
		}
		rows = append(rows, []any{
			entry.Cluster, entry.Eligible, score, orDash(strings.Join(parts, " ")), orDash(strings.Join(entry.Reasons, ", ")),
		})
	}
	return output.Rows(w, false, rankingColumns, rows)
}

// fourDigits writes a number for people.
func fourDigits(number float64) string { return strconv.FormatFloat(number, 'g', 4, 64) }

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
