// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package accounts_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"berth.dev/berth/pkg/controllers/accounts"
)

// world is an API server that refuses what it is told to, and the accounts.
type world struct {
	*accounts.Accounts
	live  client.Client
	clock *clocktesting.FakePassiveClock
	// seen is the user of the last request, and requests counts.
	seen     atomic.Value
	requests atomic.Int64
	// refuse is the message of refusals, empty for none.
	refuse atomic.Value
}

func newWorld(t *testing.T, existing ...client.Object) *world {
	t.Helper()
	w := &world{clock: clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))}
	w.refuse.Store("")
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.seen.Store(r.Header.Get("Impersonate-User"))
		w.requests.Add(1)
		rw.Header().Set("Content-Type", "application/json")
		if message, _ := w.refuse.Load().(string); message != "" {
			rw.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(rw).Encode(metav1.Status{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
				Status:   metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Message: message,
			})
			return
		}
		_ = json.NewEncoder(rw).Encode(corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}})
	}))
	t.Cleanup(server.Close)
	mapper := apimeta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), apimeta.RESTScopeNamespace)
	w.live = fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(existing...).Build()
	w.Accounts = accounts.New(accounts.Options{
		Config: &rest.Config{Host: server.URL, QPS: 1000, Burst: 1000},
		Client: client.Options{Scheme: clientgoscheme.Scheme, Mapper: mapper},
		Live:   w.live, Default: "default", Clock: w.clock,
	})
	return w
}

func (w *world) get(t *testing.T, account *accounts.Account) error {
	t.Helper()
	return account.Explain(account.Get(t.Context(), client.ObjectKey{Namespace: "team", Name: "a"}, &corev1.ConfigMap{}))
}

func serviceAccount(namespace, name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func (w *world) of(t *testing.T, name string) *accounts.Account {
	t.Helper()
	account, err := w.Of(t.Context(), "team", name)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

func TestWhoWrites(t *testing.T) {
	w := newWorld(t, serviceAccount("team", "default"), serviceAccount("team", "ci"))
	for name, want := range map[string]string{
		"": "system:serviceaccount:team:default", "ci": "system:serviceaccount:team:ci",
	} {
		if err := w.get(t, w.of(t, name)); err != nil {
			t.Fatal(err)
		}
		if got := w.seen.Load(); got != want {
			t.Errorf("account %q: requests of %v, want %s", name, got, want)
		}
	}
	if w.of(t, "") != w.of(t, "default") {
		t.Error("a client is made for each request")
	}
}

func TestMissingAccount(t *testing.T) {
	w := newWorld(t, serviceAccount("other", "ci"))
	_, err := w.Of(t.Context(), "team", "ci")
	var refusal *accounts.Refusal
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "there is no ServiceAccount ci in namespace team") {
		t.Fatalf("error %v", err)
	}
	if err := w.live.Create(t.Context(), serviceAccount("team", "ci")); err != nil {
		t.Fatal(err)
	}
	account := w.of(t, "ci") // at once
	if err := w.live.Delete(t.Context(), serviceAccount("team", "ci")); err != nil {
		t.Fatal(err)
	}
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	if _, err := w.Of(t.Context(), "team", "ci"); !errors.As(err, &refusal) {
		t.Errorf("an account that has gone still writes: %v, %v", account, err)
	}
}

func TestExplain(t *testing.T) {
	denied := func(user, verb, resource string) string {
		return fmt.Sprintf(`x is forbidden: User %q cannot %s resource %q in API group "apps" in the namespace "team"`, user, verb, resource)
	}
	for name, tc := range map[string]struct {
		refuse string
		want   []string // empty for what is not explained
	}{
		"Berth may not impersonate": {
			refuse: denied("system:serviceaccount:berth-system:berth-controller-manager", "impersonate", "serviceaccounts"),
			want:   []string{"impersonate", "serviceaccounts", `"ci"`, `"berthctl allow namespace team --service-account ci"`},
		},
		"the account may not": {
			refuse: denied("system:serviceaccount:team:ci", "patch", "deployments"),
			want: []string{
				"ServiceAccount ci", "patch", "deployments.apps", `"berthctl allow namespace team --service-account ci"`,
				"a Role of the namespace any others",
			},
		},
		"somebody else may not": {refuse: denied("somebody", "patch", "deployments")},
		"a quota":               {refuse: "exceeded quota"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, serviceAccount("team", "ci"))
			w.refuse.Store(tc.refuse)
			err := w.get(t, w.of(t, "ci"))
			var refusal *accounts.Refusal
			if errors.As(err, &refusal) != (len(tc.want) > 0) {
				t.Fatalf("error %v", err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not say %s", err, want)
				}
			}
		})
	}
}

// TestRefusedIsRemembered checks that a namespace without the right costs a request now and then,
// and not one for each object.
func TestRefusedIsRemembered(t *testing.T) {
	w := newWorld(t, serviceAccount("team", "default"))
	w.refuse.Store(`User "berth" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "team"`)
	if err := w.get(t, w.of(t, "")); err == nil {
		t.Fatal("nothing is refused")
	}
	before := w.requests.Load()
	var refusal *accounts.Refusal
	if _, err := w.Of(t.Context(), "team", ""); !errors.As(err, &refusal) || w.requests.Load() != before {
		t.Errorf("error %v after %d requests", err, w.requests.Load()-before)
	}
	w.refuse.Store("")
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	if err := w.get(t, w.of(t, "")); err != nil {
		t.Errorf("it is refused for ever: %v", err)
	}
}
