// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/subscription"
)

// resolve replaces the Subscriptions that list Helm releases with copies that know in their status
// which objects these have. Of kinds that make no pods, those that are recorded count: nobody reads
// such objects from a cluster for a simulation.
func (s *Simulation) resolve(subscriptions []*berthv1alpha1.Subscription) {
	for i, object := range subscriptions {
		releases := subscription.Releases(object)
		if len(releases) == 0 {
			continue
		}
		after := object.DeepCopy()
		after.Status.HelmReleases = nil
		for _, name := range releases {
			objects := s.ofRelease(object.Namespace, name)
			for _, recorded := range object.Status.HelmReleases {
				for _, feed := range recorded.Objects {
					if recorded.Name == name && workload.KindFor(feed.APIVersion, feed.Kind) == nil && !slices.Contains(objects, feed) {
						objects = append(objects, feed)
					}
				}
			}
			slices.SortFunc(objects, func(a, b berthv1alpha1.Feed) int {
				return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
			})
			after.Status.HelmReleases = append(after.Status.HelmReleases, berthv1alpha1.HelmRelease{Name: name, Objects: objects})
		}
		subscriptions[i] = after
	}
}

// ofRelease returns the objects of a Helm release.
func (s *Simulation) ofRelease(namespace, name string) []berthv1alpha1.Feed {
	var found []berthv1alpha1.Feed
	known := feeds.ReleaseKinds()
	add := func(o metav1.Object) {
		typed, ok := o.(runtime.Object)
		if !ok || o.GetNamespace() != namespace || subscription.ReleaseOf(o) != name {
			return
		}
		if kinds, _, err := scheme.ObjectKinds(typed); err == nil && known.Has(kinds[0].GroupKind()) {
			found = append(found, berthv1alpha1.Feed{APIVersion: kinds[0].GroupVersion().String(), Kind: kinds[0].Kind, Name: o.GetName()})
		}
	}
	for _, o := range s.objects {
		add(o)
	}
	for _, pod := range s.pods {
		add(pod)
	}
	return found
}
