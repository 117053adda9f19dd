// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package rebalance_test

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/rebalance"
)

// fleet is a workload over clusters that come and go. What has to be done to it is counted.
type fleet struct {
	tb interface {
		Helper()
		Fatalf(string, ...any)
	}
	clusters []apportion.Cluster
	// groups are those of the clusters, if these are in groups.
	groups   []apportion.Group
	replicas int64
	// pods are by the name of their cluster.
	pods   []rebalance.Replica
	where  []string
	serial int
	// moved is how many pods were evicted, made or taken away by changes, and writes how many got
	// another place. What a pod is given when it is bound is no write.
	moved, writes int
	// paced puts off what is beyond so many at once, and astray is by how many pods the shares of a
	// workload that shrank were missed since, because of that.
	paced  *rebalance.Reordering
	now    time.Time
	astray int64
}

// join adds a cluster. Its place among those of the same weight is random, but always the same.
func (f *fleet) join(name string, weight int64) {
	hash := fnv.New64a()
	fmt.Fprint(hash, name)
	f.clusters = append(f.clusters, apportion.Cluster{Name: name, Weight: weight, Precedence: hash.Sum64()})
	f.settle()
}

func (f *fleet) leave(i int) {
	f.clusters = slices.Delete(f.clusters, i, i+1)
	f.settle()
}

// changes lets a site join the first group, or the last one of it leave, and counts anew what that
// costs.
func (f *fleet) changes(what string) {
	f.tb.Helper()
	first := &f.groups[0]
	f.moved, f.writes = 0, 0
	if what == "joins" {
		first.Clusters = append(first.Clusters, apportion.Cluster{Name: "site-0-017a", Weight: 1})
	} else {
		first.Clusters = first.Clusters[:len(first.Clusters)-1]
	}
	f.settle()
}

// scale changes the number of replicas: a ReplicaSet that shrinks deletes the highest places first.
func (f *fleet) scale(replicas int64) {
	f.tb.Helper()
	order := f.order()
	f.replicas = replicas
	if surplus := len(f.pods) - int(replicas); surplus > 0 {
		f.sort()
		f.pods, f.where = f.pods[:replicas], f.where[:replicas]
		f.moved += surplus
		shares, _ := order.Shares(replicas)
		for c, share := range shares {
			got := f.count(order.Name(c))
			if got != share && f.paced == nil {
				f.tb.Fatalf("%d of %d replicas are left in %s, want %d", got, replicas, order.Name(c), share)
			}
			f.astray += max(0, got-share)
		}
	}
	f.settle()
}

// pass lets time go by.
func (f *fleet) pass(d time.Duration) {
	f.now = f.now.Add(d)
	for i := range f.pods {
		f.pods[i].Age += d
	}
}

// catchUp waits until nothing is put off any more, and wants the order to be right then.
func (f *fleet) catchUp() {
	f.tb.Helper()
	order := f.order()
	plan := order.Plan(f.replicas)
	for range 2 + len(f.pods)/rebalance.ReorderAtOnce {
		f.pass(rebalance.ReorderPause)
		before := f.writes
		if f.stamp(order, plan); f.writes-before > rebalance.ReorderAtOnce {
			f.tb.Fatalf("%d pods get another place at once, want at most %d", f.writes-before, rebalance.ReorderAtOnce)
		}
		if f.writes == before {
			break
		}
	}
	f.judge(plan)
}

func (f *fleet) count(cluster string) (n int64) {
	for _, in := range f.where {
		if in == cluster {
			n++
		}
	}
	return n
}

func (f *fleet) sort() {
	byPlace := make([]int, len(f.pods))
	for i := range byPlace {
		byPlace[i] = i
	}
	slices.SortFunc(byPlace, func(a, b int) int { return cmp.Compare(f.pods[a].Place, f.pods[b].Place) })
	pods, where := make([]rebalance.Replica, len(f.pods)), make([]string, len(f.pods))
	for to, from := range byPlace {
		pods[to], where[to] = f.pods[from], f.where[from]
	}
	f.pods, f.where = pods, where
}

func (f *fleet) order() *apportion.Order {
	f.tb.Helper()
	order, err := apportion.NewOrder(f.clusters)
	if f.groups != nil {
		order, err = apportion.NewGroupedOrder(f.groups)
	}
	if err != nil {
		f.tb.Fatalf("%v", err)
	}
	return order
}

// settle gives new places, evicts the pods without one, binds new pods as the scheduler does, and
// gives new places again.
func (f *fleet) settle() {
	f.tb.Helper()
	order := f.order()
	plan := order.Plan(f.replicas)
	f.stamp(order, plan)
	f.sort()
	placed, _ := slices.BinarySearchFunc(f.pods, 0, func(p rebalance.Replica, at rebalance.Place) int { return cmp.Compare(p.Place, at) })
	f.pods, f.where = f.pods[placed:], f.where[placed:]
	f.moved += placed
	f.pass(time.Minute)
	held := make([]apportion.Held, order.Len())
	for i := range f.pods {
		c, _ := order.Index(f.where[i])
		held[c].Add(seatOf(f.pods[i].Place))
	}
	for c := range held {
		for seat, free := plan.FirstFreeOf(c, &held[c]); free; seat, free = plan.FirstFreeOf(c, &held[c]) {
			held[c].Add(int64(seat))
			f.serial++
			f.moved++
			f.pods = append(f.pods, rebalance.Replica{
				Name: fmt.Sprintf("pod-%d", f.serial), Place: rebalance.PlaceOf(int32(seat)), Age: -time.Duration(f.serial),
			})
			f.where = append(f.where, order.Name(c))
		}
	}
	f.stamp(order, plan)
	if f.paced == nil {
		f.judge(plan)
	}
}

func (f *fleet) stamp(order *apportion.Order, plan *apportion.Plan) {
	for i := range f.pods {
		f.pods[i].Cluster = rebalance.Elsewhere
		if c, named := order.Index(f.where[i]); named {
			f.pods[i].Cluster = c
		}
	}
	places := rebalance.Places(plan, f.pods)
	if f.paced != nil {
		rest, _ := f.paced.PutOff(f.pods, places, int32(f.replicas), f.now)
		for _, i := range rest {
			places[i] = f.pods[i].Place
		}
	}
	for i, place := range places {
		if f.pods[i].Place != place {
			f.pods[i].Place = place
			f.writes++
		}
	}
}

// judge checks that the pods, in the order of their places, are in the clusters of the seats.
func (f *fleet) judge(plan *apportion.Plan) {
	f.tb.Helper()
	f.sort()
	for i := range f.pods {
		if owner, _ := plan.Owner(int64(i)); owner != f.pods[i].Cluster || i > 0 && f.pods[i].Place <= f.pods[i-1].Place {
			f.tb.Fatalf("pod %d of the order, at %d behind %d, is in cluster %d, want %d",
				i, f.pods[i].Place, f.pods[max(0, i-1)].Place, f.pods[i].Cluster, owner)
		}
	}
}

// Whatever comes and goes, the order is right afterwards, and no more is written than twice the
// pods that come or go by it, and a hundred for each change.
func TestFewPodsGetAnotherPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fleet{tb: t, replicas: rapid.Int64Range(0, 100).Draw(t, "replicas")}
		joined := 0
		join := func(t *rapid.T) {
			joined++
			f.join(fmt.Sprintf("site-%d", joined), rapid.Int64Range(1, 3).Draw(t, "weight"))
		}
		for range rapid.IntRange(1, 25).Draw(t, "clusters") {
			join(t)
		}
		changes := 0
		f.moved, f.writes = 0, 0
		t.Repeat(map[string]func(*rapid.T){
			"join": join,
			"leave": func(t *rapid.T) {
				if len(f.clusters) == 1 {
					t.Skip()
				}
				f.leave(rapid.IntRange(0, len(f.clusters)-1).Draw(t, "cluster"))
			},
			"scale": func(t *rapid.T) { f.scale(rapid.Int64Range(0, 150).Draw(t, "to")) },
			"": func(t *rapid.T) {
				if changes++; f.writes > 2*f.moved+100*changes {
					t.Fatalf("%d pods got another place although %d pods came or went", f.writes, f.moved)
				}
			},
		})
	})
}

// One site that joins a thousand others, or leaves them, costs no more writes than it has pods:
// they are bound with a place by which others are their equals, and get one between.
func TestASiteAmongAThousandCostsFewWrites(t *testing.T) {
	tests := map[string]struct {
		replicas int64
		dense    bool
		// wantMoved is how many pods the site has, and how many of the others make room for them.
		wantMoved, wantWrites int
	}{
		"one pod each":                       {replicas: 1_000, wantMoved: 2, wantWrites: 2},
		"ten pods each":                      {replicas: 10_000, wantMoved: 20, wantWrites: 20},
		"a hundred pods each":                {replicas: 100_000, wantMoved: 200, wantWrites: 200},
		"one pod each, by costs without gap": {replicas: 1_000, dense: true, wantMoved: 2, wantWrites: 557},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := &fleet{tb: t, replicas: tc.replicas}
			for i := range 1_000 {
				f.clusters = append(f.clusters, apportion.Cluster{Name: fmt.Sprintf("site-%04d", i), Weight: 1})
			}
			f.settle()
			for i := range f.pods {
				if tc.dense {
					f.pods[i].Place = rebalance.Place(i)
				}
			}
			f.moved, f.writes = 0, 0
			f.clusters = append(f.clusters, apportion.Cluster{Name: "site-0443a", Weight: 1})
			f.settle()
			if f.moved != tc.wantMoved || f.writes > tc.wantWrites {
				t.Errorf("%d pods come and go and %d get another place as a site joins, want %d and at most %d",
					f.moved, f.writes, tc.wantMoved, tc.wantWrites)
			}
			f.moved, f.writes = 0, 0
			f.leave(len(f.clusters) - 1)
			if f.moved != tc.wantMoved || f.writes > tc.wantMoved {
				t.Errorf("%d pods come and go and %d get another place as the site leaves, want %d of each at most",
					f.moved, f.writes, tc.wantMoved)
			}
			t.Logf("writes as it leaves: %d", f.writes)
		})
	}
}

// inGroups are groups of so many sites each, of the given weights, which share by weight.
func inGroups(sites int, weights ...int64) []apportion.Group {
	groups := make([]apportion.Group, len(weights))
	for g, weight := range weights {
		groups[g].As = apportion.Cluster{Name: fmt.Sprint("group-", g), Weight: weight}
		for i := range sites {
			groups[g].Clusters = append(groups[g].Clusters, apportion.Cluster{Name: fmt.Sprintf("site-%d-%03d", g, i), Weight: 1})
		}
	}
	return groups
}

// The order of the clusters of one group stays when a site joins it, but that against other groups
// of its tier does not: there pods get another place so that the order of all is right again. They
// are no more than the pods of the group.
func TestASiteInOneOfSeveralGroupsCostsNoMoreThanTheGroupHas(t *testing.T) {
	tests := map[string]struct {
		groups []apportion.Group
		// wantWrites is how many pods get another place at most.
		wantWrites int
	}{
		"one weighted group":                      {inGroups(200, 1), 40},
		"one of two, with 2,000 of 4,000 pods":    {inGroups(100, 1, 1), 2000},
		"one of five, with 444 of 4,000 pods":     {inGroups(40, 1, 2, 3, 2, 1), 444},
		"one of five, with 1,333 pods behind 444": {inGroups(40, 3, 2, 1, 2, 1), 1334},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := &fleet{tb: t, replicas: 4_000, groups: tc.groups}
			f.settle()
			for _, what := range []string{"joins", "leaves"} {
				f.changes(what)
				t.Logf("a site %s: %d pods come and go, %d get another place", what, f.moved, f.writes)
				if f.writes > tc.wantWrites {
					t.Errorf("%d pods get another place as a site %s, want at most %d", f.writes, what, tc.wantWrites)
				}
			}
		})
	}
}

// Sites that all join right behind the first one run out of places there now and then. That costs
// few writes all together.
func TestManySitesThatJoinAtOnePointCostFewWrites(t *testing.T) {
	f := &fleet{tb: t, replicas: 2}
	for _, name := range []string{"a", "z"} {
		f.clusters = append(f.clusters, apportion.Cluster{Name: name, Weight: 1})
	}
	f.settle()
	f.moved, f.writes = 0, 0
	const sites = 1_000
	for i := range sites {
		f.clusters = append(f.clusters, apportion.Cluster{Name: fmt.Sprintf("m-%04d", sites-i), Weight: 1})
		f.replicas++
		f.settle()
	}
	if f.moved != sites || f.writes > 20*sites {
		t.Errorf("%d pods are new, and %d get another place, want %d and at most %d", f.moved, f.writes, sites, 20*sites)
	}
	t.Logf("%d writes", f.writes)
}

// BenchmarkPlaces is a look at the places of 100,000 pods in a thousand clusters: as the scheduler
// has given them, and after a site has joined.
func BenchmarkPlaces(b *testing.B) {
	f := &fleet{tb: b, replicas: 100_000}
	for i := range 1_000 {
		f.clusters = append(f.clusters, apportion.Cluster{Name: fmt.Sprintf("site-%04d", i), Weight: 1})
	}
	f.settle()
	look := func(name string) {
		plan := f.order().Plan(f.replicas)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rebalance.Places(plan, f.pods)
			}
		})
	}
	look("as they were given")
	f.clusters = append(f.clusters, apportion.Cluster{Name: "site-0443a", Weight: 1})
	look("a site joins")
	f.settle()
	look("it has joined")
}
