// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"berth.dev/berth/pkg/controllers/policy"
)

// evictOn evicts a pod on a server and returns the requests that arrived.
func evictOn(t *testing.T, ctx context.Context, answer http.HandlerFunc) (requests []string, last policyv1.Eviction, err error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.URL.Path)
		if err := json.NewDecoder(r.Body).Decode(&last); err != nil {
			t.Errorf("reading the request: %v", err)
		}
		answer(w, r)
	}))
	defer server.Close()
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web-0", UID: "uid"}}
	err = policy.NewEvictor(clientset.CoreV1().RESTClient()).Evict(ctx, pod)
	return requests, last, err
}

func TestEvictAsksForExactlyThisPod(t *testing.T) {
	requests, eviction, err := evictOn(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
	})
	if err != nil {
		t.Errorf("Evict() = %v", err)
	}
	if diff := cmp.Diff([]string{"POST /api/v1/namespaces/ns/pods/web-0/eviction"}, requests); diff != "" {
		t.Errorf("requests mismatch (-want +got):\n%s", diff)
	}
	if eviction.APIVersion != "policy/v1" || eviction.Kind != "Eviction" {
		t.Errorf("the request is a %s %s", eviction.APIVersion, eviction.Kind)
	}
	if o := eviction.DeleteOptions; o == nil || o.Preconditions == nil || o.Preconditions.UID == nil || *o.Preconditions.UID != "uid" {
		t.Errorf("the request has no precondition on the UID: %+v", o)
	}
}

func TestEvictIsNotRepeatedWhenToldToWait(t *testing.T) {
	requests, _, err := evictOn(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "10")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		status := apierrors.NewTooManyRequests("the budget is being looked at", 10).Status()
		if err := json.NewEncoder(w).Encode(status); err != nil {
			t.Errorf("writing the answer: %v", err)
		}
	})
	if len(requests) != 1 {
		t.Errorf("%d requests, want one", len(requests))
	}
	if seconds, told := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !told || seconds != 10 {
		t.Errorf("Evict() = %v, want a refusal for 10 s", err)
	}
}

func TestEvictEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := evictOn(t, ctx, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Evict() = %v, want %v", err, context.DeadlineExceeded)
	}
}
