// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package minor_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/minor"
)

func TestThereIsABuildForEachMinor(t *testing.T) {
	got, err := filepath.Glob(filepath.Join("..", "..", "build", "kubernetes-*"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for m := minor.Oldest; m <= minor.Newest; m++ {
		if m != minor.Minor {
			want = append(want, filepath.Join("..", "..", "build", fmt.Sprintf("kubernetes-1.%d", m)))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what there is differs from Oldest to Newest (-want +got):\n%s", diff)
	}
}
