// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package past_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/cli/internal/past"
	"berth.dev/berth/pkg/history"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func answer(process string, entries ...history.Entry) past.Answer {
	return past.Answer{Answer: history.Answer{Process: process, Since: noon, Entries: entries}}
}

func entry(after time.Duration, decision history.Decision) history.Entry {
	return history.Entry{Time: noon.Add(after), Times: 1, About: history.Object{Kind: "Pod", Name: "web-1"}, Decision: decision}
}

func TestPrint(t *testing.T) {
	placed, waits, victim := entry(2*time.Minute, history.Placed), entry(time.Minute, history.Unschedulable), entry(0, history.Preempted)
	placed.Place = &history.Place{
		Node: "n1", Cluster: "beijing", Policy: "web", Seat: ptr.To(int32(3)),
		Charges: []history.Charge{{Resource: "licences", Pool: "all", Quantity: "2"}},
	}
	waits.Message, waits.Times = "0/9 nodes are available.", 4
	waits.Reasons = &history.Reasons{OtherClusters: 2, Clusters: []history.ClusterReasons{
		{Cluster: "beijing", Reasons: []history.Reason{{Text: "Insufficient cpu", Nodes: 5}, {Text: "too many pods", Nodes: 1}}},
		{Reasons: []history.Reason{{Text: "Insufficient cpu", Nodes: 1}}},
	}}
	victim.For = &history.Object{Kind: "Pod", Name: "db-0"}
	nowhere := entry(0, history.Placed)
	nowhere.Place = &history.Place{Node: "n2"}
	many := entry(0, history.Unschedulable)
	many.Reasons = &history.Reasons{}
	for i := range 7 {
		many.Reasons.Clusters = append(many.Reasons.Clusters, history.ClusterReasons{Cluster: fmt.Sprint("c", i), Reasons: []history.Reason{{Text: "full", Nodes: 1}}})
	}
	forgot := answer("a")
	forgot.Dropped, forgot.Older = 7, 2
	for name, test := range map[string]struct {
		answers []past.Answer
		// want are parts of the output, in this order.
		want []string
	}{
		"nothing": {answers: []past.Answer{answer("a")}, want: []string{"nothing is remembered", "a remembers since 2026-03-01T12:00:00Z"}},
		"entries of two programs in the order of time": {
			answers: []past.Answer{answer("a", waits, placed), answer("b", victim)},
			want: []string{
				"2026-03-01T12:00:00Z", "pod/web-1", "Preempted", "for pod/db-0", "b",
				"2026-03-01T12:01:00Z", "4", "Unschedulable",
				"0/9 nodes are available.; beijing: 5 Insufficient cpu, 1 too many pods; none: 1 Insufficient cpu; 2 clusters are not told apart", "a",
				"2026-03-01T12:02:00Z", "Placed", "on node n1 in cluster beijing by policy web, seat 3, 2 of licences/all", "a",
			},
		},
		"a node in no cluster":      {answers: []past.Answer{answer("a", nowhere)}, want: []string{"on node n2 in cluster none"}},
		"more clusters than a line": {answers: []past.Answer{answer("a", many)}, want: []string{"c4: 1 full; and 2 more"}},
		"a program that forgot":     {answers: []past.Answer{forgot}, want: []string{"; 7 older entries dropped; 2 older entries of this are not shown"}},
		"a program that is away": {
			answers: []past.Answer{{Answer: history.Answer{Process: "a"}, Error: "refused\nfor now"}},
			want:    []string{"nothing is known: no process could be asked", "a cannot be asked: refused"},
		},
		"one of two that is away": {
			answers: []past.Answer{{Answer: history.Answer{Process: "a"}, Error: "refused"}, answer("b")},
			want:    []string{"nothing is remembered", "a cannot be asked: refused", "b remembers since"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := past.Print(&out, test.answers); err != nil {
				t.Fatal(err)
			}
			rest := out.String()
			for _, want := range test.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("after what was wanted before it there is no %q in:\n%s", want, out.String())
				}
				rest = after
			}
		})
	}
}
