// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package auditlog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/test/internal/auditlog"
)

func TestWhoMayNot(t *testing.T) {
	folder := t.TempDir()
	log, err := auditlog.NewOf(folder, "a", `b"`)
	if err != nil {
		t.Fatal(err)
	}
	line := `{"verb":"watch","userAgent":"c/1","user":{"username":"a"},"impersonatedUser":{"username":"b"},"objectRef":{"resource":"jobs",` +
		`"apiGroup":"batch"},"responseStatus":{"code":403},"annotations":{"authorization.k8s.io/decision":"forbid"}}` + "\n"
	if err := os.WriteFile(filepath.Join(folder, "audit.log"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := log.Next()
	if err != nil {
		t.Fatal(err)
	}
	want := []auditlog.Request{{
		User: "a", Impersonated: "b", Agent: "c/1", Verb: "watch", Group: "batch", Resource: "jobs", Code: 403, Unauthorized: true,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestLogIsReadOnceAndInWholeLines(t *testing.T) {
	folder := t.TempDir()
	log, err := auditlog.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	next := func(want ...auditlog.Request) {
		t.Helper()
		got, err := log.Next()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	}
	next() // the API server has not started yet
	file, err := os.Create(filepath.Join(folder, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	write := func(text string) {
		t.Helper()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"kind":"Event","verb":"create","user":{"username":"s"},"objectRef":{"resource":"pods","namespace":"ns","name":"p",` +
		`"subresource":"binding"},"responseStatus":{"metadata":{},"code":201}}` + "\n" + `{"verb":"get","user":{"use`)
	next(auditlog.Request{User: "s", Verb: "create", Resource: "pods/binding", Namespace: "ns", Name: "p", Code: 201})
	write(`rname":"s"},"objectRef":{"resource":"nodes"},"responseStatus":{"code":200}}` + "\n")
	next(auditlog.Request{User: "s", Verb: "get", Resource: "nodes", Code: 200})
	next()
}

func TestWrites(t *testing.T) {
	tests := map[string]struct {
		request auditlog.Request
		want    bool
	}{
		"a binding":            {request: auditlog.Request{Verb: "create", Resource: "pods/binding", Code: 201}, want: true},
		"a change of status":   {request: auditlog.Request{Verb: "patch", Resource: "pods/status", Code: 200}, want: true},
		"a read":               {request: auditlog.Request{Verb: "get", Resource: "pods", Code: 200}},
		"a write in vain":      {request: auditlog.Request{Verb: "update", Resource: "pods", Code: 409}},
		"a lease that is kept": {request: auditlog.Request{Verb: "update", Resource: "leases", Code: 200}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.request.Write(); got != tc.want {
				t.Errorf("Write() = %v, want %v", got, tc.want)
			}
		})
	}
}
