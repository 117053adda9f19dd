// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"berth.dev/berth/pkg/placement/apportion"
)

// Counts holds the pods of one revision by cluster. The methods that read are safe for concurrent
// use between two calls of View.Refresh.
type Counts struct {
	clusters []*apportion.Held
	stray    int
	total    int
}

// Held returns the pods in the cluster with the given ID, nil if there are none. A nil *Counts
// holds nothing.
func (c *Counts) Held(cluster int32) *apportion.Held {
	if c == nil || cluster < 0 || int(cluster) >= len(c.clusters) {
		return nil
	}
	return c.clusters[cluster]
}

func (c *Counts) add(cluster, seat int32) {
	c.total++
	if cluster == NoCluster {
		c.stray++
		return
	}
	for int(cluster) >= len(c.clusters) {
		c.clusters = append(c.clusters, nil)
	}
	if c.clusters[cluster] == nil {
		c.clusters[cluster] = &apportion.Held{}
	}
	c.clusters[cluster].Add(int64(seat))
}

func (c *Counts) remove(cluster, seat int32) {
	c.total--
	if cluster == NoCluster {
		c.stray--
		return
	}
	c.clusters[cluster].Remove(int64(seat))
}
