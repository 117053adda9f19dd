// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/feedinventory"
)

// helm makes or replaces an object as Helm installs it with a release.
func (w *world) helm(release, resource, apiVersion, kind, name, more string) {
	w.t.Helper()
	w.untilWatched(resource)
	w.put(resource, fmt.Sprintf(`{apiVersion: %s, kind: %s, metadata: {name: %s, labels: {app.kubernetes.io/managed-by: Helm},
		annotations: {meta.helm.sh/release-name: %q, meta.helm.sh/release-namespace: shop}%s}}`, apiVersion, kind, name, release, more))
}

// released returns the objects that the status of the Subscription names.
func (w *world) released() string {
	w.t.Helper()
	s := w.subscription()
	var list []string
	for _, release := range s.Status.HelmReleases {
		for _, object := range release.Objects {
			list = append(list, release.Name+": "+object.APIVersion+" "+object.Describe())
		}
	}
	return strings.Join(list, "; ")
}

func (w *world) subscription() *berthv1alpha1.Subscription {
	w.t.Helper()
	s := &berthv1alpha1.Subscription{}
	if err := w.client.Get(w.t.Context(), request.NamespacedName, s); err != nil {
		w.t.Fatal(err)
	}
	return s
}

const twoReplicas = "}, spec: {replicas: 2, template: {spec: {containers: []}}"

// A Helm release stands for its objects, and nothing else, as the release changes.
func TestHelmRelease(t *testing.T) {
	w := newWorld(t)
	w.helm("store", "deployments", "apps/v1", "Deployment", "web", twoReplicas)
	w.helm("store", "configmaps", "v1", "ConfigMap", "settings", "")
	w.helm("store", "replicasets", "apps/v1", "ReplicaSet", "web-1",
		", ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u, controller: true}]")
	w.helm("other", "deployments", "apps/v1", "Deployment", "db", twoReplicas)
	w.deploy("cache", 3)
	w.subscribe(listing(deployment("cache"), berthv1alpha1.Feed{HelmRelease: "store"}))
	w.until("cache 3 True Parsed", "settings - True CopiedWhole", "web 2 True Parsed")
	if got, want := w.released(), "store: v1 ConfigMap settings; store: apps/v1 Deployment web"; got != want {
		t.Errorf("the status names %q, want %q", got, want)
	}
	for i, want := range []string{"", "store", "store"} {
		if got := w.inventory().Spec.Feeds[i].HelmRelease; got != want {
			t.Errorf("feed %d is of release %q, want %q", i, got, want)
		}
	}

	// An upgrade brings an object, and takes another one.
	w.helm("store", "statefulsets", "apps/v1", "StatefulSet", "queue", twoReplicas)
	w.until("cache 3 True Parsed", "settings - True CopiedWhole", "web 2 True Parsed", "queue 2 True Parsed")
	w.remove(deployments, "web")
	w.until("cache 3 True Parsed", "settings - True CopiedWhole", "queue 2 True Parsed")

	w.subscribe(listing(deployment("cache")))
	w.until("cache 3 True Parsed")
	if got := w.released(); got != "" {
		t.Errorf("the status still names %q", got)
	}
	if got := feedinventory.Watched(w.controller); got != 1 {
		t.Errorf("%d kinds are followed, want Deployments alone", got)
	}
}

// What is wrong with a release is one message, and holds up no other feed.
func TestHelmReleaseInTrouble(t *testing.T) {
	store := berthv1alpha1.Feed{HelmRelease: "store"}
	tests := map[string]struct {
		feeds   []berthv1alpha1.Feed
		objects []string
		want    string
	}{
		"without objects": {
			feeds: []berthv1alpha1.Feed{deployment("cache"), store},
			want:  "1 of 2 feeds are missing: Helm release store (NotFound): the Helm release has no object",
		},
		"listed twice": {
			feeds: []berthv1alpha1.Feed{store, store, deployment("cache")}, objects: []string{"web"},
			want: "1 of 3 feeds are missing: Helm release store (Duplicate): the Helm release is listed twice",
		},
		"of which an object is listed, too": {
			feeds: []berthv1alpha1.Feed{store, deployment("cache")}, objects: []string{"web", "cache"},
			want: "1 of 3 feeds are missing: Helm release store (Duplicate): listed twice, as part of the Helm release and apart from it: Deployment cache",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deploy("cache", 1)
			for _, object := range tc.objects {
				w.helm("store", "deployments", "apps/v1", "Deployment", object, twoReplicas)
			}
			w.subscribe(listing(tc.feeds...))
			w.untilParsed(tc.want)
		})
	}
}

// A kind that Berth may not read may be part of any release.
func TestHelmReleaseWithForbiddenKinds(t *testing.T) {
	w := newWorld(t)
	w.metadata.PrependReactor("list", "statefulsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}}
	})
	w.helm("store", "deployments", "apps/v1", "Deployment", "web", twoReplicas)
	w.subscribe(listing(berthv1alpha1.Feed{HelmRelease: "store"}))
	w.untilParsed("1 of 2 feeds are missing: Helm release store (Unreadable): Berth may not read objects of kind StatefulSet: " +
		"give the ClusterRole berth-feed-reader the verbs get, list and watch")
}

// untilParsed passes until the condition Parsed has the message.
func (w *world) untilParsed(want string) {
	w.t.Helper()
	var got string
	w.eventually(func() bool {
		if c := apimeta.FindStatusCondition(w.subscription().Status.Conditions, berthv1alpha1.SubscriptionParsed); c != nil {
			got = c.Message
		}
		return got == want
	}, func() string { return fmt.Sprintf("the condition says %q, want %q", got, want) })
}
