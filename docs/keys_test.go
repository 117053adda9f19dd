// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"go/ast"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unwritten are names in the form of keys that are on no object of the API server.
var unwritten = map[string]string{
	"berth.dev/pending":            "an index of the scheduler",
	"berth.dev/waiting":            "an index of the scheduler",
	"berth.dev/parent":             "an index of the scheduler",
	"berth.dev/stamped":            "an index of the controllers",
	"berth.dev/controller":         "an index of the controllers",
	"berth.dev/cluster-resources":  "an index of the controllers",
	"berth.dev/metric-constraints": "an index of the controllers",
	"berth.dev/helm-release":       "an index of the controllers",
	"berth.dev/annotations-digest": "in the cache of the controllers",
	"berth.dev/ordinal-claims":     "on a pod that stands for others in the simulator",
	"berth.dev/playground":         "a taint of the playground's node",
}

// key matches the keys that are Berth's own.
var key = regexp.MustCompile(`^([a-z-]+\.)?berth\.dev/[a-z-]+$`)

// berthKeys returns the keys of Berth's own that stand in code, with the file where they do.
func berthKeys(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	inspectSources(t, func(path string, node ast.Node) {
		if literal, ok := node.(*ast.BasicLit); ok {
			if value, ok := text(literal); ok && key.MatchString(value) {
				found[value] = path
			}
		}
	})
	if len(found) == 0 {
		t.Fatal("no key found")
	}
	return found
}

// TestLabelsAndAnnotationsListsAllKeys lets nobody add a key that the page, and by it the suite
// tenancy, does not know.
func TestLabelsAndAnnotationsListsAllKeys(t *testing.T) {
	page := content(t, filepath.Join("reference", "labels-and-annotations.md"))
	found := berthKeys(t)
	for key, path := range found {
		if unwritten[key] == "" && !strings.Contains(page, "`"+key+"`") {
			t.Errorf("%s, which is in %s, is missing", key, path)
		}
	}
	for key, what := range unwritten {
		if found[key] == "" {
			t.Errorf("%s, %s, is in no code any more", key, what)
		}
	}
	others := constants(t, filepath.Join(root, "apis", "berth", "v1alpha1", "wellknown.go"), `Annotation$|^PolicyNone$`)
	maps.Copy(others, constants(t, filepath.Join(root, "apis", "berth", "v1alpha1", "scheduler_wellknown.go"), `(Annotation|Label)$`))
	for constant, want := range others {
		if !strings.Contains(page, "`"+want+"`") {
			t.Errorf("%s is missing: %q", constant, want)
		}
	}
}
