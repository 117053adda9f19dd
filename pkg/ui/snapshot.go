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
	version string
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
	// remedies and health are looked up beside what the snapshot knows.
	remedies *lookups[*Remedies]
	health   health
}

// newSnapshot is called with the lock of the Source.
func newSnapshot(s *Source) *snapshot {
	found := &snapshot{
		version: s.title(), at: time.Now(), namespace: s.namespace, missing: map[string]string{}, stale: s.staleSince(),
		remedies: s.remedies, health: s.health,
	}
	for name, k := range s.kinds {
		if why := k.missing(); why != "" {
			found.missing[name] = why
		}
	}
	objects := &placement.Objects{}
	objects.Further = s.further
	known(s, found, policies, &objects.Policies)
	known(s, found, clusters, &objects.Clusters)
	known(s, found, nodes, &objects.Nodes)
	known(s, found, pods, &objects.Pods)
	known(s, found, subscriptions, &objects.Subscriptions)
	for _, name := range owners() {
		for _, object := range s.objects(found, name) {
			if owner, ok := object.(workload.Object); ok {
				objects.Owners = append(objects.Owners, owner)
			}
		}
	}
	known(s, found, resources, &found.resources)
	known(s, found, applications, &found.applications)
	slices.SortFunc(found.resources, func(a, b berthv1alpha1.ClusterResource) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(found.applications, func(a, b berthv1alpha1.Application) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	found.state = placement.NewState(objects, s.schedulers)
	found.placed, _ = found.state.Placed()
	return found
}

// objects returns those of a kind, none if it is missing: what was read before the right to do so
// was withdrawn is still in the cache, and neither up to date nor the user's to see.
func (s *Source) objects(found *snapshot, name string) []any {
	if found.missing[name] != "" {
		return nil
	}
	return s.kinds[name].informer.GetStore().List()
}

func known[T any](s *Source, found *snapshot, name string, into *[]T) {
	list := s.objects(found, name)
	*into = make([]T, 0, len(list))
	for _, object := range list {
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

// empty is what a table without rows says, if the kinds that its rows come from are known.
func (s *snapshot) empty(says string, needed ...string) string {
	if !s.knows(needed...) {
		return "What belongs here is not known."
	}
	return says
}

// knows reports whether all of the kinds are known.
func (s *snapshot) knows(needed ...string) bool {
	return !slices.ContainsFunc(needed, func(name string) bool { return s.missing[name] != "" })
}
