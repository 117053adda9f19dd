// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/model/workload"
)

// group are waiting pods to which the scheduler says the same.
type group struct {
	reason string
	pods   []*corev1.Pod
	oldest time.Time
}

// waiting shows the pods for Berth's schedulers that have no node, grouped by reason. A reason in
// the query limits the second table to its pods.
func (s *snapshot) waiting(query url.Values) *page {
	only := query.Get("reason")
	groups := &table{ID: "reasons", Caption: "Reasons", Empty: s.empty("No pod waits.", pods), Columns: []column{
		{Key: "reason", Title: "Reason"}, {Key: "pods", Title: "Pods", Number: true}, {Key: "since", Title: "Longest since"},
	}}
	members := &table{ID: "pods", Caption: "Waiting pods", Empty: s.empty("No pod waits.", pods), Columns: []column{
		{Key: "namespace", Title: "Namespace"}, {Key: "pod", Title: "Pod"}, {Key: "since", Title: "Since"}, {Key: "reason", Title: "Reason"},
	}}
	for _, g := range s.groups() {
		groups.Rows = append(groups.Rows, row{
			link(g.reason, addressWith(url.Values{}, "reason", g.reason)), number(len(g.pods)), since(g.oldest),
		})
		if only != "" && only != g.reason {
			continue
		}
		for _, pod := range g.pods {
			members.Rows = append(members.Rows, row{
				text(pod.Namespace), link(pod.Name, podPath(pod.Namespace, pod.Name)), since(waitsSince(pod)), text(g.reason),
			})
		}
	}
	p := &page{Title: "Waiting pods", View: "waiting", Tables: []*table{groups, members}, Notes: s.notes(pods)}
	if only != "" {
		p.Facts = []fact{{"Only those of", text(only)}, {"All", link("show all waiting pods", "?")}}
	}
	return p
}

// groups are the waiting pods by reason, the most of them first.
func (s *snapshot) groups() []*group {
	byReason := map[string]*group{}
	var found []*group
	for i := range s.state.Objects.Pods {
		pod := &s.state.Objects.Pods[i]
		if !workload.Pending(pod) || !slices.Contains(s.state.Schedulers, pod.Spec.SchedulerName) {
			continue
		}
		reason := reasonOf(pod)
		g := byReason[reason]
		if g == nil {
			g = &group{reason: reason, oldest: waitsSince(pod)}
			byReason[reason] = g
			found = append(found, g)
		}
		g.pods = append(g.pods, pod)
		if t := waitsSince(pod); t.Before(g.oldest) {
			g.oldest = t
		}
	}
	for _, g := range found {
		slices.SortFunc(g.pods, func(a, b *corev1.Pod) int {
			return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
		})
	}
	slices.SortFunc(found, func(a, b *group) int {
		return cmp.Or(cmp.Compare(len(b.pods), len(a.pods)), strings.Compare(a.reason, b.reason))
	})
	return found
}

// waitsSince is when the scheduler first said that a pod waits, or else when it was made.
func waitsSince(pod *corev1.Pod) time.Time {
	if t := workload.UnplacedSince(pod); !t.IsZero() {
		return t
	}
	return pod.CreationTimestamp.Time
}

var (
	// available begins what kube-scheduler says of a pod that fits nowhere.
	available = regexp.MustCompile(`^\d+/\d+ nodes are available: `)
	// counted is one of its reasons with the number of nodes.
	counted = regexp.MustCompile(`^\d+ `)
)

// reasonOf says why a pod waits in words that are the same for all pods that wait for the same:
// without numbers of nodes, and without what preemption would change.
func reasonOf(pod *corev1.Pod) string {
	message := workload.PendingMessage(pod)
	begin := available.FindString(message)
	switch {
	case message == "" && len(pod.Spec.SchedulingGates) > 0:
		return "scheduling gates hold it back"
	case message == "":
		return "no scheduler has said anything about it yet"
	case begin == "":
		return bounded(message)
	}
	// What follows the reasons of the nodes is what plugins did in vain afterwards.
	said, _, _ := strings.Cut(message[len(begin):], ". ")
	reasons := strings.Split(strings.TrimSuffix(strings.TrimSpace(said), "."), ", ")
	for i := range reasons {
		reasons[i] = counted.ReplaceAllString(reasons[i], "")
	}
	slices.Sort(reasons)
	return bounded(strings.Join(slices.Compact(reasons), ", "))
}
