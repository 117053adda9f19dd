// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"k8s.io/apimachinery/pkg/util/sets"
)

// ChangedClusters returns the names of the clusters that came, went or changed between two
// snapshots.
func ChangedClusters(before, after *Snapshot) sets.Set[string] {
	changed := sets.New[string]()
	for name, version := range after.clusters {
		if before.clusters[name] != version {
			changed.Insert(name)
		}
	}
	for name := range before.clusters {
		if _, still := after.clusters[name]; !still {
			changed.Insert(name)
		}
	}
	return changed
}

// ChangedNamespaces returns the namespaces whose waiting pods a change may concern: those with a
// policy that came, went or changed, and those with any policy if a cluster did, which moved
// reports. A cluster that no policy names counts too, because nodes that it gives up or claims
// leave or join others. All is true if every namespace is concerned, because there was no snapshot
// before.
func ChangedNamespaces(before, after *Snapshot) (namespaces sets.Set[string], moved, all bool) {
	if before == nil || after == nil {
		return nil, false, true
	}
	namespaces = sets.New[string]()
	moved = len(ChangedClusters(before, after)) > 0
	for key, policy := range after.policies {
		if moved || before.policies[key] != policy {
			namespaces.Insert(key.Namespace)
		}
	}
	for key := range before.policies {
		if after.policies[key] == nil {
			namespaces.Insert(key.Namespace)
		}
	}
	return namespaces, moved, false
}

// Uncordoned reports whether a cluster that was cordoned takes pods again, or is gone with what
// kept its nodes from taking them.
func Uncordoned(before, after *Snapshot) bool {
	for name := range before.Cordoned {
		if !after.Cordoned[name] {
			return true
		}
	}
	return false
}
