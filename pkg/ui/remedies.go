// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"fmt"
	"strings"
)

// Remedies are what would let a pod run.
type Remedies struct {
	// Heading stands above the rows.
	Heading string
	Rows    []Remedy
	// Says are sentences about what the rows do not tell.
	Says []string
}

// Remedy is what has to change together for a pod to run on a node of a Cluster.
type Remedy struct{ Cluster, Node, Change string }

// remediesOf tries what would let pods run, which unlike the rest of a page takes reading all pods.
// Keys are NAMESPACE/NAME. It is nil if nothing is tried.
func (s *Source) remediesOf(ctx context.Context, find func(ctx context.Context, namespace, name string) (*Remedies, error)) *lookups[*Remedies] {
	if find == nil {
		return nil
	}
	return &lookups[*Remedies]{
		ctx: ctx, pause: muchPause, tell: s.signal, changes: &s.changes,
		find: func(ctx context.Context, pod string) (*Remedies, error) {
			namespace, name, _ := strings.Cut(pod, "/")
			return find(ctx, namespace, name)
		},
	}
}

// wouldRun adds to the page of a pod what would let it run.
func (s *snapshot) wouldRun(p *page, namespace, name string) {
	if s.remedies == nil {
		p.Reasons = append(p.Reasons, fmt.Sprintf("what would let it run now is told by: berthctl explain pod %s --namespace %s", name, namespace))
		return
	}
	switch last := s.remedies.of(namespace + "/" + name); {
	case last == nil:
		p.Reasons = append(p.Reasons, "what would let it run now is being worked out")
	case last.err != nil:
		p.Reasons = append(p.Reasons, "what would let it run now cannot be worked out: "+bounded(last.err.Error()))
	default:
		p.Reasons = append(p.Reasons, last.found.Says...)
		s.addRemedies(p, last)
	}
}

func (s *snapshot) addRemedies(p *page, last *looked[*Remedies]) {
	if len(last.found.Rows) == 0 {
		return
	}
	t := &table{ID: "remedies", Caption: last.found.Heading + ", as of " + clockTime(last.at), Columns: []column{
		{Key: "site", Title: "Site"}, {Key: "node", Title: "Node"}, {Key: "change", Title: "Change"},
	}}
	for _, r := range last.found.Rows {
		t.Rows = append(t.Rows, row{s.siteCell(r.Cluster), text(r.Node), text(r.Change)})
	}
	p.Tables = append(p.Tables, t)
}
