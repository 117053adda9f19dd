// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"slices"
	"strings"

	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/model/workload"
)

// explaining are the kinds from which the explanation of a pod is worked out.
func explaining() []string { return append(placing(), nodes, subscriptions, resources) }

// pod shows one pod with its explanation, nil if there is none of the name.
func (s *snapshot) pod(namespace, name string) *page {
	pod := s.state.Objects.Pod(namespace, name)
	if pod == nil {
		return nil
	}
	answer := explain.Pod(s.state, pod)
	if charges.Concerns(pod) {
		answer.AddResources(s.state, pod, s.resources)
	}
	p := &page{
		Title: namespace + "/" + name, Kind: "Pod", View: "waiting", Notes: s.notes(explaining()...),
		Facts: s.podFacts(answer),
	}
	// Without one of the kinds the answer is that of another world: one without nodes, for instance.
	whole := s.knows(explaining()...)
	if whole {
		p.Reasons = answer.Reasons
	}
	if says := answer.Scheduler; says != nil {
		p.Reasons = append(p.Reasons, fmt.Sprintf("the scheduler says (%s): %s", says.Reason, bounded(says.Message)))
	}
	if whole && len(answer.Clusters) > 0 {
		p.Tables = append(p.Tables, s.asked(answer))
	}
	if whole && len(answer.Resources) > 0 {
		p.Tables = append(p.Tables, resourcesAsked(answer))
	}
	if answer.Waits() && slices.Contains(s.state.Schedulers, pod.Spec.SchedulerName) {
		s.wouldRun(p, namespace, name)
	}
	return p
}

// podFacts are what is known of a pod also without what its explanation needs.
func (s *snapshot) podFacts(answer *explain.PodAnswer) []fact {
	facts := []fact{{"State", text(string(answer.State))}}
	if w := answer.Workload; w != nil && s.knows(owners()...) {
		title := placement.Title(w.Kind, w.Name)
		facts = append(facts, fact{"Workload", s.workloadCell(answer.Namespace, title)})
	}
	if answer.Policy != nil && s.knows(append(owners(), policies)...) {
		facts = append(facts, fact{"Policy", text(answer.Policy.Name + ", selected by " + answer.Policy.SelectedBy)})
	}
	if at := answer.Placement; at != nil {
		facts = append(facts, fact{"Site", s.siteCell(at.Cluster)}, fact{"Node", text(at.Node)})
		if at.Seat != nil {
			facts = append(facts, fact{"Seat", number(*at.Seat)})
		}
	}
	return facts
}

// asked shows what the Clusters of the policy say to a pod.
func (s *snapshot) asked(answer *explain.PodAnswer) *table {
	t := &table{ID: "clusters", Caption: "What the sites of the policy say", Columns: []column{
		{Key: "site", Title: "Site"}, {Key: "wanted", Title: "Wanted", Number: true}, {Key: "current", Title: "Current", Number: true},
		{Key: "free", Title: "Free seats", Number: true}, {Key: "nodes", Title: "Nodes", Number: true},
		{Key: "usable", Title: "Usable", Number: true}, {Key: "says", Title: "Says"},
	}}
	for i := range answer.Clusters {
		c := &answer.Clusters[i]
		wanted, free := text("-"), text("-")
		if c.Desired != nil {
			wanted, free = number(*c.Desired), number(c.FreeSeats)
		}
		t.Rows = append(t.Rows, row{
			s.siteCell(c.Name), wanted, number(c.Current), free, number(c.Nodes.Total), number(c.Nodes.Usable), text(c.Says),
		})
	}
	return t
}

// resourcesAsked shows what the pools say to a pod.
func resourcesAsked(answer *explain.PodAnswer) *table {
	t := &table{ID: "resources", Caption: "What the pools say", Columns: []column{
		{Key: "resource", Title: "Resource"}, {Key: "asks", Title: "Asks for", Number: true}, {Key: "pool", Title: "Pool"},
		{Key: "allocatable", Title: "Allocatable", Number: true}, {Key: "free", Title: "Free", Number: true}, {Key: "says", Title: "Says"},
	}}
	for i := range answer.Resources {
		r := &answer.Resources[i]
		for j := range r.Pools {
			pool := &r.Pools[j]
			t.Rows = append(t.Rows, row{
				link(r.Name, resourcePath(r.Name)), quantity(r.Quantity), text(pool.Name), quantity(pool.Allocatable), quantity(pool.Free),
				text(pool.Says),
			})
		}
	}
	return t
}

// workload shows one workload, nil if no policy places one of the name.
func (s *snapshot) workload(namespace, kind, name string) *page {
	i := slices.IndexFunc(s.placed, func(w placement.Workload) bool {
		return w.Namespace == namespace && w.Ref.Name == name && strings.EqualFold(w.Ref.Kind, kind)
	})
	if i < 0 {
		return nil
	}
	w := &s.placed[i]
	p := &page{
		Title: namespace + "/" + name, Kind: w.Ref.Kind, View: "sites", Notes: s.notes(append(placing(), nodes)...),
		Facts: []fact{{"Policy", text(w.Policy)}, {"Pending", text("-")}, {"Misplaced", text("-")}},
	}
	if s.knows(placing()...) {
		p.Facts[1].Value = number(w.Pending)
	}
	if s.knows(append(placing(), nodes)...) {
		p.Facts[2].Value, p.Reasons = number(w.Misplaced), w.Notes
	}
	if w.Replicas != nil {
		p.Facts = append(p.Facts, fact{"Replicas", number(*w.Replicas)})
	}
	t := &table{ID: "clusters", Caption: "Sites", Columns: append([]column{{Key: "site", Title: "Site"}}, shareColumns...)}
	for _, c := range w.Clusters {
		one := &share{}
		one.add(&c)
		site := s.siteCell(c.Name)
		if c.Name == "" {
			site = text("nodes in no site")
		}
		if c.Name != "" || s.tells("") {
			t.Rows = append(t.Rows, append(row{site}, one.cells(s.exact(*w))...))
		}
	}
	p.Tables = []*table{t, s.podsOf(w)}
	if policy := s.state.Objects.Policy(w.Namespace, w.Policy); policy != nil {
		says := conditionTable(policy.Status.Conditions)
		says.Caption = "Conditions of the policy"
		p.Tables = append(p.Tables, says)
	}
	return p
}

// podsOf shows the pods of a workload.
func (s *snapshot) podsOf(w *placement.Workload) *table {
	t := &table{ID: "pods", Caption: "Pods", Empty: s.empty("It has no pods.", append(owners(), pods)...), Columns: []column{
		{Key: "pod", Title: "Pod"}, {Key: "site", Title: "Site"}, {Key: "node", Title: "Node"}, {Key: "says", Title: "Says"},
	}}
	for _, o := range workload.Observe(&s.state.Objects.Objects) {
		if o.Namespace != w.Namespace || o.Kind != w.Ref.Kind || o.Name != w.Ref.Name || o.APIVersion != w.Ref.APIVersion {
			continue
		}
		for _, pod := range o.Pods {
			site := text("-")
			if pod.Spec.NodeName != "" {
				site = s.siteCell(s.state.Topology.ClusterOf(pod))
			}
			t.Rows = append(t.Rows, row{
				link(pod.Name, podPath(pod.Namespace, pod.Name)), site, text(pod.Spec.NodeName), text(workload.PendingMessage(pod)),
			})
		}
	}
	slices.SortFunc(t.Rows, func(a, b row) int { return strings.Compare(a[0].Text, b[0].Text) })
	return t
}
