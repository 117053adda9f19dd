// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"berth.dev/berth/cmd/internal/flagtest"
)

func TestSize(t *testing.T) {
	for name, test := range map[string]struct {
		clusters, nodes int
		want            string
	}{
		"the smallest":              {clusters: 1, nodes: 1},
		"most clusters":             {clusters: MaxClusters, nodes: 50},
		"most nodes of a cluster":   {clusters: 5, nodes: MaxNodes},
		"no cluster":                {clusters: 0, nodes: 1, want: "--clusters=0: must be from 1 to 100"},
		"too many clusters":         {clusters: MaxClusters + 1, nodes: 1, want: "--clusters=101"},
		"no nodes":                  {clusters: 1, nodes: 0, want: "--nodes=0: must be from 1 to 1000"},
		"too many nodes":            {clusters: 1, nodes: MaxNodes + 1, want: "--nodes=1001"},
		"too many nodes altogether": {clusters: 51, nodes: 100, want: "more than 5000 nodes altogether"},
	} {
		t.Run(name, func(t *testing.T) {
			flagtest.CheckError(t, Options{Clusters: test.clusters, Nodes: test.nodes}.validate(), test.want)
		})
	}
}

func TestSchedulerTemplate(t *testing.T) {
	deployment := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": "Deployment", "metadata": map[string]any{"name": name}, "spec": map[string]any{"replicas": int64(2)},
		}}
	}
	service := &unstructured.Unstructured{Object: map[string]any{"kind": "Service", "metadata": map[string]any{"name": "berth-scheduler"}}}
	broken := &unstructured.Unstructured{Object: map[string]any{
		"kind": "Deployment", "metadata": map[string]any{"name": "berth-scheduler"}, "spec": "none",
	}}
	for name, test := range map[string]struct {
		objects []*unstructured.Unstructured
		want    string
	}{
		"among others":   {objects: []*unstructured.Unstructured{service, deployment("berth-gateway"), deployment("berth-scheduler")}},
		"missing":        {objects: []*unstructured.Unstructured{service}, want: "no Deployment berth-scheduler"},
		"not understood": {objects: []*unstructured.Unstructured{broken}, want: "preparing Deployment berth-scheduler"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := schedulerTemplate(test.objects)
			flagtest.CheckError(t, err, test.want)
			if err != nil {
				return
			}
			replicas, found, err := unstructured.NestedInt64(got.Object, "spec", "replicas")
			if got.GetName() != "berth-scheduler" || !found || err != nil || replicas != 0 {
				t.Errorf("the template is %v, want berth-scheduler without replicas", got.Object)
			}
		})
	}
}
