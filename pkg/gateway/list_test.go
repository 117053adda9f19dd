// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/gateway"
	"berth.dev/berth/pkg/registration"
)

// paged makes the API server list so many clusters page by page, and returns what it is asked for.
func (w *world) paged(total int) *[]metav1.ListOptions {
	asked := &[]metav1.ListOptions{}
	w.objects.PrependReactor("list", "clusters", func(action clienttesting.Action) (bool, runtime.Object, error) {
		list, ok := action.(clienttesting.ListActionImpl)
		if !ok {
			return false, nil, nil
		}
		*asked = append(*asked, list.ListOptions)
		start, _ := strconv.Atoi(list.ListOptions.Continue)
		end := min(start+int(list.ListOptions.Limit), total)
		page := &berthv1alpha1.ClusterList{ListMeta: metav1.ListMeta{ResourceVersion: "77"}}
		for i := start; i < end; i++ {
			page.Items = append(page.Items, berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c%04d", i), UID: uid(i)},
				Spec: berthv1alpha1.ClusterSpec{ClusterProfile: berthv1alpha1.ClusterProfile{
					GeoLocation: &berthv1alpha1.GeoLocation{Country: []string{"US", "CA", "DE"}[i%3]},
					Region:      &berthv1alpha1.Region{Region: fmt.Sprintf("r-%d", i)},
				}},
			})
		}
		if end < total {
			page.Continue = strconv.Itoa(end)
		}
		return true, page, nil
	})
	return asked
}

func (a answer) list(t *testing.T) registration.List {
	t.Helper()
	var list registration.List
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || a.status != http.StatusOK {
		t.Fatalf("status %d, body %.300q: %v", a.status, a.body, err)
	}
	return list
}

func TestAPlainListHasAllClusters(t *testing.T) {
	for _, total := range []int{0, 1, 499, 500, 501, 1011} {
		w := newWorld(t)
		asked := w.paged(total)
		list := w.send(http.MethodGet, clusters, "").list(t)
		var names []string
		for _, profile := range list.Clusters {
			names = append(names, profile.Name)
		}
		if len(names) != total || !slices.IsSorted(names) || list.Continue != "" || list.ResourceVersion != "77" {
			t.Errorf("%d clusters, want %d; continue %q, version %q", len(names), total, list.Continue, list.ResourceVersion)
		}
		for _, options := range *asked {
			if options.Limit != 500 {
				t.Errorf("asked for %d clusters at once", options.Limit)
			}
		}
	}
}

func TestAListWithALimitIsAPage(t *testing.T) {
	w := newWorld(t)
	w.paged(1011)
	for _, query := range []string{"?limit=3", "?limit=3&continue=600"} {
		list := w.send(http.MethodGet, clusters+query, "").list(t)
		if len(list.Clusters) != 3 || list.Continue == "" || list.ResourceVersion != "77" {
			t.Errorf("%s: %d clusters, continue %q, version %q", query, len(list.Clusters), list.Continue, list.ResourceVersion)
		}
	}
	if list := w.send(http.MethodGet, clusters+"?continue=3", "").list(t); len(list.Clusters) != 1008 || list.Continue != "" {
		t.Errorf("the rest has %d clusters, continue %q", len(list.Clusters), list.Continue)
	}
}

func TestListPassesItsParametersOn(t *testing.T) {
	w := newWorld(t)
	asked := w.paged(0)
	tests := map[string]struct {
		query string
		want  metav1.ListOptions
	}{
		"none":             {"", metav1.ListOptions{Limit: 500}},
		"a limit":          {"?limit=7", metav1.ListOptions{Limit: 7}},
		"too high a limit": {"?limit=501", metav1.ListOptions{Limit: 500}},
		"a token":          {"?continue=ab%3D&limit=2", metav1.ListOptions{Limit: 2, Continue: "ab="}},
		"labels":           {"?labelSelector=tier%3Dstore%2C!closed", metav1.ListOptions{Limit: 500, LabelSelector: "tier=store,!closed"}},
		"labels and fields": {
			"?labelSelector=!region.region%2Ctier%3Dstore%2CgeoLocation.city%3Dx",
			metav1.ListOptions{Limit: 500, LabelSelector: "tier=store"},
		},
		"a region":  {"?region=us%2Cwest", metav1.ListOptions{Limit: 500, FieldSelector: `spec.region.region=us\,west`}},
		"no region": {"?region=", metav1.ListOptions{Limit: 500, FieldSelector: "spec.region.region="}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			*asked = nil
			w.send(http.MethodGet, clusters+tc.query, "").list(t)
			if diff := cmp.Diff([]metav1.ListOptions{tc.want}, *asked); diff != "" {
				t.Errorf("options mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// Every third of the clusters is in the US.
func TestListSelectsByFieldsAsByLabels(t *testing.T) {
	w := newWorld(t)
	w.paged(1011)
	all := w.send(http.MethodGet, clusters+"?labelSelector=geoLocation.country%3DUS%2Cregion.region+notin+(r-3,r-6)", "").list(t)
	if len(all.Clusters) != 335 || all.Clusters[0].Name != "c0000" || all.Clusters[1].Name != "c0009" || all.ResourceVersion != "77" {
		t.Errorf("%d clusters, version %q", len(all.Clusters), all.ResourceVersion)
	}
	if none := w.send(http.MethodGet, clusters+"?limit=1&labelSelector=geoLocation.country%3DFR", "").list(t); len(none.Clusters) != 0 || none.Continue != "20" {
		t.Errorf("a page that looks at one cluster at a time has %d clusters and ends at %q", len(none.Clusters), none.Continue)
	}
}

// Every third of the clusters is in the US.
func TestPagesAreSelectedByFields(t *testing.T) {
	w := newWorld(t)
	w.paged(1011)
	var names []string
	query := "?limit=100&labelSelector=geoLocation.country%3DUS"
	for token, pages := "start", 0; token != ""; pages++ {
		list := w.send(http.MethodGet, clusters+query, "").list(t)
		if token = list.Continue; pages > 4 || token != "" && len(list.Clusters) != 100 {
			t.Fatalf("page %d has %d clusters", pages, len(list.Clusters))
		}
		for _, profile := range list.Clusters {
			names = append(names, profile.Name)
		}
		query = "?limit=100&labelSelector=geoLocation.country%3DUS&continue=" + token
	}
	if len(names) != 337 || !slices.IsSorted(names) {
		t.Errorf("%d clusters page by page", len(names))
	}
}

func TestListRefusesSelectors(t *testing.T) {
	w := newWorld(t)
	for query, message := range map[string]string{
		"?labelSelector=%3D%3D":                              "labelSelector: ",
		"?labelSelector=" + strings.Repeat("a", 4097):        "labelSelector must have at most 4096 characters",
		"?labelSelector=a&labelSelector=b":                   "is there twice",
		"?labelselector=a":                                   `there is no parameter "labelselector"`,
		"?fieldSelector=metadata.name%3Da&labelSelector=%2C": "there is no parameter",
	} {
		w.send(http.MethodGet, clusters+query, "").checkProblem(t, http.StatusBadRequest, gateway.CodeInvalidParameter, message)
	}
}

// TestAPartOfAListIsNoList makes the API server fail after the first page.
func TestAPartOfAListIsNoList(t *testing.T) {
	w := newWorld(t)
	w.paged(600)
	w.objects.PrependReactor("list", "clusters", func(action clienttesting.Action) (bool, runtime.Object, error) {
		list, ok := action.(clienttesting.ListActionImpl)
		return ok && list.ListOptions.Continue != "", nil, errors.New("planted")
	})
	w.start()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+clusters, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+admin)
	response, err := w.server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var list registration.List
	if err := json.NewDecoder(response.Body).Decode(&list); err == nil {
		t.Errorf("%d clusters look like all", len(list.Clusters))
	}
	if got := w.send(http.MethodGet, "/metrics", ""); !strings.Contains(got.body, "berth_gateway_panics_total 0\n") {
		t.Error("the gateway counts a panic")
	}
}
