// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/gateway"
)

func bare() *berthv1alpha1.Cluster {
	return &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", UID: uid(9), ResourceVersion: "5", Labels: map[string]string{"tier": "store"}},
		Spec:       berthv1alpha1.ClusterSpec{Nodes: []string{"n1"}, MatchLabels: map[string]string{"site": "a"}},
		Status:     berthv1alpha1.ClusterStatus{HomeScheduler: "s1"},
	}
}

// TestWhatGetGaveCanBePutBack takes a cluster that kubectl made, with no region and an empty place.
// Nothing is written, so the place stays as well.
func TestWhatGetGaveCanBePutBack(t *testing.T) {
	for _, method := range []string{http.MethodPut, http.MethodPatch} {
		made := bare()
		made.Spec.GeoLocation = &berthv1alpha1.GeoLocation{}
		w := newWorld(t, made)
		w.objects.PrependReactor("update", "clusters", func(clienttesting.Action) (bool, runtime.Object, error) {
			t.Errorf("%s writes the cluster", method)
			return false, nil, nil
		})
		shown := w.send(http.MethodGet, clusters+"/c", "").body
		got := w.send(method, clusters+"/c", shown)
		if got.status != http.StatusOK || got.body != shown || got.header.Get("Warning") != "" {
			t.Errorf("%s: status %d, warning %q, body %s, want %s", method, got.status, got.header.Get("Warning"), got.body, shown)
		}
	}
}

func TestAPutInThePublishedFormKeepsWhatThatCannotSay(t *testing.T) {
	w := newWorld(t, bare())
	got := w.send(http.MethodPut, clusters+"/c", named("c"))
	warnings := strings.Join(got.header.Values("Warning"), "\n")
	for _, kept := range []string{"nodes are kept", "matchLabels are kept", "labels are kept"} {
		if !strings.Contains(warnings, kept) {
			t.Errorf("%q is not among the warnings %q", kept, warnings)
		}
	}
	spec := got.profile(t).Spec
	if diff := cmp.Diff([]string{"n1"}, spec.Nodes); diff != "" || spec.MatchLabels["site"] != "a" || spec.Labels["tier"] != "store" {
		t.Errorf("nodes %q, matchLabels %q, labels %q", spec.Nodes, spec.MatchLabels, spec.Labels)
	}
	emptied := strings.Replace(named("c"), `"Region"`, `"nodes":[],"matchLables":{},"labels":{},"Region"`, 1)
	got = w.send(http.MethodPut, clusters+"/c", emptied)
	if spec := got.profile(t).Spec; len(spec.Nodes)+len(spec.MatchLabels)+len(spec.Labels) > 0 || got.header.Get("Warning") != "" {
		t.Errorf("nodes %q, matchLabels %q, labels %q, warning %q", spec.Nodes, spec.MatchLabels, spec.Labels, got.header.Get("Warning"))
	}
}

func TestPatch(t *testing.T) {
	const merge = "application/merge-patch+json"
	change := func(members string) string { return `{"cluster_profile":{` + members + `}}` }
	tests := map[string]struct {
		body, media string
		status      int
		code        gateway.Code
		want        string
	}{
		"a price":         {change(`"cluster_spec":{"ServerPrice":11}`), merge, 200, "", `"ServerPrice":11,`},
		"a label":         {change(`"cluster_spec":{"labels":{"tier":null,"a":"b"}}`), merge, 200, "", `"labels":{"a":"b"}`},
		"as plain JSON":   {change(`"cluster_spec":{"ServerPrice":11}`), "application/json", 200, "", `"nodes":["n1"]`},
		"another name":    {change(`"cluster_name":"d"`), merge, 400, gateway.CodeInvalidName, `line 1, column 36: cluster_name must be "c"`},
		"another id":      {change(`"cluster_id":"` + string(uid(1)) + `"`), merge, 400, gateway.CodeInvalidID, "line 1, column 34: "},
		"an unknown key":  {change(`"cluster_spec":{"color":"red"}`), merge, 400, gateway.CodeMalformed, "line 1, column 37: cluster_profile.cluster_spec.color"},
		"a JSON patch":    {`[]`, "application/json-patch+json", 415, gateway.CodeUnsupportedMediaType, merge},
		"no JSON":         {`{`, merge, 400, gateway.CodeMalformed, "line 1, column"},
		"no content type": {change(`"cluster_spec":{"ServerPrice":11}`), "", 200, "", `"ServerPrice":11,`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, bare())
			got := w.send(http.MethodPatch, clusters+"/c", tc.body, "Content-Type", tc.media)
			if tc.code != "" {
				got.checkProblem(t, tc.status, tc.code, tc.want)
				return
			}
			if got.status != tc.status || !strings.Contains(got.body, tc.want) || got.header.Get("ETag") == "" {
				t.Errorf("status %d, body %s, want %q", got.status, got.body, tc.want)
			}
		})
	}
	w := newWorld(t, bare())
	if got := w.send(http.MethodPatch, clusters+"/c", `[]`, "Content-Type", "text/plain"); got.header.Get("Accept-Patch") != merge {
		t.Errorf("Accept-Patch %q", got.header.Get("Accept-Patch"))
	}
	w.send(http.MethodPatch, clusters+"/c", `{}`, "If-Match", `"4"`).
		checkProblem(t, http.StatusPreconditionFailed, gateway.CodePreconditionFailed, "If-Match")
	w.send(http.MethodPut, clusters+"/c", `{}`, "Content-Type", merge).
		checkProblem(t, http.StatusUnsupportedMediaType, gateway.CodeUnsupportedMediaType, "application/json")
}

// TestPatchChangesWhatTheClusterIsNow lets somebody else label the cluster between reading and
// writing.
func TestPatchChangesWhatTheClusterIsNow(t *testing.T) {
	w := newWorld(t, bare())
	raced := false
	w.objects.PrependReactor("update", "clusters", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if raced {
			return false, nil, nil
		}
		raced = true
		other := bare()
		other.Labels["owner"] = "team"
		if err := w.objects.Tracker().Update(action.GetResource(), other, ""); err != nil {
			t.Error(err)
		}
		return true, nil, apierrors.NewConflict(action.GetResource().GroupResource(), "c", nil)
	})
	got := w.send(http.MethodPatch, clusters+"/c", `{"cluster_profile":{"cluster_spec":{"labels":{"a":"b"}}}}`).profile(t)
	if diff := cmp.Diff(map[string]string{"tier": "store", "owner": "team", "a": "b"}, got.Spec.Labels); diff != "" {
		t.Errorf("labels mismatch (-want +got):\n%s", diff)
	}
}
