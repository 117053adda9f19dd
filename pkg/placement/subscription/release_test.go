// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/subscription"
)

func release(name string) berthv1alpha1.Feed {
	return berthv1alpha1.Feed{HelmRelease: name}
}

func TestReleaseOf(t *testing.T) {
	helm := func(change func(*metav1.ObjectMeta)) *metav1.ObjectMeta {
		o := &metav1.ObjectMeta{
			Namespace: "shop", Name: "web", Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
			Annotations: map[string]string{"meta.helm.sh/release-name": "store", "meta.helm.sh/release-namespace": "shop"},
		}
		if change != nil {
			change(o)
		}
		return o
	}
	tests := map[string]struct {
		object *metav1.ObjectMeta
		want   string
	}{
		"what Helm installs":         {helm(nil), "store"},
		"nothing is said":            {&metav1.ObjectMeta{Namespace: "shop"}, ""},
		"the label is missing":       {helm(func(o *metav1.ObjectMeta) { o.Labels = nil }), ""},
		"another manager":            {helm(func(o *metav1.ObjectMeta) { o.Labels["app.kubernetes.io/managed-by"] = "Git" }), ""},
		"the annotation is missing":  {helm(func(o *metav1.ObjectMeta) { delete(o.Annotations, "meta.helm.sh/release-name") }), ""},
		"of another namespace":       {helm(func(o *metav1.ObjectMeta) { o.Annotations["meta.helm.sh/release-namespace"] = "other" }), ""},
		"what a Deployment has made": {helm(func(o *metav1.ObjectMeta) { o.OwnerReferences = []metav1.OwnerReference{{Controller: new(true)}} }), ""},
		"what somebody else owns":    {helm(func(o *metav1.ObjectMeta) { o.OwnerReferences = []metav1.OwnerReference{{}} }), "store"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := subscription.ReleaseOf(tc.object); got != tc.want {
				t.Errorf("ReleaseOf = %q, want %q", got, tc.want)
			}
			if tc.want == "" {
				return
			}
			tc.object.Labels["more"], tc.object.Annotations["more"] = "x", "x"
			subscription.TrimRelease(tc.object)
			if got := subscription.ReleaseOf(tc.object); got != tc.want || len(tc.object.Labels)+len(tc.object.Annotations) != 3 {
				t.Errorf("trimmed to %v, ReleaseOf = %q, want %q", tc.object, got, tc.want)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	of := func(name string, feed berthv1alpha1.Feed) berthv1alpha1.Feed {
		feed.HelmRelease = name
		return feed
	}
	many := func(n int) (feeds []berthv1alpha1.Feed) {
		for i := range n {
			feeds = append(feeds, deployment(fmt.Sprintf("d%03d", i)))
		}
		return feeds
	}
	web, db, cache := deployment("web"), deployment("db"), deployment("cache")
	foreign := release("store")
	foreign.Namespace = "other"
	tests := map[string]struct {
		feeds    []berthv1alpha1.Feed
		releases map[string][]berthv1alpha1.Feed
		want     []berthv1alpha1.Feed
		// wantReasons are the reasons of the troubles, by the index of the feed.
		wantReasons map[int]string
	}{
		"no release": {feeds: []berthv1alpha1.Feed{web, db}, want: []berthv1alpha1.Feed{web, db}},
		"a release": {
			feeds: []berthv1alpha1.Feed{cache, release("store")}, releases: map[string][]berthv1alpha1.Feed{"store": {db, web}},
			want: []berthv1alpha1.Feed{cache, of("store", db), of("store", web)},
		},
		"two releases": {
			feeds:    []berthv1alpha1.Feed{release("b"), release("a")},
			releases: map[string][]berthv1alpha1.Feed{"a": {db}, "b": {web}},
			want:     []berthv1alpha1.Feed{of("b", web), of("a", db)},
		},
		"nobody has looked yet": {
			feeds: []berthv1alpha1.Feed{release("store")}, want: []berthv1alpha1.Feed{release("store")},
			wantReasons: map[int]string{0: "Unreadable"},
		},
		"a release without objects": {
			feeds: []berthv1alpha1.Feed{release("store"), web}, releases: map[string][]berthv1alpha1.Feed{"store": nil},
			want: []berthv1alpha1.Feed{release("store"), web}, wantReasons: map[int]string{0: "NotFound"},
		},
		"a release twice": {
			feeds: []berthv1alpha1.Feed{release("store"), release("store")}, releases: map[string][]berthv1alpha1.Feed{"store": {web}},
			want: []berthv1alpha1.Feed{of("store", web), release("store")}, wantReasons: map[int]string{1: "Duplicate"},
		},
		"an object of it is listed, too": {
			feeds: []berthv1alpha1.Feed{release("store"), web}, releases: map[string][]berthv1alpha1.Feed{"store": {db, web}},
			want: []berthv1alpha1.Feed{of("store", db), release("store"), web}, wantReasons: map[int]string{1: "Duplicate"},
		},
		"of another namespace": {
			feeds: []berthv1alpha1.Feed{foreign}, releases: map[string][]berthv1alpha1.Feed{"store": {db}},
			want: []berthv1alpha1.Feed{foreign}, wantReasons: map[int]string{0: "ForeignNamespace"},
		},
		"as many objects as there can be": {
			feeds: []berthv1alpha1.Feed{web, release("store")}, releases: map[string][]berthv1alpha1.Feed{"store": many(249)},
			want: func() []berthv1alpha1.Feed {
				feeds := []berthv1alpha1.Feed{web}
				for _, feed := range many(249) {
					feeds = append(feeds, of("store", feed))
				}
				return feeds
			}(),
		},
		"too many objects": {
			feeds: []berthv1alpha1.Feed{web, release("store")}, releases: map[string][]berthv1alpha1.Feed{"store": many(250)},
			want: func() []berthv1alpha1.Feed {
				feeds := []berthv1alpha1.Feed{web}
				for _, feed := range many(249) {
					feeds = append(feeds, of("store", feed))
				}
				return append(feeds, release("store"))
			}(),
			wantReasons: map[int]string{250: "Invalid"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := makeSubscription("shop", 0, tc.feeds...)
			for name, objects := range tc.releases {
				s.Status.HelmReleases = append(s.Status.HelmReleases, berthv1alpha1.HelmRelease{Name: name, Objects: objects})
			}
			before := s.DeepCopy()
			expanded, troubles := subscription.Expand(s)
			if diff := cmp.Diff(tc.want, expanded.Spec.Feeds); diff != "" {
				t.Errorf("feeds (-want +got):\n%s", diff)
			}
			reasons := map[int]string{}
			for i, trouble := range troubles {
				reasons[i] = trouble.Reason
				if trouble.Message == "" {
					t.Errorf("feed %d has no message", i)
				}
			}
			if len(reasons)+len(tc.wantReasons) > 0 && !cmp.Equal(tc.wantReasons, reasons) {
				t.Errorf("troubles are %v, want %v", troubles, tc.wantReasons)
			}
			if diff := cmp.Diff(before, s); diff != "" {
				t.Errorf("the Subscription has changed:\n%s", diff)
			}
		})
	}
}

func TestReleases(t *testing.T) {
	foreign := release("far")
	foreign.Namespace = "other"
	s := makeSubscription("shop", 0, release("b"), deployment("web"), release("a"), foreign, release("b"))
	if diff := cmp.Diff([]string{"b", "a"}, subscription.Releases(s)); diff != "" {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
}

// An index finds what is in a release, and knows what will be.
func TestIndexOfReleases(t *testing.T) {
	s := makeSubscription("shop", 0, deployment("cache"), release("store"))
	s.Status.HelmReleases = []berthv1alpha1.HelmRelease{{Name: "store", Objects: []berthv1alpha1.Feed{deployment("web")}}}
	index := subscription.NewIndex([]*berthv1alpha1.Subscription{s})
	owner, i := index.Of("shop", "apps/v1", "Deployment", "web")
	if owner == nil || owner.Spec.Feeds[i].Name != "web" {
		t.Errorf("web is feed %d of %v", i, owner)
	}
	if !subscription.Lists(s, "apps/v1", "Deployment", "web") || subscription.Lists(s, "apps/v1", "Deployment", "db") {
		t.Error("the Subscription lists web, and nothing else of the release")
	}
	part := metav1.ObjectMeta{
		Namespace: "shop", Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
		Annotations: map[string]string{"meta.helm.sh/release-name": "store", "meta.helm.sh/release-namespace": "shop"},
	}
	if !index.ListsRelease(&part) {
		t.Error("an object of the release is not known to be one")
	}
	if n := testing.AllocsPerRun(10, func() { index.ListsRelease(&part) }); n != 0 {
		t.Errorf("ListsRelease allocates %v times", n)
	}
	if subscription.NewIndex([]*berthv1alpha1.Subscription{makeSubscription("shop", 0, deployment("web"))}).ListsRelease(&part) {
		t.Error("an object of a release that nobody lists is taken for a feed")
	}
	part.Annotations["meta.helm.sh/release-name"] = "other"
	if index.ListsRelease(&part) {
		t.Error("an object of another release is taken for one")
	}
}
