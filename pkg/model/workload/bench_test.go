// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	"berth.dev/berth/pkg/model/workload"
)

func BenchmarkOf(b *testing.B) {
	objects := &workload.Objects{Owners: []workload.Object{
		deployment("web", "1", 3), replicaSet("web-v1", ownedBy("apps/v1", "Deployment", "web"), "1", 3),
	}}
	source, p := objects.Source(), pod("p", ownedBy("apps/v1", "ReplicaSet", "web-v1"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := workload.Of(&p, source); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRevisionOf(b *testing.B) {
	p := pod("p", ownedBy("apps/v1", "ReplicaSet", "web-v1"))
	b.ReportAllocs()
	for b.Loop() {
		if _, owned := workload.RevisionOf(&p); !owned {
			b.Fatal("a pod of a ReplicaSet has no revision")
		}
	}
}
