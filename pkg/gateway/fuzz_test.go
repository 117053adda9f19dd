// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	clienttesting "k8s.io/client-go/testing"

	"berth.dev/berth/pkg/gateway"
	"berth.dev/berth/pkg/registration"
)

// FuzzPath checks that no path makes the gateway ask for anything but clusters with the names they
// can have.
func FuzzPath(f *testing.F) {
	for _, path := range []string{
		clusters, clusters + "/c", clusters + "/id/" + string(uid(1)), clusters + "/name/..%2f", clusters + "/name/%2e%2e",
		clusters + "/name/a%00", clusters + "//c", "/globalscheduler/v1/../../api", "/%", "/metrics", clusters + "/name/c;v=1",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		target, err := url.ParseRequestURI(path)
		if err != nil || !strings.HasPrefix(path, "/") {
			return
		}
		w := newWorld(t)
		handler := gateway.New(gateway.Config{
			Clusters: w.objects.BerthV1alpha1(), Pods: w.pods.CoreV1(), Registry: w.registry, Limits: w.limits,
			Authenticator: fixed(w), Authorizer: rights(w),
		})
		request := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/", http.NoBody)
		request.URL = target
		request.Header.Set("Authorization", "Bearer "+admin)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code < 200 || answer.Code >= 500 {
			t.Errorf("status %d: %s", answer.Code, answer.Body)
		}
		for _, action := range w.objects.Actions() {
			if action.GetResource().Resource != "clusters" {
				t.Errorf("asked for %s", action.GetResource())
			}
			if get, ok := action.(clienttesting.GetAction); ok && registration.CheckName(get.GetName()) != nil {
				t.Errorf("asked for %q", get.GetName())
			}
		}
	})
}
