// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package floors_test holds the packages of this module to the floors that CONTRIBUTING.md draws: a
// package imports from its own floor and from lower ones, and parts that stand beside each other on
// a floor meet only below it.
package floors_test

import (
	"fmt"
	"slices"
	"strings"
)

// floors are the folders of each floor, the lowest first. A folder belongs to the longest path that
// is listed.
var floors = [][]string{
	{"apis", "pkg/generated", "pkg/minor", "manifests"},
	{"pkg/placement"},
	{"pkg/model", "pkg/fence", "pkg/history"},
	{"pkg/feeds", "pkg/metricsources", "pkg/ownership", "pkg/registration"},
	{"pkg/plugins"},
	{"pkg/simulator"},
	{"pkg/explain", "pkg/ui"},
	{"pkg/controllers", "pkg/cli", "pkg/gateway", "pkg/localplane", "pkg/plugintest"},
	{"cmd"},
	{"test", "hack", "docs", "examples"},
}

// kits are the folders of what only tests may import. They are as high as what they help to test,
// and tests reach up to them.
var kits = []string{
	"pkg/plugintest", "pkg/controllers/adviser/advisertest", "pkg/model/charges/chargetest", "cmd/internal/flagtest", "test/",
}

// apart are the folders whose parts, their direct subfolders, import nothing of each other. What
// parts share is in the folder itself or in one of the shared parts.
var apart = []struct {
	folder string
	shared []string
}{
	{"pkg/plugins", []string{"internal"}},
	{"pkg/controllers", []string{"internal", "state", "adviser", "accounts"}},
	{"cmd", []string{"internal"}},
}

// beside are the folders on one floor that import nothing of each other.
var beside = []string{"pkg/controllers", "pkg/cli", "pkg/gateway"}

// fitting are packages of Kubernetes that say which node takes which pod. Only what runs the
// plugins of the scheduler may ask them: what fits is asked of pkg/simulator. Whoever imports one
// for something else is listed with the reason.
var fitting = []string{
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity",
	"k8s.io/kubernetes/pkg/scheduler/framework",
	"k8s.io/kubernetes/pkg/scheduler/util",
}

// fitters run the plugins of the scheduler, or are plugins.
var fitters = []string{"pkg/plugins", "pkg/simulator", "pkg/plugintest", "pkg/minor", "cmd/scheduler", "test", "hack"}

// readers import packages that say what fits, for something else.
var readers = map[string]string{
	"pkg/explain":                     "counts nodes by what they say to a pod in the first place",
	"pkg/explain/remedy":              "names what a change would have to be; whether it helps is asked of the simulator",
	"pkg/controllers/clusterresource": "tells by a metric whether pods wait although pools have something left",
	"pkg/controllers/dispatcher":      "finds the scheduler that has the nodes which a pod selects",
	"pkg/model/division":              "adds up the weights of terms that clusters match",
}

// debts are imports that break a rule and are to go. None may be added.
var debts []string

// pkg is what `go list` says of a package: paths below the root of the module, of this module's
// packages only.
type pkg struct {
	path           string
	imports, tests []string
	// fits are the packages of fitting that it imports.
	fits []string
}

// faults returns a sentence for each import that breaks a rule, in order.
func faults(packages []pkg) []string {
	var found []string
	for i := range packages {
		p := &packages[i]
		if floorOf(p.path) < 0 {
			found = append(found, p.path+" is on no floor")
		}
		for _, imported := range p.fits {
			if readers[p.path] == "" && !slices.ContainsFunc(fitters, func(folder string) bool { return below(p.path, folder) }) {
				found = append(found, fmt.Sprintf("%s imports %s: what fits is asked of pkg/simulator", p.path, imported))
			}
		}
		for _, imported := range p.imports {
			if fault := faultOf(p.path, imported, false); fault != "" {
				found = append(found, fault)
			}
		}
		for _, imported := range p.tests {
			if fault := faultOf(p.path, imported, true); fault != "" {
				found = append(found, fault)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// faultOf says what is wrong with an import, empty if nothing is.
func faultOf(from, to string, inTest bool) string {
	kit := slices.ContainsFunc(kits, func(folder string) bool { return below(to, strings.TrimSuffix(folder, "/")) })
	who := from
	if inTest {
		who = "a test of " + from
	}
	switch {
	case from == to, slices.Contains(debts, from+" "+to):
		return ""
	case kit && !inTest && floorOf(from) < len(floors)-1:
		if below(from, "pkg/plugintest") {
			return ""
		}
		return fmt.Sprintf("%s imports %s, which is for tests", who, to)
	case kit:
		return ""
	case floorOf(to) > floorOf(from):
		return fmt.Sprintf("%s imports %s, which is on a higher floor", who, to)
	case areApart(from, to):
		return fmt.Sprintf("%s imports %s, which stands beside it", who, to)
	}
	return ""
}

// floorOf returns the index of the floor of a package, -1 if it has none.
func floorOf(path string) int {
	return slices.IndexFunc(floors, func(folders []string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool { return below(path, folder) })
	})
}

// areApart reports whether two packages belong to parts that import nothing of each other.
func areApart(from, to string) bool {
	for _, a := range apart {
		one, two := part(from, a.folder), part(to, a.folder)
		if one != "" && two != "" && one != two && !slices.Contains(a.shared, two) {
			return true
		}
	}
	one := slices.IndexFunc(beside, func(folder string) bool { return below(from, folder) })
	two := slices.IndexFunc(beside, func(folder string) bool { return below(to, folder) })
	return one >= 0 && two >= 0 && one != two
}

// part returns the subfolder of a folder that a package is in, empty if it is in none.
func part(path, folder string) string {
	rest, found := strings.CutPrefix(path, folder+"/")
	if !found {
		return ""
	}
	first, _, _ := strings.Cut(rest, "/")
	return first
}

// below reports whether a package is in a folder or is that folder itself.
func below(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}
