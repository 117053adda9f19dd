// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package membership_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/membership"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func cluster(name string, age int, nodes []string, labels map[string]string) *berthv1alpha1.Cluster {
	return &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(epoch.Add(-time.Duration(age) * time.Hour))},
		Spec:       berthv1alpha1.ClusterSpec{Nodes: nodes, MatchLabels: labels},
	}
}

func TestClaimants(t *testing.T) {
	north := map[string]string{"site": "north"}
	tests := map[string]struct {
		clusters []*berthv1alpha1.Cluster
		node     string
		labels   map[string]string
		want     []string // the winner first
	}{
		"no Clusters": {node: "n1", labels: north, want: []string{}},
		"a Cluster that neither names nor selects has no node": {
			clusters: []*berthv1alpha1.Cluster{cluster("a", 1, nil, map[string]string{})},
			node:     "n1", labels: north, want: []string{},
		},
		"named": {
			clusters: []*berthv1alpha1.Cluster{cluster("a", 1, []string{"n1"}, nil), cluster("b", 9, []string{"n2"}, nil)},
			node:     "n1", want: []string{"a"},
		},
		"selected": {
			clusters: []*berthv1alpha1.Cluster{
				cluster("a", 1, nil, north), cluster("b", 9, nil, map[string]string{"site": "south"}),
			},
			node: "n1", labels: north, want: []string{"a"},
		},
		"all labels must match": {
			clusters: []*berthv1alpha1.Cluster{cluster("a", 1, nil, map[string]string{"site": "north", "rack": "7"})},
			node:     "n1", labels: map[string]string{"site": "north", "rack": "8"}, want: []string{},
		},
		"an empty value is a value": {
			clusters: []*berthv1alpha1.Cluster{cluster("a", 1, nil, map[string]string{"edge": ""})},
			node:     "n1", labels: north, want: []string{},
		},
		"by name beats by label, however old": {
			clusters: []*berthv1alpha1.Cluster{cluster("a", 9, nil, north), cluster("b", 1, []string{"n1"}, nil)},
			node:     "n1", labels: north, want: []string{"b", "a"},
		},
		"the older Cluster wins": {
			clusters: []*berthv1alpha1.Cluster{cluster("a", 1, nil, north), cluster("b", 9, nil, north)},
			node:     "n1", labels: north, want: []string{"b", "a"},
		},
		"of equally old Clusters the smaller name wins": {
			clusters: []*berthv1alpha1.Cluster{cluster("b", 1, []string{"n1"}, nil), cluster("a", 1, []string{"n1"}, nil)},
			node:     "n1", want: []string{"a", "b"},
		},
		"a Cluster that names and selects the node claims it once, by name": {
			clusters: []*berthv1alpha1.Cluster{cluster("a", 9, nil, north), cluster("b", 1, []string{"n1", "n1"}, north)},
			node:     "n1", labels: north, want: []string{"b", "a"},
		},
		"age decides between Clusters found under different labels": {
			clusters: []*berthv1alpha1.Cluster{
				cluster("a", 5, nil, map[string]string{"rack": "7"}),
				cluster("b", 9, nil, map[string]string{"site": "north"}),
				cluster("c", 7, nil, map[string]string{"zone": "z1"}),
			},
			node: "n1", labels: map[string]string{"site": "north", "rack": "7", "zone": "z1"}, want: []string{"b", "c", "a"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			x := membership.NewIndex(tc.clusters)
			if diff := cmp.Diff(tc.want, x.Claimants(tc.node, tc.labels)); diff != "" {
				t.Errorf("claimants (-want +got):\n%s", diff)
			}
			got, found := x.ClusterOf(tc.node, tc.labels)
			if found != (len(tc.want) > 0) || found && got != tc.want[0] {
				t.Errorf("ClusterOf = %q, %t, want the first of %v", got, found, tc.want)
			}
		})
	}
}

// union is the table of case rows that speak of membership. The others are about replicas of each
// group, which Berth derives from weights, and about labels and finalizers on nodes, which it does
// not write.
const union = "nodes of a group = union of named and label-selected nodes"

func TestKubeEdgeNodeGroupTable(t *testing.T) {
	data, err := os.ReadFile("testdata/kubeedge-nodegroup.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Cases []struct {
			Table           string
			Named, Selected []string
			Expect          json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, row := range table.Cases {
		if row.Table != union {
			continue
		}
		rows++
		t.Run(fmt.Sprint(row.Named, row.Selected), func(t *testing.T) {
			var want []string
			if err := json.Unmarshal(row.Expect, &want); err != nil {
				t.Fatal(err)
			}
			x := membership.NewIndex([]*berthv1alpha1.Cluster{cluster("a", 1, row.Named, map[string]string{"group": "a"})})
			got := []string{}
			for _, node := range []string{"node1", "node2", "node3", "node4"} {
				labels := map[string]string{}
				if slices.Contains(row.Selected, node) {
					labels["group"] = "a"
				}
				if _, found := x.ClusterOf(node, labels); found {
					got = append(got, node)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
	if rows == 0 {
		t.Errorf("no rows of the table %q", union)
	}
}

// nodeLabels generates few keys and values, so that Clusters meet.
func nodeLabels(most int) *rapid.Generator[map[string]string] {
	return rapid.MapOfN(
		rapid.SampledFrom([]string{"site", "rack", "zone", "edge", "tier"}), rapid.SampledFrom([]string{"", "1", "2"}), 0, most,
	)
}

func clusters() *rapid.Generator[[]*berthv1alpha1.Cluster] {
	return rapid.Custom(func(t *rapid.T) []*berthv1alpha1.Cluster {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,2}`), 0, 8, rapid.ID[string]).Draw(t, "names")
		var list []*berthv1alpha1.Cluster
		for _, name := range names {
			list = append(list, cluster(name, rapid.IntRange(0, 2).Draw(t, "age"),
				rapid.SliceOfN(rapid.SampledFrom([]string{"n1", "n2", "n3"}), 0, 2).Draw(t, "nodes"),
				nodeLabels(3).Draw(t, "matchLabels")))
		}
		return list
	})
}

// claimantsByOracle says the rule once more, looking at every Cluster.
func claimantsByOracle(list []*berthv1alpha1.Cluster, node string, labels map[string]string) []string {
	type found struct {
		*berthv1alpha1.Cluster

		byName bool
	}
	var all []found
	for _, c := range list {
		selected := len(c.Spec.MatchLabels) > 0
		for key, value := range c.Spec.MatchLabels {
			if got, ok := labels[key]; !ok || got != value {
				selected = false
			}
		}
		if named := slices.Contains(c.Spec.Nodes, node); named || selected {
			all = append(all, found{c, named})
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		if a.byName != b.byName {
			if a.byName {
				return -1
			}
			return 1
		}
		if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
			return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
		}
		return strings.Compare(a.Name, b.Name)
	})
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.Name
	}
	return names
}

func TestIndexAgreesWithLookingAtEveryCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := clusters().Draw(t, "clusters")
		// In another order: the result must not depend on it.
		x := membership.NewIndex(rapid.Permutation(list).Draw(t, "permutation"))
		node, labels := rapid.SampledFrom([]string{"n1", "n2", "n3", "n4"}).Draw(t, "node"), nodeLabels(5).Draw(t, "labels")
		want := claimantsByOracle(list, node, labels)
		if diff := cmp.Diff(want, x.Claimants(node, labels)); diff != "" {
			t.Fatalf("claimants (-want +got):\n%s", diff)
		}
		got, found := x.ClusterOf(node, labels)
		if found != (len(want) > 0) || found && got != want[0] {
			t.Fatalf("ClusterOf = %q, %t, want the first of %v", got, found, want)
		}
	})
}

func TestTheNextClaimantTakesOverWhenTheWinnerIsGone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := clusters().Draw(t, "clusters")
		labels := nodeLabels(5).Draw(t, "labels")
		claimants := membership.NewIndex(list).Claimants("n1", labels)
		if len(claimants) == 0 {
			t.Skip("nobody claims the node")
		}
		rest := slices.DeleteFunc(slices.Clone(list), func(c *berthv1alpha1.Cluster) bool { return c.Name == claimants[0] })
		if diff := cmp.Diff(claimants[1:], membership.NewIndex(rest).Claimants("n1", labels)); diff != "" {
			t.Fatalf("claimants without %s (-want +got):\n%s", claimants[0], diff)
		}
	})
}

func TestIndexDoesNotChangeItsInput(t *testing.T) {
	list := []*berthv1alpha1.Cluster{cluster("b", 1, nil, nil), cluster("a", 9, nil, nil)}
	membership.NewIndex(list)
	if list[0].Name != "b" || list[1].Name != "a" {
		t.Errorf("the slice was sorted to %s, %s", list[0].Name, list[1].Name)
	}
}

func TestClusterOfDoesNotAllocate(t *testing.T) {
	few := membership.NewIndex([]*berthv1alpha1.Cluster{
		cluster("a", 1, []string{"n1"}, nil), cluster("b", 1, nil, map[string]string{"site": "north"}),
	})
	many := membership.NewIndex(site(100, func(i int) (key, value string) { return fmt.Sprintf("site-%d", i), "" }))
	labels := map[string]string{"site": "north", "site-7": "", "kubernetes.io/os": "linux"}
	for name, lookUp := range map[string]func(){
		"by name":                       func() { few.ClusterOf("n1", labels) },
		"by the keys of the index":      func() { few.ClusterOf("n2", labels) },
		"by the labels of the node":     func() { many.ClusterOf("n2", labels) },
		"a node that belongs to nobody": func() { few.ClusterOf("n2", nil) },
	} {
		if got := testing.AllocsPerRun(100, lookUp); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

// site returns n Clusters, each with the label that the function gives it.
func site(n int, label func(i int) (key, value string)) []*berthv1alpha1.Cluster {
	list := make([]*berthv1alpha1.Cluster, n)
	for i := range list {
		key, value := label(i)
		list[i] = cluster(fmt.Sprintf("cluster-%04d", i), 1, nil, map[string]string{key: value})
	}
	return list
}

// BenchmarkClusterOf looks up 50 nodes of a thousand Clusters, whose labels are values of one key
// or keys of their own.
func BenchmarkClusterOf(b *testing.B) {
	const n = 1000
	for name, label := range map[string]func(i int) (key, value string){
		"one key":  func(i int) (key, value string) { return "example.com/site", fmt.Sprintf("site-%d", i) },
		"own keys": func(i int) (key, value string) { return fmt.Sprintf("example.com/site-%d", i), "" },
	} {
		b.Run(name, func(b *testing.B) {
			x := membership.NewIndex(site(n, label))
			labels := make([]map[string]string, 50)
			for i := range labels {
				key, value := label(i * (n / len(labels)))
				labels[i] = map[string]string{key: value}
				for k := range 20 {
					labels[i][fmt.Sprintf("example.com/other-%d", k)] = "value"
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, l := range labels {
					if _, found := x.ClusterOf("node", l); !found {
						b.Fatal("a node has lost its Cluster")
					}
				}
			}
		})
	}
}

func BenchmarkNewIndex(b *testing.B) {
	list := site(1000, func(i int) (key, value string) { return "example.com/site", fmt.Sprintf("site-%d", i) })
	for i, c := range list {
		for k := range 50 {
			c.Spec.Nodes = append(c.Spec.Nodes, fmt.Sprintf("node-%d", 50*i+k))
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		membership.NewIndex(list)
	}
}
