// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/test/internal/auditlog"
)

func TestLacking(t *testing.T) {
	const berth, tenant = "system:serviceaccount:berth-system:berth-scheduler", "system:serviceaccount:team:default"
	for name, tc := range map[string]struct {
		requests []auditlog.Request
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
		"of somebody else":           {requests: []auditlog.Request{{User: berth, Impersonated: tenant, Verb: "get", Resource: "pods", Unauthorized: true}}},
		"what admission has refused": {requests: []auditlog.Request{{User: berth, Verb: "create", Resource: "pods", Code: 403}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, lacking(tc.requests)); diff != "" {
				t.Errorf("lacking (-want +got):\n%s", diff)
			}
		})
	}
}
