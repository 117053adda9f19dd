// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package chronicle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/placement/names"
)

// maxTold is how many clusters or pools a message names.
const maxTold = 20

// said returns what the status of an object says that it did not say before.
func said(kind string, before, after any) []history.Entry {
	switch now := after.(type) {
	case *berthv1alpha1.Application:
		was := earlier(before, now)
		return about(kind, now, was.Status.Conditions, now.Status.Conditions, choices(was, now))
	case *berthv1alpha1.Cluster:
		was := earlier(before, now)
		return about(kind, now, was.Status.Conditions, now.Status.Conditions, homes(was, now))
	case *berthv1alpha1.ClusterPropagationPolicy:
		return about(kind, now, earlier(before, now).Status.Conditions, now.Status.Conditions, nil)
	case *berthv1alpha1.ClusterResource:
		was := earlier(before, now)
		return about(kind, now, was.Status.Conditions, now.Status.Conditions, pools(was, now))
	case *berthv1alpha1.PropagationPolicy:
		was := earlier(before, now)
		return about(kind, now, was.Status.Conditions, now.Status.Conditions, shares(was, now))
	case *berthv1alpha1.Scheduler:
		return about(kind, now, earlier(before, now).Status.Conditions, now.Status.Conditions, nil)
	case *berthv1alpha1.Subscription:
		was := earlier(before, now)
		return about(kind, now, was.Status.Conditions, now.Status.Conditions, failovers(was, now))
	}
	return nil
}

// earlier returns what an object was before. Both are states of one object, so of one type.
func earlier[T any](before any, _ T) T {
	return before.(T) //nolint:errcheck // nobody compares an object with another one
}

// about completes entries about an object, and adds those of its conditions that have another
// status or reason. One whose message alone has changed is the same.
func about(kind string, object metav1.Object, before, after []metav1.Condition, entries []history.Entry) []history.Entry {
	for i := range after {
		c := &after[i]
		if old := apimeta.FindStatusCondition(before, c.Type); old != nil && old.Status == c.Status && old.Reason == c.Reason {
			continue
		}
		message := fmt.Sprintf("%s is %s", c.Type, c.Status)
		if c.Message != "" {
			message += ": " + c.Message
		}
		entries = append(entries, history.Entry{Decision: history.Decision(c.Reason), Message: message})
	}
	for i := range entries {
		entries[i].About = *state.Berths(kind, object)
	}
	return entries
}

// homes tells which Scheduler has a cluster, and which had it.
func homes(before, after *berthv1alpha1.Cluster) []history.Entry {
	was, is := before.Status.HomeScheduler, after.Status.HomeScheduler
	if was == is {
		return nil
	}
	const nobody = "nobody"
	return []history.Entry{{
		Decision: history.HomeChanged, Message: fmt.Sprintf("from %s to %s", cmp.Or(was, nobody), cmp.Or(is, nobody)),
	}}
}

// choices tells of the newest choice of a cluster for an Application, with the figures by which it
// was made, and what each cluster said.
func choices(before, after *berthv1alpha1.Application) []history.Entry {
	if len(after.Status.Decisions) == 0 {
		return nil
	}
	made := &after.Status.Decisions[0]
	if was := before.Status.Decisions; len(was) > 0 && was[0].Time.Equal(&made.Time) && was[0].To == made.To && was[0].Reason == made.Reason {
		return nil
	}
	message := "cluster " + made.To + score(made.Score)
	if made.From != "" {
		message += " instead of " + made.From + score(made.FromScore)
	}
	if made.Message != "" {
		message += ": " + made.Message
	}
	return []history.Entry{{Decision: history.Decision(made.Reason), Message: message, Reasons: ranking(after.Status.Ranking)}}
}

func score(score *float64) string {
	if score == nil {
		return ""
	}
	return fmt.Sprintf(" with score %.2f", *score)
}

// ranking tells what kept an Application from each cluster, or what spoke for it.
func ranking(ranked []berthv1alpha1.RankedPlace) *history.Reasons {
	if len(ranked) == 0 {
		return nil
	}
	reasons := &history.Reasons{OtherClusters: max(0, len(ranked)-history.MaxClusters)}
	for i := range ranked[:min(len(ranked), history.MaxClusters)] {
		place := &ranked[i]
		texts := place.Reasons
		if place.Eligible {
			texts = slices.Concat([]string{scored(place)}, texts)
		}
		told := history.ClusterReasons{Cluster: place.Name, Reasons: make([]history.Reason, len(texts))}
		for j, text := range texts {
			told.Reasons[j].Text = text
		}
		reasons.Clusters = append(reasons.Clusters, told)
	}
	return reasons
}

// scored tells the score of a cluster and its parts.
func scored(place *berthv1alpha1.RankedPlace) string {
	parts := make([]string, len(place.Parts))
	for i, part := range place.Parts {
		parts[i] = fmt.Sprintf("%s %.2f * %.2f", part.Name, part.Value, part.Weight)
	}
	text := fmt.Sprintf("score %.2f", place.Score)
	if len(parts) > 0 {
		text += " = " + strings.Join(parts, " + ")
	}
	return text
}

// listed joins texts in the order of the alphabet.
func listed(texts []string) string {
	slices.Sort(texts)
	return names.First(texts, maxTold, ", ")
}
