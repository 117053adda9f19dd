// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package chronicle

import (
	"bytes"
	"fmt"
	"maps"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/history"
)

// shares tells how a policy divides workloads where that has changed, which limits hold, and which
// clusters are left.
func shares(before, after *berthv1alpha1.PropagationPolicy) []history.Entry {
	was, limited := map[berthv1alpha1.WorkloadReference]map[string]int32{}, map[berthv1alpha1.WorkloadReference]map[string]int32{}
	for i := range before.Status.Workloads {
		was[before.Status.Workloads[i].Ref] = desired(&before.Status.Workloads[i])
	}
	for i := range before.Status.Limited {
		limited[before.Status.Limited[i].Ref] = limits(&before.Status.Limited[i])
	}
	var entries []history.Entry
	add := func(ref berthv1alpha1.WorkloadReference, decision history.Decision, message string) {
		e := history.Entry{Decision: decision, Message: message, For: state.Asker(after)}
		if ref.Name != "" {
			e.Workload = history.Named(ref.APIVersion, ref.Kind, after.Namespace, ref.Name, "")
			e.Message = ref.Kind + " " + ref.Name + ": " + message
		}
		entries = append(entries, e)
	}
	for i := range after.Status.Workloads {
		w := &after.Status.Workloads[i]
		if is := desired(w); !maps.Equal(is, was[w.Ref]) {
			add(w.Ref, history.SharesChanged, counts("%s %d", is))
		}
	}
	for i := range after.Status.Limited {
		l := &after.Status.Limited[i]
		if is := limits(l); !maps.Equal(is, limited[l.Ref]) {
			add(l.Ref, history.LimitsChanged, limitText(l, is))
		}
		delete(limited, l.Ref)
	}
	for ref := range limited {
		add(ref, history.LimitsChanged, "no cluster is limited any more")
	}
	is, more := after.Status.FailedOver, !bytes.Equal(after.Status.FailedOverMore, before.Status.FailedOverMore)
	if told, changed := leaves(after.Spec.Failover, before.Status.FailedOver, is); changed || more {
		add(berthv1alpha1.WorkloadReference{}, history.FailedOver, told)
	}
	return entries
}

// desired returns the shares of clusters that have one.
func desired(w *berthv1alpha1.WorkloadPlacement) map[string]int32 {
	shares := make(map[string]int32, len(w.Clusters))
	for i := range w.Clusters {
		if c := &w.Clusters[i]; c.Desired > 0 {
			shares[c.Name] = c.Desired
		}
	}
	return shares
}

func limits(l *berthv1alpha1.LimitedWorkload) map[string]int32 {
	limits := make(map[string]int32, len(l.Clusters))
	for i := range l.Clusters {
		limits[l.Clusters[i].Name] = l.Clusters[i].Replicas
	}
	return limits
}

func limitText(l *berthv1alpha1.LimitedWorkload, is map[string]int32) string {
	text := counts("%s at most %d", is)
	if l.LimitedBy != "" {
		text += ", because the scheduler says: " + l.LimitedBy
	}
	return text
}

// counts tells numbers by cluster.
func counts(format string, numbers map[string]int32) string {
	if len(numbers) == 0 {
		return "no cluster gets any"
	}
	texts := make([]string, 0, len(numbers))
	for name, n := range numbers {
		texts = append(texts, fmt.Sprintf(format, name, n))
	}
	return listed(texts)
}
