// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/gateway"
)

// change changes the stored cluster c behind the back of the gateway, which makes a version of it.
func (w *world) change(version string, mutate func(*berthv1alpha1.Cluster)) {
	w.t.Helper()
	// A reactor that asked the client would wait for itself.
	resource := berthv1alpha1.SchemeGroupVersion.WithResource("clusters")
	stored, err := w.objects.Tracker().Get(resource, "", "c")
	if err != nil {
		w.t.Fatal(err)
	}
	c, ok := stored.DeepCopyObject().(*berthv1alpha1.Cluster)
	if !ok {
		w.t.Fatalf("%T is stored", stored)
	}
	c.ResourceVersion = version
	mutate(c)
	if err := w.objects.Tracker().Update(resource, c, ""); err != nil {
		w.t.Fatal(err)
	}
}

func observed(c *berthv1alpha1.Cluster) { c.Status.ObservedGeneration++ }

// What the controllers write right after a change is no change of the cluster to whoever made it.
func TestIfMatchIsAboutWhatAnswersShow(t *testing.T) {
	tests := map[string]struct {
		change  func(*berthv1alpha1.Cluster)
		matches bool
	}{
		"what is observed of it":     {observed, true},
		"its price":                  {func(c *berthv1alpha1.Cluster) { c.Spec.ServerPrice++ }, false},
		"a label":                    {func(c *berthv1alpha1.Cluster) { c.Labels = map[string]string{"a": "b"} }, false},
		"its home":                   {func(c *berthv1alpha1.Cluster) { c.Status.HomeScheduler = "north" }, false},
		"the price, there and back":  {func(c *berthv1alpha1.Cluster) { c.Generation += 2 }, false},
		"another one of that name":   {func(c *berthv1alpha1.Cluster) { c.UID = uid(7) }, false},
		"a cordon, which it has not": {func(c *berthv1alpha1.Cluster) { c.Spec.Unschedulable = true; c.Generation++ }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.register(named("c"))
			tag := w.send(http.MethodGet, clusters+"/c", "").header.Get("ETag")
			w.change("777", tc.change)
			got := w.send(http.MethodGet, clusters+"/c", "", "If-None-Match", tag)
			if now := got.header.Get("ETag"); (got.status == http.StatusNotModified) != tc.matches || now == tag {
				t.Errorf("with If-None-Match: status %d, tag %s", got.status, now)
			}
			patched := w.send(http.MethodPatch, clusters+"/c", `{"cluster_profile":{"cluster_spec":{"EipCapacity":3}}}`, "If-Match", tag)
			if (patched.status == http.StatusOK) != tc.matches {
				t.Errorf("PATCH with If-Match: status %d: %s", patched.status, patched.body)
			}
		})
	}
}

func TestAChangeOfWhatWasSeenTriesAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*berthv1alpha1.Cluster)
		want   int
	}{
		"something is observed meanwhile": {observed, http.StatusOK},
		"it changes meanwhile":            {func(c *berthv1alpha1.Cluster) { c.Spec.ServerPrice++ }, http.StatusPreconditionFailed},
	} {
		for _, method := range []string{http.MethodPatch, http.MethodDelete} {
			t.Run(name+", "+method, func(t *testing.T) {
				w := newWorld(t)
				w.register(named("c"))
				tag := w.send(http.MethodGet, clusters+"/c", "").header.Get("ETag")
				verb, conflicts := strings.Replace(strings.ToLower(method), "patch", "update", 1), 1
				w.objects.PrependReactor(verb, "clusters", func(clienttesting.Action) (bool, runtime.Object, error) {
					if conflicts--; conflicts < 0 {
						return false, nil, nil
					}
					w.change("778", tc.change)
					return true, nil, apierrors.NewConflict(berthv1alpha1.SchemeGroupVersion.WithResource("clusters").GroupResource(), "c", nil)
				})
				body := `{"cluster_profile":{"cluster_spec":{"EipCapacity":3}}}`
				if method == http.MethodDelete {
					body = ""
				}
				if got := w.send(method, clusters+"/c", body, "If-Match", tag); got.status != tc.want {
					t.Errorf("status %d, want %d: %s", got.status, tc.want, got.body)
				}
			})
		}
	}
}

func TestTagsThatMatchNothing(t *testing.T) {
	w := newWorld(t)
	w.register(named("c"))
	tag := w.send(http.MethodGet, clusters+"/c", "").header.Get("ETag")
	for _, other := range []string{`"7"`, `""`, "abc", "W/" + tag, strings.Trim(tag, `"`), strings.Replace(tag, ".", "", 1)} {
		w.send(http.MethodPut, clusters+"/c", named("c"), "If-Match", other).
			checkProblem(t, http.StatusPreconditionFailed, gateway.CodePreconditionFailed, "If-Match")
	}
}
