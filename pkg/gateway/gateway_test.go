// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/gateway"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/registration"
)

func TestRegisterThePublishedExample(t *testing.T) {
	w := newWorld(t)
	got := w.send(http.MethodPost, clusters, example(t))
	if got.status != http.StatusCreated {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	want, err := registration.Decode([]byte(example(t)))
	if err != nil {
		t.Fatal(err)
	}
	want.ID, want.Spec.HomeScheduler = string(uid(1)), ""
	profile := got.profile(t)
	if diff := cmp.Diff(*want, profile); diff != "" {
		t.Errorf("profile mismatch (-want +got):\n%s", diff)
	}
	if warning := got.header.Get("Warning"); warning != `299 berth-gateway "HomeScheduler is ignored: Berth chooses the scheduler of a cluster"` {
		t.Errorf("warning %q", warning)
	}
	if location := got.header.Get("Location"); location != clusters+"/id/"+profile.ID {
		t.Errorf("location %q", location)
	}
	if again := w.send(http.MethodGet, clusters+"/name/cluster1", ""); again.body != got.body || again.header.Get("ETag") != got.header.Get("ETag") {
		t.Errorf("got %s, registered %s", again.body, got.body)
	}
}

func TestAnswersShowTheRealHomeScheduler(t *testing.T) {
	w := newWorld(t, &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", UID: uid(9)},
		Spec:       berthv1alpha1.ClusterSpec{HomeScheduler: "pinned"},
		Status:     berthv1alpha1.ClusterStatus{HomeScheduler: "bound"},
	})
	if got := w.send(http.MethodGet, clusters+"/c", "").profile(t).Spec.HomeScheduler; got != "bound" {
		t.Errorf("home scheduler %q", got)
	}
}

func TestPathsOfACluster(t *testing.T) {
	w := newWorld(t)
	id := w.register(named("cluster1"))
	tests := map[string]struct {
		path string
		want int
	}{
		"by id":                       {"/id/" + id, http.StatusOK},
		"by id in capitals":           {"/id/" + strings.ToUpper(id), http.StatusOK},
		"by name":                     {"/name/cluster1", http.StatusOK},
		"by id, the short form":       {"/" + id, http.StatusOK},
		"by name, the short form":     {"/cluster1", http.StatusOK},
		"percent-encoded":             {"/name/cluster%31", http.StatusOK},
		"percent-encoded twice":       {"/name/cluster%2531", http.StatusBadRequest},
		"an unknown id":               {"/id/00000000-0000-0000-0000-000000000000", http.StatusNotFound},
		"an unknown name":             {"/name/none", http.StatusNotFound},
		"an unknown id, short":        {"/00000000-0000-0000-0000-000000000000", http.StatusNotFound},
		"an id that is none":          {"/id/cluster1", http.StatusBadRequest},
		"a name that is none":         {"/name/Cluster_1", http.StatusBadRequest},
		"an encoded slash":            {"/name/..%2f", http.StatusBadRequest},
		"an encoded path":             {"/name/..%2fclusters%2fcluster1", http.StatusBadRequest},
		"dots":                        {"/name/..", http.StatusBadRequest},
		"dots, encoded":               {"/name/%2e%2e", http.StatusBadRequest},
		"dots, short":                 {"/..", http.StatusBadRequest},
		"dots in between":             {"/../clusters/name/cluster1", http.StatusNotFound},
		"an empty segment":            {"//cluster1", http.StatusNotFound},
		"a matrix parameter":          {"/name/cluster1;v=1", http.StatusBadRequest},
		"a NUL":                       {"/name/cluster1%00", http.StatusBadRequest},
		"a dot at the end":            {"/name/cluster1.", http.StatusBadRequest},
		"a slash at the end":          {"/name/cluster1/", http.StatusNotFound},
		"one segment too many":        {"/name/cluster1/status", http.StatusNotFound},
		"no name":                     {"/name/", http.StatusNotFound},
		"a word of the paths":         {"/id", http.StatusNotFound},
		"the other word of the paths": {"/name", http.StatusNotFound},
		"two slashes":                 {"//", http.StatusNotFound},
		"a longer word":               {"s", http.StatusNotFound},
		"a parameter":                 {"/name/cluster1?watch=true", http.StatusBadRequest},
		"a broken query":              {"/name/cluster1?%zz", http.StatusBadRequest},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := w.send(http.MethodGet, clusters+tc.path, "")
			if got.status != tc.want {
				t.Fatalf("status %d, want %d: %s", got.status, tc.want, got.body)
			}
			if tc.want == http.StatusOK && got.profile(t).ID != id {
				t.Errorf("got %s", got.body)
			}
		})
	}
}

// All clusters have one path with a slash at the end and one without.
func TestASlashBehindAllClusters(t *testing.T) {
	w := newWorld(t)
	if got := w.send(http.MethodPost, clusters+"/", named("c")); got.status != http.StatusCreated {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	want := w.send(http.MethodGet, clusters, "").body
	for _, path := range []string{"/", "/?limit=1", "/?region=r"} {
		if got := w.send(http.MethodGet, clusters+path, ""); got.status != http.StatusOK || got.body != want {
			t.Errorf("GET %s: status %d, body %s, want %s", path, got.status, got.body, want)
		}
	}
	w.send(http.MethodDelete, clusters+"/", "").checkProblem(t, http.StatusMethodNotAllowed, gateway.CodeMethodNotAllowed, "DELETE")
}

func TestList(t *testing.T) {
	w := newWorld(t)
	if got := w.send(http.MethodGet, clusters, ""); got.status != http.StatusOK || got.body != `{"clusters":[]}`+"\n" {
		t.Errorf("status %d, body %q", got.status, got.body)
	}
	ids := map[string]string{"a": w.register(named("a")), "b": w.register(named("b"))}
	var list registration.List
	if err := json.Unmarshal([]byte(w.send(http.MethodGet, clusters+"?limit=100000", "").body), &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, profile := range list.Clusters {
		got[profile.Name] = profile.ID
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("clusters mismatch (-want +got):\n%s", diff)
	}
}

func TestUpdate(t *testing.T) {
	w := newWorld(t)
	id := w.register(example(t))
	changed := `{"cluster_profile":{"cluster_name":"cluster1","cluster_spec":{"Region":{"region":"eu"},"CPUCapacity":9,"HomeScheduler":"s"}}}`
	got := w.send(http.MethodPut, clusters+"/id/"+id, changed)
	want := registration.Profile{ID: id, Name: "cluster1", Spec: registration.Spec{
		Region: registration.Region{Region: "eu"}, CPUCapacity: 9, Flavors: []registration.Flavor{}, Storage: []registration.Storage{},
	}}
	if diff := cmp.Diff(want, got.profile(t)); diff != "" {
		t.Errorf("profile mismatch (-want +got):\n%s", diff)
	}
	if got.status != http.StatusOK || !strings.Contains(got.header.Get("Warning"), "HomeScheduler is ignored") {
		t.Errorf("status %d, warning %q", got.status, got.header.Get("Warning"))
	}
}

func TestUpdateTriesAgainUnlessTheCallerNamesAVersion(t *testing.T) {
	w := newWorld(t)
	w.register(named("c"))
	tag := w.send(http.MethodGet, clusters+"/c", "").header.Get("ETag")
	priced := func(price string) string {
		return strings.Replace(named("c"), `"Region"`, `"ServerPrice":`+price+`,"Region"`, 1)
	}
	conflicts := 0
	w.objects.PrependReactor("update", "clusters", func(clienttesting.Action) (bool, runtime.Object, error) {
		if conflicts--; conflicts < 0 {
			return false, nil, nil
		}
		return true, nil, apierrors.NewConflict(berthv1alpha1.SchemeGroupVersion.WithResource("clusters").GroupResource(), "c", nil)
	})
	conflicts = 3
	if got := w.send(http.MethodPut, clusters+"/c", priced("1")); got.status != http.StatusOK {
		t.Errorf("status %d after three conflicts: %s", got.status, got.body)
	}
	conflicts = 1000
	w.send(http.MethodPut, clusters+"/c", priced("2")).checkProblem(t, http.StatusConflict, gateway.CodeConflict, "try again")
	conflicts = 1
	w.send(http.MethodPut, clusters+"/c", priced("3"), "If-Match", tag).
		checkProblem(t, http.StatusPreconditionFailed, gateway.CodePreconditionFailed, "If-Match")
}

func TestUnregister(t *testing.T) {
	tests := map[string]struct {
		path, accept, want string
	}{
		"by name":         {"/name/cluster1", "", `{"deleted":"cluster1"}`},
		"by id":           {"/id/" + string(uid(1)), "", `{"deleted":"` + string(uid(1)) + `"}`},
		"the short form":  {"/" + string(uid(1)), "", `{"deleted":"` + string(uid(1)) + `"}`},
		"as plain text":   {"/cluster1", "text/plain", "deleted: cluster1"},
		"without force":   {"/cluster1?force=false", "", `{"deleted":"cluster1"}`},
		"with more types": {"/cluster1", "*/*", `{"deleted":"cluster1"}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.register(named("cluster1"))
			got := w.send(http.MethodDelete, clusters+tc.path, "", "Accept", tc.accept)
			if got.status != http.StatusOK || got.body != tc.want+"\n" {
				t.Errorf("status %d, body %q", got.status, got.body)
			}
			w.send(http.MethodDelete, clusters+tc.path, "").checkProblem(t, http.StatusNotFound, gateway.CodeNotFound, "there is no cluster")
			w.send(http.MethodGet, clusters+"/id/"+string(uid(1)), "").
				checkProblem(t, http.StatusNotFound, gateway.CodeNotFound, "there is no cluster with the cluster_id")
		})
	}
}

func TestAnIDIsGoneForGood(t *testing.T) {
	w := newWorld(t)
	first := w.register(named("c"))
	w.send(http.MethodDelete, clusters+"/c", "")
	second := w.register(named("c"))
	if first == second {
		t.Fatalf("the id %s was given twice", first)
	}
	w.send(http.MethodDelete, clusters+"/id/"+first, "").checkProblem(t, http.StatusNotFound, gateway.CodeNotFound, first)
	if got := w.send(http.MethodGet, clusters+"/id/"+second, ""); got.status != http.StatusOK {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}

func TestUnregisterDeletesOnlyWhatItHasSeen(t *testing.T) {
	w := newWorld(t)
	id := w.register(named("c"))
	tag := w.send(http.MethodGet, clusters+"/c", "").header.Get("ETag")
	var got []*metav1.Preconditions
	w.objects.PrependReactor("delete", "clusters", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if deletion, ok := action.(clienttesting.DeleteActionImpl); ok {
			got = append(got, deletion.DeleteOptions.Preconditions)
		}
		return true, nil, nil
	})
	w.send(http.MethodDelete, clusters+"/c", "")
	w.send(http.MethodDelete, clusters+"/c", "", "If-Match", tag)
	version, _, _ := strings.Cut(strings.Trim(tag, `"`), ".")
	wantID := uid(1)
	want := []*metav1.Preconditions{{UID: &wantID}, {UID: &wantID, ResourceVersion: &version}}
	if diff := cmp.Diff(want, got); diff != "" || string(wantID) != id {
		t.Errorf("preconditions mismatch (-want +got):\n%s", diff)
	}
}

func TestUnregisterWhatIsInUse(t *testing.T) {
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "pod-1"}}
		p.Annotations = stamp.Stamp{Policy: "p", Cluster: "c", Seat: 0}.Annotations(p, "n1")
		p.Spec.NodeName = "n1"
		change(p)
		return p
	}
	tests := map[string]struct {
		pod   *corev1.Pod
		query string
		want  int
	}{
		"a replica that Berth placed":    {pod(func(*corev1.Pod) {}), "", http.StatusConflict},
		"the same, with force":           {pod(func(*corev1.Pod) {}), "?force=true", http.StatusOK},
		"a replica of another cluster":   {pod(func(p *corev1.Pod) { p.Annotations[berthv1alpha1.PlacedClusterAnnotation] = "d" }), "", http.StatusOK},
		"a pod that Berth did not place": {pod(func(p *corev1.Pod) { p.Annotations = nil }), "", http.StatusOK},
		"a pod with a copied stamp":      {pod(func(p *corev1.Pod) { p.UID = "pod-2" }), "", http.StatusOK},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: "c", UID: uid(9)},
				Status:     berthv1alpha1.ClusterStatus{ContainedNodes: []string{"n0", "n1"}},
			})
			if err := w.pods.Tracker().Add(tc.pod); err != nil {
				t.Fatal(err)
			}
			got := w.send(http.MethodDelete, clusters+"/c"+tc.query, "")
			if got.status != tc.want {
				t.Fatalf("status %d, want %d: %s", got.status, tc.want, got.body)
			}
			if tc.want == http.StatusConflict {
				got.checkProblem(t, http.StatusConflict, gateway.CodeInUse, "force=true")
			}
		})
	}
}

func TestPreconditions(t *testing.T) {
	tests := map[string]struct {
		method, header, value string
		want                  int
	}{
		"the right version":                  {http.MethodGet, "If-Match", `"101"`, http.StatusOK},
		"the right version, changing":        {http.MethodPut, "If-Match", `"7", "101"`, http.StatusOK},
		"the right version, deleting":        {http.MethodDelete, "If-Match", `"101"`, http.StatusOK},
		"any version":                        {http.MethodDelete, "If-Match", `*`, http.StatusOK},
		"another version":                    {http.MethodGet, "If-Match", `"1"`, http.StatusPreconditionFailed},
		"another version, changing":          {http.MethodPut, "If-Match", `"1"`, http.StatusPreconditionFailed},
		"another version, deleting":          {http.MethodDelete, "If-Match", `"1"`, http.StatusPreconditionFailed},
		"a weak tag":                         {http.MethodDelete, "If-Match", `W/"101"`, http.StatusPreconditionFailed},
		"without quotes":                     {http.MethodDelete, "If-Match", `101`, http.StatusPreconditionFailed},
		"known already":                      {http.MethodGet, "If-None-Match", `"101"`, http.StatusNotModified},
		"known already, weakly":              {http.MethodGet, "If-None-Match", `W/"101"`, http.StatusNotModified},
		"not known":                          {http.MethodGet, "If-None-Match", `"1"`, http.StatusOK},
		"only if there is none, changing":    {http.MethodPut, "If-None-Match", `*`, http.StatusPreconditionFailed},
		"only if there is none, registering": {http.MethodPost, "If-None-Match", `*`, http.StatusCreated},
		"only if there is one, registering":  {http.MethodPost, "If-Match", `*`, http.StatusPreconditionFailed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.register(named("c"))
			path, body := clusters+"/c", named("c")
			if tc.method == http.MethodPost {
				path, body = clusters, named("d")
			}
			if got := w.send(tc.method, path, body, tc.header, tc.value); got.status != tc.want {
				t.Errorf("status %d, want %d: %s", got.status, tc.want, got.body)
			}
		})
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	w := newWorld(t)
	w.register(named("c"))
	for _, path := range []string{clusters, clusters + "/c", clusters + "/id/" + string(uid(1))} {
		got, head := w.send(http.MethodGet, path, ""), w.send(http.MethodHead, path, "")
		if head.status != http.StatusOK || head.body != "" || head.header.Get("ETag") != got.header.Get("ETag") {
			t.Errorf("%s: status %d, body %q, tag %q", path, head.status, head.body, head.header.Get("ETag"))
		}
	}
}

func TestAWordOfThePathsNamesNoCluster(t *testing.T) {
	// kubectl can make such a Cluster. It has one path, and the short form means nothing else.
	w := newWorld(t, &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "id", UID: uid(9)}})
	if got := w.send(http.MethodGet, clusters+"/name/id", ""); got.status != http.StatusOK {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	w.send(http.MethodDelete, clusters+"/id", "").checkProblem(t, http.StatusNotFound, gateway.CodeNoSuchPath, "no such path")
}
