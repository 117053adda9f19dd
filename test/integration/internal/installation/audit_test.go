// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/test/internal/auditlog"
)

const berth = "system:serviceaccount:berth-system:berth-scheduler"

func TestLacking(t *testing.T) {
	for name, tc := range map[string]struct {
		requests []auditlog.Request
		provoked []string
		want     []string
	}{
		"nothing": {},
		"a right": {
			requests: []auditlog.Request{
				{User: berth, Verb: "list", Group: "apps", Resource: "deployments", Unauthorized: true},
				{User: berth, Verb: "list", Group: "apps", Resource: "deployments", Unauthorized: true},
				{User: berth, Verb: "create", Resource: "pods/eviction", Namespace: "a", Unauthorized: true},
				{User: berth, Verb: "create", Resource: "pods/eviction", Namespace: "b"},
			},
			want: []string{"berth-scheduler create pods/eviction in a", "berth-scheduler list deployments.apps"},
		},
		"one that came later":        {requests: []auditlog.Request{{User: berth, Verb: "list", Resource: "pods", Unauthorized: true}, {User: berth, Verb: "list", Resource: "pods"}}},
		"one that was there before":  {requests: []auditlog.Request{{User: berth, Verb: "list", Resource: "pods"}, {User: berth, Verb: "list", Resource: "pods", Unauthorized: true}}},
		"what admission has refused": {requests: []auditlog.Request{{User: berth, Verb: "create", Resource: "pods", Code: 403}}},
		"one that a spec provokes": {
			requests: []auditlog.Request{
				{User: berth, Verb: "get", Resource: "secrets", Namespace: "a", Unauthorized: true},
				{User: berth, Verb: "list", Resource: "secrets", Namespace: "a", Unauthorized: true},
			},
			provoked: []string{"get secrets"}, want: []string{"berth-scheduler list secrets in a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(lacking(tc.requests, tc.provoked)))); diff != "" {
				t.Errorf("lacking (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUsed(t *testing.T) {
	got := used([]auditlog.Request{
		{User: berth, Verb: "list", Group: "apps", Resource: "deployments"},
		{User: berth, Verb: "list", Group: "apps", Resource: "deployments"},
		{User: berth, Verb: "get", Group: "apps", Resource: "deployments", Namespace: "berth-system"},
		{User: berth, Verb: "create", Resource: "pods/binding", Namespace: "team", Code: 409},
		{User: berth, Verb: "get", Resource: "secrets", Namespace: "team", Unauthorized: true},
	})
	want := []string{
		"berth-scheduler create pods/binding", "berth-scheduler get deployments.apps in berth-system", "berth-scheduler list deployments.apps",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("used (-want +got):\n%s", diff)
	}
}

func TestOfProgram(t *testing.T) {
	for name, tc := range map[string]struct {
		request auditlog.Request
		want    bool
	}{
		"a program":               {auditlog.Request{User: berth, Agent: "berth-scheduler/v1 (linux/amd64)"}, true},
		"a spec in its name":      {auditlog.Request{User: berth, Agent: "tenancy.test/v0.0.0"}, false},
		"in the name of another":  {auditlog.Request{User: berth, Agent: "berth-gateway/v1"}, false},
		"as somebody else":        {auditlog.Request{User: berth, Agent: "berth-scheduler/v1", Impersonated: "system:serviceaccount:team:default"}, false},
		"somebody of a like name": {auditlog.Request{User: "system:serviceaccount:team:berth-scheduler", Agent: "berth-scheduler/v1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ofProgram(&tc.request); got != tc.want {
				t.Errorf("ofProgram = %t, want %t", got, tc.want)
			}
		})
	}
}
