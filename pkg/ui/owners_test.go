// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const fleets = "example.com/v1"

// serveFleets has an API server say that a namespace has a Fleet named web with a UID.
func (w *world) serveFleets(uid types.UID, mayRead bool) {
	mux := http.NewServeMux()
	answer := func(path string, code int, object any) {
		mux.HandleFunc(path, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(code)
			if err := json.NewEncoder(rw).Encode(object); err != nil {
				w.t.Error(err)
			}
		})
	}
	answer("/apis/"+fleets, http.StatusOK, metav1.APIResourceList{GroupVersion: fleets, APIResources: []metav1.APIResource{
		{Name: "fleets", Kind: "Fleet", Namespaced: true},
	}})
	path := "/apis/" + fleets + "/namespaces/" + namespace + "/fleets/web"
	if mayRead {
		answer(path, http.StatusOK, metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", UID: uid},
		})
	} else {
		answer(path, http.StatusForbidden, metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden})
	}
	server := httptest.NewServer(mux)
	w.t.Cleanup(server.Close)
	w.config = &rest.Config{Host: server.URL}
}

// A pod that names another UID than that of the object is a workload of its own. What the user may
// not read is taken at its word.
func TestPagesConfirmOwnersOfOperatorsKinds(t *testing.T) {
	for name, tc := range map[string]struct {
		mayRead bool
		want    []string
	}{
		"one that may be read":     {true, []string{"fleet/web 1", "pod/foreign 1"}},
		"one that may not be read": {false, []string{"fleet/web 1", "fleet/web 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cluster("beijing", 1)
			policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: w.meta("fleets")}
			policy.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: fleets, Kind: "Fleet", Name: "web"}}
			policy.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{"beijing"}, Weight: 1}}
			w.berth = append(w.berth, policy)
			for pod, uid := range map[string]types.UID{"own": "real", "foreign": "forged"} {
				p := w.pod(pod)
				p.OwnerReferences = []metav1.OwnerReference{{APIVersion: fleets, Kind: "Fleet", Name: "web", UID: uid, Controller: new(true)}}
				place(p, "beijing-0", "fleets", "beijing", 0)
			}
			w.serveFleets("real", tc.mayRead)
			var got []string
			shown := func(context.Context) (bool, error) {
				got = nil
				for _, row := range w.table("/ui/clusters/beijing", "workloads") {
					got = append(got, row[1]+" "+row[4])
				}
				return slices.Equal(got, tc.want), nil
			}
			if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, patience, true, shown); err != nil {
				t.Log(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("workloads (-want +got):\n%s", diff)
			}
		})
	}
}
