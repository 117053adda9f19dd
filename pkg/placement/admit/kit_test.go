// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admit_test

import (
	"testing"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/placement/apportion"
)

// The clusters of the tables, by their index. Without bounds the seats are b a b a b,
// and again.
const a, b int32 = 0, 1

func twoToThree(t *testing.T) *apportion.Order {
	t.Helper()
	return order(t, apportion.Cluster{Name: "a", Weight: 2}, apportion.Cluster{Name: "b", Weight: 3})
}

func order(t *testing.T, clusters ...apportion.Cluster) *apportion.Order {
	t.Helper()
	o, err := apportion.NewOrder(clusters)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// resolve goes through the rules until one holds, given which clusters have a node
// that fits.
func resolve(admission *admit.Admission, fits []bool) {
	for admission.Provisional() {
		best := admit.None
		for i := range fits {
			if fits[i] && admission.Prefers(int32(i), best) {
				best = int32(i)
			}
		}
		admission.Resolve(best)
	}
}

// admitted returns which clusters admit the pod, in their order.
func admitted(admission *admit.Admission, clusters int) []bool {
	list := make([]bool, clusters)
	for i := range list {
		list[i] = admission.Admits(int32(i))
	}
	return list
}

// drawOrder draws some clusters with bounds.
func drawOrder(t *rapid.T) *apportion.Order {
	clusters := make([]apportion.Cluster, rapid.IntRange(1, 5).Draw(t, "clusters"))
	for i := range clusters {
		c := &clusters[i]
		c.Name, c.Weight = string(rune('a'+i)), rapid.Int64Range(0, 4).Draw(t, "weight")
		c.Min = rapid.Int64Range(0, 2).Draw(t, "min")
		if rapid.Bool().Draw(t, "bounded") {
			c.Max = new(c.Min + rapid.Int64Range(0, 4).Draw(t, "range"))
		}
	}
	o, err := apportion.NewOrder(clusters)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// drawQuestion draws a question and which clusters have a node that fits.
func drawQuestion(t *rapid.T) (q *admit.Question, fits []bool) {
	o := drawOrder(t)
	q = &admit.Question{
		Order: o, Seat: admit.NoSeat, Held: make([]int32, o.Len()),
		Strict: rapid.Bool().Draw(t, "strict"), Beyond: rapid.Bool().Draw(t, "beyond"),
	}
	if rapid.Bool().Draw(t, "known") {
		q.Plan = o.Plan(rapid.Int64Range(0, 20).Draw(t, "replicas"))
	}
	if rapid.Bool().Draw(t, "fixed") {
		q.Seat = rapid.Int32Range(0, 20).Draw(t, "seat")
	}
	for i := range q.Held {
		q.Held[i] = rapid.Int32Range(0, 6).Draw(t, "held")
	}
	clusters := rapid.SliceOfN(rapid.Bool(), o.Len(), o.Len())
	if rapid.Bool().Draw(t, "limited") {
		q.Eligible = clusters.Draw(t, "eligible")
	}
	return q, clusters.Draw(t, "fits")
}
