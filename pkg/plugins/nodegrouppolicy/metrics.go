// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"sync/atomic"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/placement/admit"
)

// reason is a cause for which this plugin rejects nodes or pods.
type reason uint32

const (
	reasonNoCluster             = reason(admit.NoCluster)
	reasonShareUsedUp           = reason(admit.ShareUsedUp)
	reasonOtherSeat             = reason(admit.OtherSeat)
	reasonLaterTurn             = reason(admit.LaterTurn)
	reasonCordoned              = reason(admit.Cordoned)
	reasonPolicyNotFound reason = iota
	reasonPolicyInvalid
	reasonOwnerNotFound
	reasonUnreadable
	reasonContended
	reasons
)

// String returns the reason as the user sees it.
func (r reason) String() string {
	return [...]string{
		errReasonNoCluster, errReasonShareUsedUp, errReasonOtherSeat, errReasonLaterTurn, errReasonCordoned,
		errReasonPolicyNotFound, errReasonPolicyInvalid, errReasonOwnerNotFound, errReasonUnreadable, errReasonContended,
	}[r]
}

func (r reason) label() string {
	return [...]string{
		"NoCluster", "ShareUsedUp", "OtherSeat", "LaterTurn", "Cordoned",
		"PolicyNotFound", "PolicyInvalid", "OwnerNotFound", "Unreadable", "Contended",
	}[r]
}

var (
	rejectedAttempts = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: "berth_node_group",
		Name:      "rejected_attempts_total",
		Help: "Scheduling attempts that failed and in which NodeGroupPolicy rejected the pod or some of the nodes, " +
			"by reason. One attempt can count under several reasons.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"reason"})

	recountDuration = metrics.NewHistogram(&metrics.HistogramOpts{
		Subsystem: "berth_view",
		Name:      "recount_duration_seconds",
		Help:      "Time that bringing the count of pods by cluster up to date takes, once per attempt to place a pod with a policy.",
		// From 1 µs; the last bucket is [~260 ms, Inf).
		Buckets:        metrics.ExponentialBuckets(1e-6, 4, 10),
		StabilityLevel: metrics.ALPHA,
	})

	recountedNodes = metrics.NewCounter(&metrics.CounterOpts{
		Subsystem:      "berth_view",
		Name:           "recounted_nodes_total",
		Help:           "Nodes whose pods were counted anew because the node or its pods had changed.",
		StabilityLevel: metrics.ALPHA,
	})
)

// RegisterMetrics registers the metrics of the plugin. It may be called more than once.
func RegisterMetrics() {
	legacyregistry.Register(rejectedAttempts) //nolint:errcheck // registering twice is allowed
	legacyregistry.Register(recountDuration)  //nolint:errcheck // registering twice is allowed
	legacyregistry.Register(recountedNodes)   //nolint:errcheck // registering twice is allowed
}

func observeRecount(nodes int, took time.Duration) {
	recountDuration.Observe(took.Seconds())
	if nodes > 0 {
		recountedNodes.Add(float64(nodes))
	}
}

// countRejections counts the reasons for which Filter rejected nodes in an attempt that failed.
func (s *state) countRejections() {
	seen := atomic.LoadUint32(s.rejected)
	for r := range reasons {
		if seen&(1<<r) != 0 {
			rejectedAttempts.WithLabelValues(r.label()).Inc()
		}
	}
}

// reject rejects the pod as a whole and counts it. Evicting other pods never helps such a pod;
// besides, a dry run of preemption would ask Filter without the state that PreFilter did not come
// to write.
func reject(r reason) *fwk.Status {
	rejectedAttempts.WithLabelValues(r.label()).Inc()
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, r.String())
}
