// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

// candidates remembers the Clusters as candidates, because hundreds of Applications ask for the
// same ones. It is safe for concurrent use.
type candidates struct {
	mu    sync.Mutex
	known map[string]*known
}

type known struct {
	resourceVersion string
	byNamespace     map[string]rank.Candidate
}

// list returns all Clusters as candidates for an Application.
func (c *candidates) list(ctx context.Context, reader client.Reader, app *berthv1alpha1.Application) ([]rank.Candidate, error) {
	var list berthv1alpha1.ClusterList
	if err := reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing clusters: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) > 2*len(list.Items)+rank.MaxShown {
		c.known = map[string]*known{} // Most of them are gone.
	}
	found := make([]rank.Candidate, len(list.Items))
	for i := range list.Items {
		found[i] = c.of(&list.Items[i], app)
		if found[i].Name == app.Status.ScheduledTo {
			found[i].LastScore = app.Status.Score
		}
	}
	return found, nil
}

func (c *candidates) of(cluster *berthv1alpha1.Cluster, app *berthv1alpha1.Application) rank.Candidate {
	if len(app.Spec.Metrics) > 0 {
		return rank.ApplicationCandidate(cluster, app) // Nobody else asks for these weights.
	}
	namespace := app.Namespace
	entry := c.known[cluster.Name]
	if entry == nil || entry.resourceVersion != cluster.ResourceVersion {
		entry = &known{cluster.ResourceVersion, map[string]rank.Candidate{}}
		c.known[cluster.Name] = entry
	}
	if !slices.ContainsFunc(cluster.Spec.Metrics, func(m berthv1alpha1.MetricReference) bool { return m.Namespace != "" }) {
		namespace = "" // It looks the same from all of them.
	}
	candidate, found := entry.byNamespace[namespace]
	if !found {
		candidate = rank.ClusterCandidate(cluster, namespace)
		entry.byNamespace[namespace] = candidate
	}
	return candidate
}
