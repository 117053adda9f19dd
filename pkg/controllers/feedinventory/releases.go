// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds"
	"berth.dev/berth/pkg/placement/subscription"
)

// releaseIndex lists the objects of Helm releases by namespace and name of the release.
const releaseIndex = "berth.dev/helm-release"

var byRelease = cache.Indexers{releaseIndex: func(object any) ([]string, error) {
	if key := releaseOf(object); key.Name != "" {
		return []string{key.String()}, nil
	}
	return nil, nil
}}

// releaseOf returns the Helm release that an object is part of; the name is empty if it is of none.
func releaseOf(object any) types.NamespacedName {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	meta, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: meta.Namespace, Name: subscription.ReleaseOf(meta)}
}

func onlyHelm(options *metav1.ListOptions) { options.LabelSelector = subscription.HelmSelector }

// trimmedToRelease is trimmed for objects of Helm releases, which keep what says so.
func trimmedToRelease(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	part := subscription.ReleaseOf(full) != ""
	short, err := trimmed(full)
	if kept, ok := short.(*metav1.PartialObjectMetadata); ok && part {
		kept.Labels, kept.Annotations = full.Labels, full.Annotations
		subscription.TrimRelease(kept)
	}
	return short, err
}

// releaseWanters are the Subscriptions that list Helm releases, by the release, and what each of
// them lists.
type releaseWanters struct {
	of     map[types.NamespacedName]sets.Set[types.NamespacedName]
	listed map[types.NamespacedName][]string
}

func newReleaseWanters() releaseWanters {
	return releaseWanters{of: map[types.NamespacedName]sets.Set[types.NamespacedName]{}, listed: map[types.NamespacedName][]string{}}
}

func (w releaseWanters) replace(s types.NamespacedName, releases []string) {
	for _, name := range w.listed[s] {
		key := types.NamespacedName{Namespace: s.Namespace, Name: name}
		if w.of[key].Delete(s); len(w.of[key]) == 0 {
			delete(w.of, key)
		}
	}
	delete(w.listed, s)
	if len(releases) > 0 {
		w.listed[s] = releases
	}
	for _, name := range releases {
		key := types.NamespacedName{Namespace: s.Namespace, Name: name}
		if w.of[key] == nil {
			w.of[key] = sets.New[types.NamespacedName]()
		}
		w.of[key].Insert(s)
	}
}

// wantReleases replaces which Helm releases a Subscription wants to follow, and of which kinds.
func (w *watches) wantReleases(s types.NamespacedName, releases []string, kinds []servedKind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.releases.replace(s, releases)
	scopes := sets.New[scope]()
	if len(releases) > 0 {
		for i := range kinds {
			scopes.Insert(scope{kinds[i].resource, true})
		}
	}
	w.use(s, true, scopes)
}

// releaseHandler tells those who list a release that an object has come to it, or left it.
func (w *watches) releaseHandler() cache.ResourceEventHandler {
	tell := func(releases ...types.NamespacedName) {
		w.mu.Lock()
		all := sets.New[types.NamespacedName]()
		for _, release := range releases {
			all = all.Union(w.releases.of[release])
		}
		w.mu.Unlock()
		w.changed(all.UnsortedList()...)
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if !initial { // What is there from the start is told once, when the list is complete.
				tell(releaseOf(object))
			}
		},
		UpdateFunc: func(before, after any) {
			if was, is := releaseOf(before), releaseOf(after); was != is {
				tell(was, is)
			}
		},
		DeleteFunc: func(object any) { tell(releaseOf(object)) },
	}
}

// servedKind is a kind that objects of Helm releases can have.
type servedKind struct {
	schema.GroupVersionKind
	resource schema.GroupVersionResource
}

// releaseKinds returns the kinds that are looked for in Helm releases: those that can be divided,
// and some that are copied whole. It remembers them until FeedParsers or definitions change.
func (r *Reconciler) releaseKinds() ([]servedKind, error) {
	r.mu.Lock()
	known := r.kinds
	r.mu.Unlock()
	if known != nil {
		return known, nil
	}
	found := []servedKind{}
	for _, kind := range r.parsers.kinds() {
		mapping, err := r.mapper.RESTMapping(kind)
		switch {
		case apimeta.IsNoMatchError(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("asking the API server for %s: %w", kind, err)
		case mapping.Scope.Name() == apimeta.RESTScopeNameNamespace:
			found = append(found, servedKind{mapping.GroupVersionKind, mapping.Resource})
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kinds = found
	return found, nil
}

// kinds returns the kinds that can be part of a Helm release: those of Kubernetes, and those that
// FeedParsers teach.
func (p *parsers) kinds() []schema.GroupKind {
	found := feeds.ReleaseKinds()
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.rules {
		found.Insert(schema.GroupKind{Group: p.rules[name].Group, Kind: p.rules[name].Kind})
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
}

// resolve returns the Subscription with the objects of its Helm releases in its status. The error
// is errPending if they are not known yet.
func (r *Reconciler) resolve(s *berthv1alpha1.Subscription) (*berthv1alpha1.Subscription, error) {
	key, releases := client.ObjectKeyFromObject(s), subscription.Releases(s)
	if len(releases) == 0 {
		r.watches.wantReleases(key, nil, nil)
		if len(s.Status.HelmReleases) == 0 {
			return s, nil
		}
	}
	after := s.DeepCopy()
	after.Status.HelmReleases = nil
	if len(releases) == 0 {
		return after, nil
	}
	kinds, err := r.releaseKinds()
	if err != nil {
		return nil, err
	}
	r.watches.wantReleases(key, releases, kinds)
	for _, name := range releases {
		release, err := r.release(types.NamespacedName{Namespace: s.Namespace, Name: name}, kinds)
		if err != nil {
			return nil, err
		}
		after.Status.HelmReleases = append(after.Status.HelmReleases, release)
	}
	return after, nil
}

// release returns the objects of a release. The error is errPending if they are not known yet.
func (r *Reconciler) release(key types.NamespacedName, kinds []servedKind) (berthv1alpha1.HelmRelease, error) {
	release := berthv1alpha1.HelmRelease{Name: key.Name}
	for i := range kinds {
		found, err := r.watches.ofRelease(key, kinds[i].resource)
		var pending errPending
		switch {
		case errors.As(err, &pending) && pending.left > 0:
			return release, err
		case apierrors.IsNotFound(err):
			continue // The kind is served no more.
		case err != nil:
			f := unreadable(&berthv1alpha1.Feed{Kind: kinds[i].Kind}, err)
			release.Message = f.message
			continue
		}
		for _, name := range found {
			release.Objects = append(release.Objects, berthv1alpha1.Feed{
				APIVersion: kinds[i].GroupVersion().String(), Kind: kinds[i].Kind, Name: name,
			})
		}
	}
	slices.SortStableFunc(release.Objects, func(a, b berthv1alpha1.Feed) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.APIVersion, b.APIVersion))
	})
	if len(release.Objects) > berthv1alpha1.MaxFeeds {
		release.Objects = release.Objects[:berthv1alpha1.MaxFeeds]
		release.Message = fmt.Sprintf("the feeds of a Subscription can be %d objects at most: the Helm release has more", berthv1alpha1.MaxFeeds)
	}
	return release, nil
}

// ofRelease returns the names of the objects of a kind that are part of a release. The error is
// that of store.
func (w *watches) ofRelease(key types.NamespacedName, resource schema.GroupVersionResource) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	store, err := w.store(scope{resource, true})
	if err != nil {
		return nil, err
	}
	objects, err := store.ByIndex(releaseIndex, key.String())
	found := make([]string, 0, len(objects))
	for _, object := range objects {
		if meta, ok := object.(*metav1.PartialObjectMetadata); ok {
			found = append(found, meta.Name)
		}
	}
	return found, err
}
