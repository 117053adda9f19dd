// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/placement/rank"
)

// applicationsView shows all Applications.
func (s *snapshot) applicationsView() *page {
	t := &table{ID: "applications", Caption: "Applications", Empty: s.empty("There are no Applications.", applications), Columns: []column{
		{Key: "namespace", Title: "Namespace"}, {Key: "application", Title: "Application"}, {Key: "site", Title: "Site"},
		{Key: "score", Title: "Score", Number: true}, {Key: "ready", Title: "Ready"}, {Key: "move", Title: "Move"},
		{Key: "ranking", Title: "Ranking"}, {Key: "says", Title: "Says"},
	}}
	for i := range s.applications {
		app := &s.applications[i]
		t.Rows = append(t.Rows, row{
			text(app.Namespace), link(app.Name, applicationPath(app.Namespace, app.Name)), s.siteCell(app.Status.ScheduledTo),
			scoreOf(app.Status.Score), text(app.Status.Ready), moveOf(app.Status.Move), text(rankingOf(app)), saysOf(app),
		})
	}
	return &page{Title: "Applications", View: "applications", Tables: []*table{t}, Notes: s.notes(applications)}
}

// siteCell leads to a Cluster, if it is one that the user may see.
func (s *snapshot) siteCell(name string) cell {
	if name == "" {
		return text("-")
	}
	if s.state.Topology.Cluster(name) == nil {
		return text(name)
	}
	return link(name, clusterPath(name))
}

func scoreOf(score *float64) cell {
	if score == nil {
		return cell{Text: "-", order: -1}
	}
	return cell{Text: rank.Digits(*score), order: *score}
}

func moveOf(move *berthv1alpha1.ApplicationMoveStatus) cell {
	if move == nil {
		return text("-")
	}
	return cell{Text: bounded(fmt.Sprintf("%s to %s, %s", orNone(move.From), move.To, move.Step)), State: "bad"}
}

// shownRanks bounds the Clusters of a ranking in one cell.
const shownRanks = 3

// rankingOf names the best Clusters of the last review, with their scores.
func rankingOf(app *berthv1alpha1.Application) string {
	var parts []string
	for i := range app.Status.Ranking {
		if r := &app.Status.Ranking[i]; r.Eligible && len(parts) < shownRanks {
			parts = append(parts, r.Name+" "+rank.Digits(r.Score))
		}
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func saysOf(app *berthv1alpha1.Application) cell {
	for i := range app.Status.Conditions {
		c := &app.Status.Conditions[i]
		if c.Status == "False" && (c.Type == berthv1alpha1.ApplicationScheduled || c.Type == berthv1alpha1.ApplicationReady) {
			return state(false, c.Reason+": "+c.Message)
		}
	}
	if c := apimeta.FindStatusCondition(app.Status.Conditions, berthv1alpha1.ApplicationScheduled); c != nil {
		return text(c.Reason)
	}
	return text("-")
}

// application shows one Application, nil if there is none of the name.
func (s *snapshot) application(namespace, name string) *page {
	i := slices.IndexFunc(s.applications, func(a berthv1alpha1.Application) bool { return a.Namespace == namespace && a.Name == name })
	if i < 0 {
		return nil
	}
	app := &s.applications[i]
	p := &page{
		Title: namespace + "/" + name, Kind: "Application", View: "applications", Notes: s.notes(applications, clusters),
		Facts: []fact{
			{"Site", s.siteCell(app.Status.ScheduledTo)}, {"Score", scoreOf(app.Status.Score)}, {"Ready", text(app.Status.Ready)},
			{"Move", moveOf(app.Status.Move)},
		},
	}
	if app.Status.Scheduled != nil {
		p.Facts = append(p.Facts, fact{"There since", since(app.Status.Scheduled.Time)})
	}
	if m := app.Status.Move; m != nil {
		p.Facts = append(p.Facts, fact{"Move began", since(m.StartTime.Time)}, fact{"Move ends by", since(m.Deadline.Time)},
			fact{"Move says", text(m.Message)})
	}
	answer, err := explain.Application(app, s.state.Objects.Clusters, explain.StandardDefaults(), s.at)
	switch {
	case err != nil:
		p.Reasons = append(p.Reasons, err.Error())
	case answer.NextReview != nil:
		p.Facts = append(p.Facts, fact{"Next review", since(answer.NextReview.Time)})
	}
	if err == nil && s.knows(clusters) {
		p.Tables = append(p.Tables, s.ranking(answer))
	}
	p.Tables = append(p.Tables, s.leftOut(app),
		s.failedOver(explain.LeftClusters(app.Spec.Failover, app.Status.FailedOver, s.state.Objects.Clusters, s.unseen())),
		s.decisions(app), conditionTable(app.Status.Conditions))
	return p
}

// leftOut shows where an Application is not moved to for a while.
func (s *snapshot) leftOut(app *berthv1alpha1.Application) *table {
	t := &table{ID: "left-out", Caption: "Sites left out after moves that failed", Empty: "None.", Columns: []column{
		{Key: "site", Title: "Site"}, {Key: "until", Title: "Until"}, {Key: "failures", Title: "Failures", Number: true},
		{Key: "says", Title: "Says"},
	}}
	for _, l := range app.Status.LeftOut {
		t.Rows = append(t.Rows, row{s.siteCell(l.Cluster), since(l.Until.Time), number(l.Failures), text(l.Message)})
	}
	return t
}

// decisions shows the last decisions, the newest first.
func (s *snapshot) decisions(app *berthv1alpha1.Application) *table {
	t := &table{ID: "decisions", Caption: "Last decisions", Empty: "None yet.", Columns: []column{
		{Key: "decided", Title: "Decided"}, {Key: "from", Title: "From"}, {Key: "from-score", Title: "Its score", Number: true},
		{Key: "to", Title: "To"}, {Key: "to-score", Title: "Its score", Number: true}, {Key: "reason", Title: "Reason"},
		{Key: "says", Title: "Says"},
	}}
	for i := range app.Status.Decisions {
		d := &app.Status.Decisions[i]
		t.Rows = append(t.Rows, row{
			since(d.Time.Time), s.siteCell(d.From), scoreOf(d.FromScore), s.siteCell(d.To), scoreOf(d.Score), text(string(d.Reason)),
			text(d.Message),
		})
	}
	return t
}

// ranking shows how all Clusters rank for an Application by their present values.
func (s *snapshot) ranking(answer *explain.ApplicationAnswer) *table {
	t := &table{ID: "ranking", Caption: "Ranking, by the values of this moment", Empty: "There are no Clusters.", Columns: []column{
		{Key: "site", Title: "Site"}, {Key: "eligible", Title: "Eligible"}, {Key: "score", Title: "Score", Number: true},
		{Key: "parts", Title: "Parts"}, {Key: "says", Title: "Says"},
	}}
	for i := range answer.Ranking {
		r := &answer.Ranking[i]
		score, eligible := cell{Text: "-", order: -1}, state(false, "no")
		if r.Eligible {
			score, eligible = scoreOf(&r.Score), state(true, "yes")
		}
		t.Rows = append(t.Rows, row{
			s.siteCell(r.Cluster), eligible, score, text(r.Sum()), text(strings.Join(r.Reasons, ", ")),
		})
	}
	return t
}
