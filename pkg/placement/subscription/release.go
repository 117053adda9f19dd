// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/names"
)

// What Helm writes on each object that it installs with a release.
const (
	managedByLabel             = "app.kubernetes.io/managed-by"
	managedByHelm              = "Helm"
	releaseNameAnnotation      = "meta.helm.sh/release-name"
	releaseNamespaceAnnotation = "meta.helm.sh/release-namespace"
)

// HelmSelector selects, with others, all objects that are part of a Helm release.
const HelmSelector = managedByLabel + "=" + managedByHelm

// ReleaseOf returns the Helm release of its namespace that an object is part of, empty if it is
// part of none. Controllers copy labels and annotations to what they make, as from a Deployment to
// its ReplicaSets: what has a controller is not what Helm installed. ReleaseOf does not allocate.
func ReleaseOf(o metav1.Object) string {
	if o.GetLabels()[managedByLabel] != managedByHelm || metav1.GetControllerOfNoCopy(o) != nil {
		return ""
	}
	annotations := o.GetAnnotations()
	if annotations[releaseNamespaceAnnotation] != o.GetNamespace() {
		return ""
	}
	return annotations[releaseNameAnnotation]
}

// TrimRelease leaves of the labels and annotations of an object those that ReleaseOf reads.
func TrimRelease(o metav1.Object) {
	annotations := o.GetAnnotations()
	o.SetLabels(map[string]string{managedByLabel: o.GetLabels()[managedByLabel]})
	o.SetAnnotations(map[string]string{
		releaseNameAnnotation:      annotations[releaseNameAnnotation],
		releaseNamespaceAnnotation: annotations[releaseNamespaceAnnotation],
	})
}

// Releases returns the names of the Helm releases that a Subscription lists, each once, in order.
func Releases(s *berthv1alpha1.Subscription) []string {
	var found []string
	seen := sets.Set[string]{}
	for i := range s.Spec.Feeds {
		if feed := &s.Spec.Feeds[i]; isRelease(feed) && !Foreign(s, feed) && !seen.Has(feed.HelmRelease) {
			seen.Insert(feed.HelmRelease)
			found = append(found, feed.HelmRelease)
		}
	}
	return found
}

func isRelease(feed *berthv1alpha1.Feed) bool { return feed.Kind == "" && feed.HelmRelease != "" }

// Trouble says what is wrong with a Helm release that a Subscription lists.
type Trouble struct {
	// Reason is one of those of the condition Parsed of a feed.
	Reason string
	// Message says the same in words.
	Message string
}

// Expand returns the Subscription with objects in place of the Helm releases that it lists: those
// that its status names, but for the ones that are feeds anyway. A release with which something is
// wrong has a feed of its own behind them, that names nothing but the release; troubles tells what
// it is, by the index of that feed. A Subscription without releases is returned as it is; others
// are not changed, but copied as far as needed.
func Expand(s *berthv1alpha1.Subscription) (expanded *berthv1alpha1.Subscription, troubles map[int]Trouble) {
	if !slices.ContainsFunc(s.Spec.Feeds, func(feed berthv1alpha1.Feed) bool { return isRelease(&feed) }) {
		return s, nil
	}
	e := expansion{of: s, listed: sets.Set[key]{}, seen: sets.Set[string]{}, troubles: map[int]Trouble{}}
	for i := range s.Spec.Feeds {
		if feed := &s.Spec.Feeds[i]; !isRelease(feed) {
			e.listed.Insert(keyOf("", feed))
			e.count++
		}
	}
	for i := range s.Spec.Feeds {
		if feed := &s.Spec.Feeds[i]; isRelease(feed) {
			e.addRelease(feed)
		} else {
			e.feeds = append(e.feeds, *feed)
		}
	}
	shallow := *s
	shallow.Spec.Feeds = e.feeds
	return &shallow, e.troubles
}

// expansion collects the feeds of a Subscription.
type expansion struct {
	of *berthv1alpha1.Subscription
	// listed are the objects that are feeds, and seen the releases, so far.
	listed   sets.Set[key]
	seen     sets.Set[string]
	count    int
	feeds    []berthv1alpha1.Feed
	troubles map[int]Trouble
}

// maxOverlaps is how many objects a message names.
const maxOverlaps = 3

func (e *expansion) addRelease(feed *berthv1alpha1.Feed) {
	name := feed.HelmRelease
	release := releaseNamed(e.of, name)
	switch {
	case Foreign(e.of, feed):
		e.trouble(feed, berthv1alpha1.ReasonFeedForeignNamespace,
			fmt.Sprintf("a Subscription can list Helm releases of its own namespace only, not of %q", feed.Namespace))
		return
	case e.seen.Has(name):
		e.trouble(feed, berthv1alpha1.ReasonFeedDuplicate, "the Helm release is listed twice")
		return
	}
	e.seen.Insert(name)
	if release == nil {
		e.trouble(feed, berthv1alpha1.ReasonFeedUnreadable, "it is not known yet which objects the Helm release has")
		return
	}
	overlaps := e.addObjects(release)
	switch {
	case release.Message != "":
		e.trouble(feed, berthv1alpha1.ReasonFeedUnreadable, release.Message)
	case len(release.Objects) == 0:
		e.trouble(feed, berthv1alpha1.ReasonFeedNotFound, "the Helm release has no object")
	case e.count > berthv1alpha1.MaxFeeds:
		e.trouble(feed, berthv1alpha1.ReasonFeedInvalid, fmt.Sprintf(
			"the feeds of a Subscription can be %d objects at most: the last ones of the Helm release are left out", berthv1alpha1.MaxFeeds))
	case len(overlaps) > 0:
		e.trouble(feed, berthv1alpha1.ReasonFeedDuplicate,
			"listed twice, as part of the Helm release and apart from it: "+names.First(overlaps, maxOverlaps, ", "))
	}
}

// addObjects adds the objects of a release that are no feeds yet, and names the others.
func (e *expansion) addObjects(release *berthv1alpha1.HelmRelease) (overlaps []string) {
	for i := range release.Objects {
		object := release.Objects[i]
		k := keyOf("", &object)
		if e.listed.Has(k) {
			overlaps = append(overlaps, object.Describe())
			continue
		}
		if e.count++; e.count > berthv1alpha1.MaxFeeds {
			break
		}
		e.listed.Insert(k)
		object.HelmRelease = release.Name
		e.feeds = append(e.feeds, object)
	}
	return overlaps
}

func (e *expansion) trouble(feed *berthv1alpha1.Feed, reason, message string) {
	e.troubles[len(e.feeds)] = Trouble{reason, message}
	e.feeds = append(e.feeds, *feed)
}

func releaseNamed(s *berthv1alpha1.Subscription, name string) *berthv1alpha1.HelmRelease {
	for i := range s.Status.HelmReleases {
		if release := &s.Status.HelmReleases[i]; release.Name == name {
			return release
		}
	}
	return nil
}
