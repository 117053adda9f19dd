// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/grants"
)

// amounts are numbers of units, many of them next to the largest.
func amounts() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(math.MaxInt64-9, math.MaxInt64), rapid.Int64Range(0, math.MaxInt64))
}

// drawPool draws a pool and what is known of its schedulers.
func drawPool(t *rapid.T, names []string) (grants.SharedPool, map[string]grants.Grantee) {
	t.Helper()
	p := grants.SharedPool{
		Allocatable: amounts().Draw(t, "allocatable"), Grants: map[string]grants.Grant{}, Held: map[string]int64{},
		Reports: map[string]grants.Report{},
	}
	schedulers := map[string]grants.Grantee{}
	for _, name := range names {
		schedulers[name] = grants.Grantee{Takes: rapid.Bool().Draw(t, "takes"), Settled: rapid.Bool().Draw(t, "settled")}
		if rapid.Bool().Draw(t, "holds") {
			p.Held[name] = amounts().Draw(t, "held")
		}
		if quantity := amounts().Draw(t, "quantity"); rapid.Bool().Draw(t, "granted") {
			p.Grants[name] = grants.Grant{Quantity: quantity, Revision: 1}
		}
		report := grants.Report{
			Revision: p.Grants[name].Revision, Limit: amounts().Draw(t, "limit"), Acknowledges: rapid.Bool().Draw(t, "acknowledges"),
		}
		for priority := range rapid.Int32Range(0, 3).Draw(t, "priorities") {
			wanted := amounts().Draw(t, "wanted")
			report.Demands = append(report.Demands, grants.Demand{
				Wanted: wanted, Least: min(wanted, amounts().Draw(t, "least")), Priority: priority,
			})
		}
		p.Reports[name] = report
	}
	return p, schedulers
}

// Sums of what is held, granted and wanted may be more than an int64 can hold.
func TestHugeAmountsAreNeverGrantedTwice(t *testing.T) {
	names := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		p, schedulers := drawPool(t, names)
		next := grants.Next(p, schedulers, 10)
		total, grown := new(big.Int), false
		for _, name := range names {
			g := next[name]
			if g.Quantity < 0 || g.Target < 0 || g.Shrinking && g.Target >= g.Quantity {
				t.Fatalf("%s is granted %+v", name, g)
			}
			fact := int64(0)
			if r := p.Reports[name]; r.Acknowledges {
				fact = min(r.Limit, p.Allocatable)
			}
			grown = grown || g.Quantity > max(p.Grants[name].Quantity, p.Held[name], fact)
			total.Add(total, big.NewInt(max(g.Quantity, p.Held[name])))
		}
		if grown && total.Cmp(big.NewInt(p.Allocatable)) > 0 {
			t.Fatalf("%s of %d are granted or held, and somebody was granted more: %v", total, p.Allocatable, next)
		}
	})
}
