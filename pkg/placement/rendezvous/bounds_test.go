// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rendezvous_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/rendezvous"
)

func TestMinusLog2(t *testing.T) {
	tests := map[string]struct{ hash, want uint64 }{
		"of the least":          {0, 64 * rendezvous.One},
		"of a quarter":          {1<<62 - 1, 2 * rendezvous.One},
		"of a half":             {1<<63 - 1, rendezvous.One},
		"of the root of a half": {0xb504f333f9de6484, rendezvous.One / 2},
		"of three quarters":     {3<<62 - 1, 7301416902723}, // 0.41503749927884
		"of almost one":         {1<<64 - 2, 1},
		"of one":                {1<<64 - 1, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := rendezvous.MinusLog2(tc.hash); got != tc.want {
				t.Errorf("the logarithm is %d, want %d", got, tc.want)
			}
		})
	}
}

func TestPinsCountInTheBounds(t *testing.T) {
	tests := map[string]struct {
		pinned []int // clusters, by scheduler
		free   int
		want   []int
	}{
		"none is pinned":                {[]int{0, 0}, 10, []int{6, 6}},
		"one is pinned its share":       {[]int{6, 0}, 6, []int{7, 7}},
		"one is pinned more":            {[]int{9, 0, 0}, 12, []int{9, 7, 7}},
		"two are pinned more":           {[]int{9, 6, 0}, 5, []int{9, 6, 6}},
		"less than the share is pinned": {[]int{1, 0}, 9, []int{6, 6}},
		"none is pinned, of few":        {[]int{0, 0}, 7, []int{4, 3}},
		"one is pinned more, of few":    {[]int{9, 0, 0}, 6, []int{9, 3, 3}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list := clusters(tc.free)
			for s, n := range tc.pinned {
				for i := range n {
					list = append(list, rendezvous.Object{Name: fmt.Sprintf("pinned%d-%d", s, i), Pin: fmt.Sprintf("scheduler%d", s)})
				}
			}
			a, _ := assign(t, list, schedulers(len(tc.pinned)), rendezvous.Options{})
			if diff := cmp.Diff(tc.want, a.Capacities); diff != "" {
				t.Errorf("bounds (-want +got)\n%s", diff)
			}
		})
	}
}

// It does not matter in what sizes are counted, as long as the smallest divides all.
func TestOnlyTheRatiosOfSizesCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, s := drawClusters(t), drawSchedulers(t, 1)
		for i := range c {
			c[i].Size = 1 << rapid.IntRange(0, 4).Draw(t, "size")
		}
		c = append(c, rendezvous.Object{Name: "the smallest", Size: 1})
		_, want := assign(t, c, s, rendezvous.Options{})
		for i := range c {
			c[i].Size *= 64
		}
		_, got := assign(t, c, s, rendezvous.Options{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("larger units give other owners (-want +got)\n%s", diff)
		}
	})
}

// A place that is as large as the bound stays together.
func TestPlacesAsLargeAsTheBoundStayTogether(t *testing.T) {
	c := clusters(8)
	for i := range c {
		c[i].Region = fmt.Sprint("r", i%2)
	}
	_, owners := assign(t, c, schedulers(2), rendezvous.Options{GroupBy: rendezvous.GroupByRegion, LoadFactor: 1000})
	for i := range c {
		if first := c[i%2].Name; owners[c[i].Name] != owners[first] {
			t.Errorf("%s of region %s went to %s, %s to %s", c[i].Name, c[i].Region, owners[c[i].Name], first, owners[first])
		}
	}
}

// ownersBy returns the different owners of the first n clusters among three schedulers.
func ownersBy(t *testing.T, by rendezvous.GroupBy, c []rendezvous.Object, n int) []string {
	t.Helper()
	_, owners := assign(t, c, schedulers(3), rendezvous.Options{GroupBy: by, LoadFactor: 2000})
	var different []string
	for _, cluster := range c[:n] {
		different = append(different, owners[cluster.Name])
	}
	slices.Sort(different)
	return slices.Compact(different)
}

func TestPlacesThatAreNotAskedForKeepNothingTogether(t *testing.T) {
	c := clusters(24)
	for i := range c[:8] {
		c[i].Region, c[i].City = "west", fmt.Sprint("c", i)
	}
	if got := ownersBy(t, rendezvous.GroupByRegion, c, 8); len(got) != 1 {
		t.Errorf("the clusters of a region went to %v", got)
	}
	if got := ownersBy(t, rendezvous.GroupByCity, c, 8); len(got) == 1 {
		t.Errorf("the clusters of eight cities all went to %v", got)
	}
	if got := ownersBy(t, rendezvous.GroupByRegion, slices.Concat(c[8:16], c[:8]), 8); len(got) == 1 {
		t.Errorf("the clusters of which no region is known all went to %v", got)
	}
}

func TestAsManyAsCanBeSharedOut(t *testing.T) {
	tests := map[string]struct {
		clusters, schedulers int
		wantErr              bool
	}{
		"schedulers":         {1, rendezvous.MaxSchedulers, false},
		"a scheduler more":   {1, rendezvous.MaxSchedulers + 1, true},
		"clusters":           {100_000, 1, false},
		"a cluster more":     {100_001, 1, true},
		"too many of a pair": {20_001, rendezvous.MaxSchedulers, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rendezvous.Assign(clusters(tc.clusters), schedulers(tc.schedulers), rendezvous.Options{})
			if (err != nil) != tc.wantErr {
				t.Errorf("error %v, want one: %t", err, tc.wantErr)
			}
		})
	}
}
