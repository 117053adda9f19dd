// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// BenchmarkSimulate simulates a file with 100 Clusters of 50 nodes and 100 Deployments of 100 pods.
// Four of five Deployments are under a policy, the others are divided by room.
func BenchmarkSimulate(b *testing.B) {
	const sites, nodes, replicas = 100, 50, 100
	var world strings.Builder
	for i := range sites {
		fmt.Fprintf(&world, "---\napiVersion: berth.dev/v1alpha1\nkind: Cluster\n"+
			"metadata: {name: site%d, labels: {third: \"%d\"}}\nspec: {matchLabels: {site: site%d}}\n", i, i%3, i)
		for n := range nodes {
			fmt.Fprintf(&world, "---\napiVersion: v1\nkind: Node\nmetadata: {name: site%d-%d, labels: {site: site%d}}\n"+
				"status: {capacity: {cpu: \"4\", memory: 8Gi, pods: \"10\"}}\n", i, n, i)
		}
		fmt.Fprintf(&world, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web%d, namespace: shop}\n"+
			"spec:\n  replicas: %d\n  selector: {matchLabels: {app: web%d}}\n  template:\n    metadata: {labels: {app: web%d}}\n"+
			"    spec:\n      schedulerName: berth-scheduler\n"+
			"      containers: [{name: c, image: nginx, resources: {requests: {cpu: \"1\"}}}]\n", i, replicas, i, i)
		feed := fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, name: web%d}", i)
		if i%5 > 0 {
			fmt.Fprintf(&world, "---\napiVersion: berth.dev/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: web%d, namespace: shop}\nspec:\n"+
				"  resourceSelectors: [%s]\n  placement: {staticWeightList: [{clusterNames: [site%d], weight: 2}, {clusterNames: [site%d], weight: 3}]}\n",
				i, feed, i, (i+1)%sites)
			continue
		}
		fmt.Fprintf(&world, "---\napiVersion: berth.dev/v1alpha1\nkind: Subscription\nmetadata: {name: web%d, namespace: shop}\nspec:\n"+
			"  schedulingStrategy: Dividing\n  dividingScheduling: {type: Dynamic}\n  feeds: [%s]\n"+
			"  subscribers: [{clusterAffinity: {matchLabels: {third: \"%d\"}}}]\n", i, feed, i%3)
	}
	file := filepath.Join(b.TempDir(), "world.yaml")
	if err := os.WriteFile(file, []byte(world.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if got := clitest.Run(b.Context(), cli.Options{}, "simulate", "-f", file); got.Code != 0 {
			b.Fatalf("exit status %d: %s", got.Code, got.Err)
		}
	}
}
