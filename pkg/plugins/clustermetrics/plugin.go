// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clustermetrics is the scheduler plugin that keeps pods to the clusters that meet their
// constraints on labels, metrics and custom resources, and prefers the clusters with the best
// metrics for pods that ask for that. What the constraints mean and how clusters are ranked is
// decided in pkg/placement/constraint and pkg/placement/rank. The values of metrics are those in
// the status of Clusters: no provider is ever asked here.
package clustermetrics

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/rank"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/cyclestate"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/view"
)

// Name is the name of the plugin in a KubeSchedulerConfiguration.
const Name = "ClusterMetrics"

const (
	// errReasonNoCluster is the reason for nodes that lie in no Cluster.
	errReasonNoCluster = "node(s) in no cluster"

	// errReasonRejected and why a cluster is rejected, in the words of pkg/placement/rank, is the
	// reason for the nodes of such clusters: "node(s) in clusters not meeting location is DE".
	errReasonRejected = "node(s) in clusters %s"

	// errReasonPolicyUnknown rejects a pod for which nobody can tell whether a policy with
	// constraints is in force.
	errReasonPolicyUnknown = "the policy of the pod is not known, and with it what the cluster must meet"

	// errReasonUnreadable rejects pods with constraints while Clusters have never been read.
	errReasonUnreadable = "Clusters have not been read"
)

// skip is the answer for pods that the plugin does not concern. The framework only reads it.
var skip = fwk.NewStatus(fwk.Skip)

// Shared is what the instances of the plugin, one for each profile, have in common.
type Shared struct {
	// Catalog knows Clusters and policies.
	Catalog *catalog.Catalog
	// Owners finds the workload of a pod.
	Owners workload.Source
	// View tells which node lies in which cluster and who runs where. It is used inside scheduling
	// cycles only.
	View *view.View
}

// ClusterMetrics is a plugin that admits pods to the clusters that meet their constraints.
type ClusterMetrics struct {
	shared *Shared
	kept   cyclestate.Kept
}

var (
	_ fwk.EnqueueExtensions = &ClusterMetrics{}
	_ fwk.SignPlugin        = &ClusterMetrics{}
	_ fwk.PreFilterPlugin   = &ClusterMetrics{}
	_ fwk.FilterPlugin      = &ClusterMetrics{}
	_ fwk.PreScorePlugin    = &ClusterMetrics{}
	_ fwk.ScorePlugin       = &ClusterMetrics{}
)

// New returns the plugin for one profile.
func New(shared *Shared) *ClusterMetrics {
	return &ClusterMetrics{shared: shared}
}

// Name returns the name of the plugin.
func (*ClusterMetrics) Name() string {
	return Name
}

// SignPod lets pods without constraints be scheduled in batches. The others are not signed: where
// one of a workload runs is what makes the next one stick there.
func (p *ClusterMetrics) SignPod(ctx context.Context, pod *corev1.Pod) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "SignPod", &status)
	snapshot := p.shared.Catalog.Snapshot()
	if rank.HasWish(pod.Annotations) || snapshot == nil || p.constrained(snapshot, pod) {
		return nil, fwk.NewStatus(fwk.Unschedulable, "pods with constraints on clusters are placed one by one")
	}
	return nil, nil
}

// constrained reports whether the pod is, or may be, one of a policy with constraints.
func (p *ClusterMetrics) constrained(snapshot *catalog.Snapshot, pod *corev1.Pod) bool {
	inForce, err := p.shared.constrainedBy(snapshot, pod)
	return err != nil || inForce != nil && inForce.Constrained()
}
