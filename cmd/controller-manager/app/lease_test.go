// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	"berth.dev/berth/cmd/controller-manager/app"
)

// recording is a manager that keeps events.
type recording struct {
	ctrl.Manager
	recorder *record.FakeRecorder
}

func (r recording) GetEventRecorderFor(string) record.EventRecorder { return r.recorder }

// leases serves leases by their namespace.
func leases(t *testing.T, holders map[string]string) *rest.Config {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}", func(w http.ResponseWriter, r *http.Request) {
		lease := &coordinationv1.Lease{
			TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
			ObjectMeta: metav1.ObjectMeta{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: new(holders[r.PathValue("namespace")])},
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(lease); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func TestLeaseInAnotherNamespace(t *testing.T) {
	for name, tc := range map[string]struct {
		common    string
		wantOther bool
	}{
		"a second one waits for the first": {common: "first", wantOther: true},
		"nobody else leads":                {},
	} {
		t.Run(name, func(t *testing.T) {
			holders := map[string]string{"berth-system": tc.common}
			config, opts, options := leases(t, holders), app.NewOptions(), ctrl.Options{}
			opts.LeaderElectionNamespace = "tools"
			made, err := app.LockLease(&options, opts, config)
			if err != nil {
				t.Fatal(err)
			}
			events := record.NewFakeRecorder(1)
			made(recording{recorder: events})
			lock := options.LeaderElectionResourceLockInterface
			holders["tools"] = lock.Identity()
			got, _, err := lock.Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !tc.wantOther {
				if got.HolderIdentity != lock.Identity() || len(events.Events) > 0 {
					t.Errorf("%q leads, want %q, and no event", got.HolderIdentity, lock.Identity())
				}
				return
			}
			want := fmt.Sprintf("Normal LeaderElection %s has lease tools/berth-controller-manager and waits for this one, which first holds",
				lock.Identity())
			if event := <-events.Events; got.HolderIdentity != "first" || event != want {
				t.Errorf("%q leads, and the event is %q, want first and %q", got.HolderIdentity, event, want)
			}
		})
	}
}

func TestUsualLeaseIsTheOnlyOne(t *testing.T) {
	opts, options := app.NewOptions(), ctrl.Options{}
	made, err := app.LockLease(&options, opts, leases(t, map[string]string{"berth-system": "first"}))
	if err != nil {
		t.Fatal(err)
	}
	made(recording{recorder: record.NewFakeRecorder(1)})
	lock := options.LeaderElectionResourceLockInterface
	if got, _, err := lock.Get(t.Context()); err != nil || got.HolderIdentity != "first" {
		t.Fatalf("the lease is %v, %v, want that of first", got, err)
	}
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err == nil {
		t.Error("the lease of another is given back")
	}
}

func TestWithoutAnElectionThereIsNoLock(t *testing.T) {
	opts, options := app.NewOptions(), ctrl.Options{}
	opts.LeaderElect, opts.LeaderElectionNamespace = false, "tools"
	made, err := app.LockLease(&options, opts, &rest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	made(nil)
	if options.LeaderElectionResourceLockInterface != nil {
		t.Errorf("the lock is %s", options.LeaderElectionResourceLockInterface.Describe())
	}
}
