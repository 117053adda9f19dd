// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/placement/subscription"
)

func subscriptionPath(namespace, name string) string {
	return "namespaces/" + url.PathEscape(namespace) + "/subscriptions/" + url.PathEscape(name)
}

// subscriptionsView shows all Subscriptions.
func (s *snapshot) subscriptionsView() *page {
	t := &table{ID: "subscriptions", Caption: "Subscriptions", Empty: s.empty("There are no Subscriptions.", subscriptions), Columns: []column{
		{Key: "namespace", Title: "Namespace"}, {Key: "subscription", Title: "Subscription"}, {Key: "strategy", Title: "Strategy"},
		{Key: "feeds", Title: "Feeds", Number: true}, {Key: "left", Title: "Sites left"}, {Key: "says", Title: "Says"},
	}}
	all := slices.SortedFunc(slices.Values(s.state.Objects.Subscriptions), func(a, b berthv1alpha1.Subscription) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for i := range all {
		sub := &all[i]
		t.Rows = append(t.Rows, row{
			text(sub.Namespace), link(sub.Name, subscriptionPath(sub.Namespace, sub.Name)),
			text(string(subscription.StrategyOf(&sub.Spec))), number(len(sub.Spec.Feeds)), leftBy(sub), subscriptionSays(sub),
		})
	}
	return &page{Title: "Subscriptions", View: "subscriptions", Tables: []*table{t}, Notes: s.notes(subscriptions)}
}

// leftBy names the Clusters that a Subscription has left because they are offline.
func leftBy(sub *berthv1alpha1.Subscription) cell {
	names := make([]string, len(sub.Status.FailedOver))
	for i := range names {
		names[i] = sub.Status.FailedOver[i].Cluster
	}
	if len(names) == 0 {
		return text("-")
	}
	return state(false, strings.Join(names, ", "))
}

// subscriptionSays says what is wrong with a Subscription, if anything is.
func subscriptionSays(sub *berthv1alpha1.Subscription) cell {
	for i := range sub.Status.Conditions {
		c := &sub.Status.Conditions[i]
		if c.Status == "False" && c.Type != berthv1alpha1.SubscriptionDegraded ||
			c.Status == "True" && c.Type == berthv1alpha1.SubscriptionDegraded {
			return state(false, c.Reason+": "+c.Message)
		}
	}
	if c := apimeta.FindStatusCondition(sub.Status.Conditions, berthv1alpha1.SubscriptionScheduled); c != nil {
		return text(c.Reason)
	}
	return text("-")
}

// subscription shows one Subscription, nil if there is none of the name.
func (s *snapshot) subscription(namespace, name string) *page {
	all := s.state.Objects.Subscriptions
	i := slices.IndexFunc(all, func(sub berthv1alpha1.Subscription) bool { return sub.Namespace == namespace && sub.Name == name })
	if i < 0 {
		return nil
	}
	sub := &all[i]
	answer := explain.Subscription(sub, s.state.Objects.Clusters, s.unseen())
	feeds := &table{ID: "feeds", Caption: "Feeds", Empty: "Nothing has been said of them yet.", Columns: []column{
		{Key: "feed", Title: "Feed"}, {Key: "replicas", Title: "Replicas", Number: true}, {Key: "shares", Title: "Shares"},
		{Key: "unplaced", Title: "Unplaced", Number: true}, {Key: "says", Title: "Says"},
	}}
	for i := range answer.Feeds {
		f := &answer.Feeds[i]
		title := explain.FeedTitle(&f.Feed)
		replicas := cell{Text: "-", order: -1}
		if f.Replicas != nil {
			replicas = number(*f.Replicas)
		}
		feeds.Rows = append(feeds.Rows, row{
			s.workloadCell(namespace, title), replicas, text(explain.FeedShares(f)), shortOf(int(f.Unplaced)), text(f.Message),
		})
	}
	return &page{
		Title: namespace + "/" + name, Kind: "Subscription", View: "subscriptions", Notes: s.notes(subscriptions, clusters),
		Facts:  []fact{{"Strategy", text(answer.Strategy)}, {"Sites left", leftBy(sub)}},
		Tables: []*table{feeds, s.failedOver(answer.FailedOver), conditionTable(sub.Status.Conditions)},
	}
}

// workloadCell leads to a workload, if it has a page.
func (s *snapshot) workloadCell(namespace, title string) cell {
	if slices.ContainsFunc(s.placed, func(w placement.Workload) bool { return w.Namespace == namespace && w.Title() == title }) {
		return link(title, workloadPath(namespace, title))
	}
	return text(title)
}

// unseen says why no Cluster is known, empty if they are.
func (s *snapshot) unseen() string {
	if why := s.missing[clusters]; why != "" {
		return "nothing is known of sites: " + why
	}
	return ""
}

// failedOver shows what was left because it was offline, and when it comes into question again.
func (s *snapshot) failedOver(left []explain.LeftCluster) *table {
	t := &table{ID: "failed-over", Caption: "Sites left because they were offline", Empty: "None.", Columns: []column{
		{Key: "site", Title: "Site"}, {Key: "left", Title: "Left at"}, {Key: "returns", Title: "Returns at"}, {Key: "says", Title: "Says"},
	}}
	for i := range left {
		l := &left[i]
		returns := text("-")
		if l.Returns != nil {
			returns = since(l.Returns.Time)
		}
		t.Rows = append(t.Rows, row{s.siteCell(l.Cluster), since(l.Since.Time), returns, text(l.Message)})
	}
	return t
}
