// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"

	"berth.dev/berth/cmd/playground/world"
)

func TestClusterNames(t *testing.T) {
	names := world.ClusterNames(world.MaxClusters)
	if diff := cmp.Diff([]string{"beijing", "hangzhou"}, names[:2]); diff != "" {
		t.Errorf("the first two (-want +got):\n%s", diff)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			t.Errorf("%s occurs twice", name)
		}
		seen[name] = true
		if errs := validation.IsDNS1123Label(name); len(errs) > 0 {
			t.Errorf("%s is no name for a Cluster: %v", name, errs)
		}
	}
	if len(names) != world.MaxClusters {
		t.Errorf("got %d names, want %d", len(names), world.MaxClusters)
	}
}
