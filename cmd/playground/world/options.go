// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package world is what surrounds a user of Berth: a control plane, clusters of fake nodes, and
// Berth's own programs, running as they run in production.
package world

import (
	"fmt"
	"strconv"
)

// How large a world may be: what one machine drives without getting slow.
const (
	MaxClusters = 100
	MaxNodes    = 1000
	maxAllNodes = 5000
)

// Options says where the programs are and how large the world is.
type Options struct {
	// BinDir holds the programs of the control plane and Berth's own.
	BinDir string
	// Manifests is the directory with crds/ and base/.
	Manifests string
	// StateDir is where everything is kept; empty means a new temporary directory.
	StateDir string
	// Keep leaves StateDir behind.
	Keep bool
	// Empty leaves Berth out: there are nodes, and what is installed in its namespace is run.
	Empty bool
	// Clusters is the number of clusters, Nodes the number of nodes in each.
	Clusters, Nodes int
}

func (o Options) validate() error {
	switch {
	case o.Clusters < 1 || o.Clusters > MaxClusters:
		return fmt.Errorf("--clusters=%d: must be from 1 to %d", o.Clusters, MaxClusters)
	case o.Nodes < 1 || o.Nodes > MaxNodes:
		return fmt.Errorf("--nodes=%d: must be from 1 to %d", o.Nodes, MaxNodes)
	case o.Clusters*o.Nodes > maxAllNodes:
		return fmt.Errorf("--clusters=%d --nodes=%d: more than %d nodes altogether", o.Clusters, o.Nodes, maxAllNodes)
	default:
		return nil
	}
}

// places are the names of the first clusters.
var places = []string{
	"beijing", "hangzhou", "shanghai", "guangzhou", "shenzhen", "chengdu", "wuhan", "nanjing", "tianjin", "xian",
}

// clusterNames returns the names of the first n clusters.
func clusterNames(n int) []string {
	names := make([]string, 0, n)
	for i := range n {
		if i < len(places) {
			names = append(names, places[i])
		} else {
			names = append(names, "cluster-"+strconv.Itoa(i+1))
		}
	}
	return names
}
