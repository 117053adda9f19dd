// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/internal/oracle"
)

// values returns the least and the most that a cluster is worth.
func (f *fleet) values(a *tenant, name, current string) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, cluster := range f.place(name).versions() {
		value := a.value(cluster, current)
		least, most = min(least, value), max(most, value)
	}
	return least, most
}

// value returns what a cluster is worth: the mean of its metrics and of the stickiness, -1 if one
// has no value.
func (a *tenant) value(cluster *berthv1alpha1.Cluster, current string) float64 {
	weighed := a.app.Spec.Metrics
	if len(weighed) == 0 {
		weighed = weights
	}
	sum, total := 0.0, 0.1
	for _, m := range weighed {
		total += m.Weight
		switch s := sampleOf(cluster, m.Name); {
		case s == nil || s.Normalized == nil:
			return -1
		case cluster.Name == current || !s.Stale && s.Reason != berthv1alpha1.ReasonOutOfRange:
			sum += m.Weight * *s.Normalized
		case s.Reason != berthv1alpha1.ReasonOutOfRange:
			return -1
		}
	}
	if cluster.Name == current {
		sum += 0.1
	}
	return sum / total
}

func sampleOf(cluster *berthv1alpha1.Cluster, metric string) *berthv1alpha1.MetricSample {
	for i := range cluster.Status.Metrics {
		if s := &cluster.Status.Metrics[i]; s.Name == metric {
			return s
		}
	}
	return nil
}

// suits reports whether a cluster may, and whether it must have come into question.
func (f *fleet) suits(a *tenant, before *berthv1alpha1.Application, name, current string) (may, must bool) {
	must = true
	for _, cluster := range f.place(name).versions() {
		switch {
		case cluster.Online() == nil:
			may, must = true, false // Nobody waits for ever until it is known.
		case a.matches(cluster, current):
			may = true
		default:
			must = false
		}
	}
	// Times may be passed by while somebody decides.
	if f.leftOut(a, before, name, current, -oracle.Settled) {
		must = false
	}
	if f.leftOut(a, before, name, current, oracle.Settled) {
		may = false
	}
	return may, must
}

// matches reports whether an Application asks for nothing that a cluster lacks.
func (a *tenant) matches(cluster *berthv1alpha1.Cluster, current string) bool {
	is, wants := cluster.Name == current, &a.app.Spec
	if cluster.Spec.Drain || cluster.Spec.Unschedulable && !is {
		return false
	}
	if online := cluster.Online(); online.Status != metav1.ConditionTrue {
		return is && wants.Failover != nil && time.Since(online.LastTransitionTime.Time) < failover
	}
	if len(wants.Constraints.ClusterLabels) > 0 && cluster.Labels["side"] != "east" {
		return false
	}
	return len(wants.Constraints.ClusterMetrics) == 0 || isGreen(sampleOf(cluster, "green"), is)
}

// isGreen reports whether a sample meets the constraint that there is; where an Application runs
// its last value counts.
func isGreen(s *berthv1alpha1.MetricSample, current bool) bool {
	return s != nil && s.Value != nil && *s.Value >= 0.2 && (current || !s.Stale)
}

// failover is how long a cluster may be offline that an Application with a failover stays in, and
// returnAfter how long one that it has left must have been online, both as by default.
const (
	failover    = 5 * time.Minute
	returnAfter = 30 * time.Minute
)

// leftOut reports whether a cluster is left out since a move to it has failed, or since it was left
// while it was offline, at a time that so much lies ahead.
func (f *fleet) leftOut(a *tenant, before *berthv1alpha1.Application, name, current string, ahead time.Duration) bool {
	at := time.Now().Add(ahead)
	out := slices.ContainsFunc(a.app.Status.LeftOut, func(out berthv1alpha1.LeftOutCluster) bool {
		return out.Cluster == name && at.Before(out.Until.Time)
	})
	if out || name == current || current == "" {
		return out
	}
	if online := f.place(name).now.Online(); online != nil && at.Before(online.LastTransitionTime.Add(returnAfter)) {
		return slices.ContainsFunc(before.Status.FailedOver, func(left berthv1alpha1.FailedOverCluster) bool { return left.Cluster == name })
	}
	return false
}
