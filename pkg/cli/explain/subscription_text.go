// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"

	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/explain"
)

var feedColumns = []output.Column{{Name: "Feed"}, {Name: "Replicas"}, {Name: "Clusters"}, {Name: "Unplaced"}, {Name: "Says"}}

var leftColumns = []output.Column{{Name: "Left"}, {Name: "Since"}, {Name: "Returns"}, {Name: "Says"}}

// printSubscription writes the answer for people.
func printSubscription(w io.Writer, a *explain.SubscriptionAnswer) error {
	title := func(name, value string) { fmt.Fprintf(w, "%-14s%s\n", name+":", output.OneLine(value)) }
	title("Subscription", a.Namespace+"/"+a.Subscription)
	title("Strategy", a.Strategy)
	for _, c := range a.Conditions {
		title(c.Type, fmt.Sprintf("%s (%s), %s", c.Status, c.Reason, c.Message))
	}
	if len(a.Feeds) > 0 {
		fmt.Fprintln(w)
		rows := make([][]any, 0, len(a.Feeds))
		for i := range a.Feeds {
			f := &a.Feeds[i]
			var replicas any = "-"
			if f.Replicas != nil {
				replicas = *f.Replicas
			}
			rows = append(rows, []any{explain.FeedTitle(&f.Feed), replicas, orDash(explain.FeedShares(f)), f.Unplaced, orDash(f.Message)})
		}
		if err := output.Rows(w, false, feedColumns, rows); err != nil {
			return err
		}
	}
	return printLeft(w, a.FailedOver)
}

// printLeft writes the clusters that were left because they were offline.
func printLeft(w io.Writer, left []explain.LeftCluster) error {
	if len(left) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	rows := make([][]any, 0, len(left))
	for i := range left {
		l := &left[i]
		back := "-"
		if l.Returns != nil {
			back = timeOf(*l.Returns)
		}
		rows = append(rows, []any{l.Cluster, timeOf(l.Since), back, l.Message})
	}
	return output.Rows(w, false, leftColumns, rows)
}
