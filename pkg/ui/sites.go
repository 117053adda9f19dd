// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/model/topology"
)

// share is what all workloads together want in a Cluster, and have.
type share struct {
	wanted, current, short, workloads int
}

// shares adds up the workloads by Cluster. Pods on nodes of no Cluster are under the empty name.
func (s *snapshot) shares() map[string]*share {
	found := map[string]*share{}
	for i := range s.placed {
		for _, c := range s.placed[i].Clusters {
			if found[c.Name] == nil {
				found[c.Name] = &share{}
			}
			found[c.Name].add(&c)
		}
	}
	return found
}

func (s *share) add(c *placement.Cluster) {
	if c.Desired != nil {
		s.wanted += *c.Desired
	}
	s.current += c.Current
	s.short += c.Pending
	s.workloads++
}

// cells shows the figures, or dashes if they are not known.
func (s *share) cells(known bool) row {
	if !known {
		return row{text("-"), text("-"), text("-"), text("-")}
	}
	if s == nil {
		s = &share{}
	}
	return row{number(s.wanted), number(s.current), shortOf(s.short), barOf(s.current, s.wanted)}
}

func shortOf(n int) cell {
	c := number(n)
	if n > 0 {
		c.State = "bad"
	}
	return c
}

func barOf(current, wanted int) cell {
	if wanted == 0 {
		return cell{Text: "-", order: -1}
	}
	percent := 100 * current / wanted
	return cell{Text: fmt.Sprintf("%d%%", percent), Bar: &bar{Value: int64(current), Max: int64(wanted)}, order: float64(percent)}
}

// shareColumns are the columns of share.cells.
var shareColumns = []column{
	{Key: "wanted", Title: "Wanted", Number: true}, {Key: "current", Title: "Current", Number: true},
	{Key: "short", Title: "Short", Number: true}, {Key: "share", Title: "Share"},
}

// exact reports whether the figures of workloads are known. Where a bound pod runs is told by its
// node or, to those who may not see nodes, by Berth's mark on the pod; nothing tells it of a pod
// without the mark.
func (s *snapshot) exact(placed ...placement.Workload) bool {
	unmarked := func(c placement.Cluster) bool { return c.Name == "" && c.Current > 0 }
	return s.knows(placing()...) && (s.knows(nodes) || !slices.ContainsFunc(placed, func(w placement.Workload) bool {
		return slices.ContainsFunc(w.Clusters, unmarked)
	}))
}

// placing are the kinds from which shares follow.
func placing() []string { return append([]string{pods, policies, clusters}, owners()...) }

// sites shows all Clusters.
func (s *snapshot) sites() *page {
	t := &table{ID: "sites", Caption: "Sites", Empty: s.empty("There are no Clusters.", clusters), Columns: slices.Concat([]column{
		{Key: "site", Title: "Site"}, {Key: "status", Title: "Status"}, {Key: "where", Title: "Where"},
		{Key: "nodes", Title: "Nodes", Number: true}, {Key: "ready", Title: "Ready nodes", Number: true},
	}, shareColumns, []column{{Key: "changed", Title: "Readiness changed"}})}
	shares, exact := s.shares(), s.exact(s.placed...)
	all := s.state.Topology.Clusters()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		t.Rows = append(t.Rows, slices.Concat(row{
			link(name, clusterPath(name)), statusOf(c.Object), text(whereOf(c.Object)), number(s.nodes(c)), number(s.readyNodes(c)),
		}, shares[name].cells(exact), row{readinessChanged(c.Object)}))
	}
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		if all[name] != nil || shares[name].current+shares[name].wanted == 0 || !s.tells(name) {
			continue
		}
		what := "does not exist"
		if name == "" {
			what = "nodes in no site"
		}
		t.Rows = append(t.Rows, slices.Concat(row{
			text(orNone(name)), state(false, what), text(""), text("-"), text("-"),
		}, shares[name].cells(exact), row{text("-")}))
	}
	return &page{Title: "Sites", View: "sites", Tables: []*table{t}, Notes: s.notes(append(placing(), nodes)...)}
}

// tells reports whether it is certain that there is no Cluster of a name or, if that is empty, that
// the pods counted under it run in none.
func (s *snapshot) tells(name string) bool {
	return s.knows(clusters) && (name != "" || s.knows(nodes))
}

// nodes returns the number of nodes of a Cluster: those that are seen, or what its status says to a
// user who may not see any.
func (s *snapshot) nodes(c *topology.Cluster) int {
	if !s.knows(nodes) {
		return int(c.Object.Status.NodeCount)
	}
	return len(c.Nodes)
}

func (s *snapshot) readyNodes(c *topology.Cluster) int {
	if !s.knows(nodes) {
		return int(c.Object.Status.ReadyNodeCount)
	}
	return c.ReadyNodes
}

// statusOf says in a word how a Cluster is.
func statusOf(c *berthv1alpha1.Cluster) cell {
	ready := apimeta.FindStatusCondition(c.Status.Conditions, berthv1alpha1.ClusterReady)
	switch {
	case c.Spec.Drain:
		return state(false, "draining")
	case c.Spec.Unschedulable:
		return state(false, "cordoned")
	case ready == nil:
		return text("unknown")
	case ready.Status != "True":
		return state(false, "not ready: "+ready.Reason)
	default:
		return state(true, "ready")
	}
}

// readinessChanged tells when a Cluster became ready, or ceased to be: of one that flaps, lately.
func readinessChanged(c *berthv1alpha1.Cluster) cell {
	if ready := apimeta.FindStatusCondition(c.Status.Conditions, berthv1alpha1.ClusterReady); ready != nil {
		return since(ready.LastTransitionTime.Time)
	}
	return text("-")
}

// whereOf says where a Cluster is.
func whereOf(c *berthv1alpha1.Cluster) string {
	var parts []string
	if g := c.Spec.GeoLocation; g != nil {
		parts = append(parts, g.City, g.Province, g.Area, g.Country)
	}
	if r := c.Spec.Region; r != nil {
		parts = append(parts, r.Region, r.AvailabilityZone)
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return strings.Join(slices.Compact(parts), ", ")
}

func orNone(name string) string {
	if name == "" {
		return "(none)"
	}
	return name
}

// cluster shows one Cluster, nil if there is none of the name.
func (s *snapshot) cluster(name string) *page {
	c := s.state.Topology.Cluster(name)
	if c == nil {
		return nil
	}
	figures := s.shares()[name].cells(s.exact(s.placed...))
	p := &page{
		Title: name, Kind: "Cluster", View: "sites", Notes: s.notes(append(placing(), nodes)...),
		Facts: []fact{
			{"Status", statusOf(c.Object)}, {"Where", text(whereOf(c.Object))},
			{"Nodes", number(s.nodes(c))}, {"Ready nodes", number(s.readyNodes(c))},
			{"Wanted", figures[0]}, {"Current", figures[1]}, {"Short", figures[2]}, {"Share", figures[3]},
			{"Home scheduler", text(c.Object.Status.HomeScheduler)},
		},
	}
	tenants := &table{ID: "workloads", Caption: "Workloads", Columns: append([]column{
		{Key: "namespace", Title: "Namespace"}, {Key: "workload", Title: "Workload"}, {Key: "policy", Title: "Policy"},
	}, shareColumns...)}
	tenants.Empty = s.empty("No workload has a share or a pod here.", placing()...)
	for i := range s.placed {
		w := &s.placed[i]
		for _, in := range w.Clusters {
			if in.Name == name {
				one := &share{}
				one.add(&in)
				tenants.Rows = append(tenants.Rows, append(row{
					text(w.Namespace), link(w.Title(), workloadPath(w.Namespace, w.Title())), text(w.Policy),
				}, one.cells(s.exact(*w))...))
			}
		}
	}
	p.Tables = []*table{tenants, conditionTable(c.Object.Status.Conditions), s.nodeTable(c)}
	return p
}

func (s *snapshot) nodeTable(c *topology.Cluster) *table {
	t := &table{ID: "nodes", Caption: "Nodes", Empty: s.empty("It has no nodes.", nodes), Columns: []column{
		{Key: "node", Title: "Node"}, {Key: "status", Title: "Status"},
	}}
	for _, node := range c.Nodes {
		status := state(true, "ready")
		switch {
		case !topology.Ready(node):
			status = state(false, "not ready")
		case node.Spec.Unschedulable:
			status = state(false, "cordoned")
		}
		t.Rows = append(t.Rows, row{text(node.Name), status})
	}
	return t
}
