// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/model/workload"
)

// snapshot is what a Source knew at one moment. It does not change.
type snapshot struct {
	version uint64
	at      time.Time
	// namespace is empty for all of them.
	namespace string
	state     *placement.State
	// placed are the workloads that policies place.
	placed       []placement.Workload
	resources    []berthv1alpha1.ClusterResource
	applications []berthv1alpha1.Application
	// missing tells of each kind that is not known why.
	missing map[string]string
	// stale is since when something is outdated, the zero time if nothing is.
	stale time.Time
}

// newSnapshot is called with the lock of the Source.
func newSnapshot(s *Source) *snapshot {
	found := &snapshot{
		version: s.version, at: time.Now(), namespace: s.namespace, missing: map[string]string{}, stale: s.staleSince(),
	}
	for name, k := range s.kinds {
		if why := k.missing(); why != "" {
			found.missing[name] = why
		}
	}
	objects := &placement.Objects{}
	known(s.kinds[policies], &objects.Policies)
	known(s.kinds[clusters], &objects.Clusters)
	known(s.kinds[nodes], &objects.Nodes)
	known(s.kinds[pods], &objects.Pods)
	known(s.kinds[subscriptions], &objects.Subscriptions)
	for _, owners := range workload.Kinds() {
		for _, object := range s.kinds[owners.Resource].informer.GetStore().List() {
			if owner, ok := object.(workload.Object); ok {
				objects.Owners = append(objects.Owners, owner)
			}
		}
	}
	known(s.kinds[resources], &found.resources)
	known(s.kinds[applications], &found.applications)
	slices.SortFunc(found.resources, func(a, b berthv1alpha1.ClusterResource) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(found.applications, func(a, b berthv1alpha1.Application) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	found.state = placement.NewState(objects, s.schedulers)
	found.placed, _ = found.state.Placed()
	return found
}

func known[T any](k *kind, into *[]T) {
	for _, object := range k.informer.GetStore().List() {
		if item, ok := object.(*T); ok {
			*into = append(*into, *item)
		}
	}
}

// missing says why the objects are not known, empty if they are.
func (k *kind) missing() string {
	err := k.refused()
	switch {
	case apierrors.IsNotFound(err):
		return "is not installed"
	case err != nil:
		return "you have no right to list and watch"
	case !k.informer.HasSynced():
		return "has not been read yet"
	default:
		return ""
	}
}

// owners are the kinds that control pods.
func owners() []string {
	found := make([]string, 0, len(workload.Kinds()))
	for _, k := range workload.Kinds() {
		found = append(found, k.Resource)
	}
	return found
}

// notes says which of the kinds that a page is worked out from are not known.
func (s *snapshot) notes(needed ...string) []string {
	byReason := map[string][]string{}
	for _, name := range needed {
		if why := s.missing[name]; why != "" {
			byReason[why] = append(byReason[why], name)
		}
	}
	found := make([]string, 0, len(byReason))
	for _, why := range slices.Sorted(maps.Keys(byReason)) {
		found = append(found, fmt.Sprintf("Without %s (%s): what follows from them is left out.",
			strings.Join(slices.Sorted(slices.Values(byReason[why])), ", "), why))
	}
	return found
}

// knows reports whether all of the kinds are known.
func (s *snapshot) knows(needed ...string) bool {
	return !slices.ContainsFunc(needed, func(name string) bool { return s.missing[name] != "" })
}
