// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
)

// parallelNodes bounds how many nodes are looked at together.
const parallelNodes = 8

// InUseError says that a cluster must not be unregistered yet.
type InUseError struct {
	// Cluster is the name of the cluster.
	Cluster string
}

// Error returns one line.
func (e *InUseError) Error() string {
	return fmt.Sprintf("replicas that Berth placed still run in cluster %q: move them away first, or use force", e.Cluster)
}

// CheckUnused returns an *InUseError if a pod that Berth placed in the cluster still runs there.
// Other pods do not need the Cluster: unregistering it takes nothing away from them. Any other
// error means that the pods could not be listed.
func CheckUnused(ctx context.Context, pods corev1client.PodsGetter, cluster *berthv1alpha1.Cluster) error {
	nodes := slices.Concat(cluster.Status.ContainedNodes, cluster.Spec.Nodes)
	slices.Sort(nodes)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallelNodes)
	for _, node := range slices.Compact(nodes) {
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error { return checkNode(groupCtx, pods, cluster.Name, node) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	// Without an error all nodes have been looked at, unless time ran out before.
	return ctx.Err()
}

func checkNode(ctx context.Context, pods corev1client.PodsGetter, cluster, node string) error {
	running, err := pods.Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		// The cache of the API server is milliseconds old. A quorum read would wait a tenth of a second
		// for it to be up to date, and a pod can be bound right after that as well.
		ResourceVersion: "0",
		FieldSelector: fields.AndSelectors(
			fields.OneTermEqualSelector("spec.nodeName", node),
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
		).String(),
	})
	if err != nil {
		return fmt.Errorf("listing the pods of node %q: %w", node, err)
	}
	for i := range running.Items {
		if placed, ok := stamp.Of(&running.Items[i]); ok && placed.Cluster == cluster {
			return &InUseError{Cluster: cluster}
		}
	}
	return nil
}
