// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package floors_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "berth.dev/berth/"

// listing has a line for each import: the package, what it imports, and whether it is a test that
// does.
const listing = `{{$p := .ImportPath}}{{$p}} {{$p}} code
{{range .Imports}}{{$p}} {{.}} code
{{end}}{{range .TestImports}}{{$p}} {{.}} test
{{end}}{{range .XTestImports}}{{$p}} {{.}} test
{{end}}`

// packagesOfTheModule returns what the packages of this module import of each other.
func packagesOfTheModule(t *testing.T) []pkg {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-f", listing, module+"...")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("listing the packages: %v", err)
	}
	var packages []pkg
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		from, to := strings.TrimPrefix(fields[0], module), strings.TrimPrefix(fields[1], module)
		if len(packages) == 0 || packages[len(packages)-1].path != from {
			packages = append(packages, pkg{path: from})
		}
		p := &packages[len(packages)-1]
		isFit := func(folder string) bool { return below(to, folder) }
		switch {
		case to == fields[1] && fields[2] != "test" && slices.ContainsFunc(fitting, isFit):
			p.fits = append(p.fits, to)
		case to == fields[1]: // of another module
		case fields[2] == "test":
			p.tests = append(p.tests, to)
		default:
			p.imports = append(p.imports, to)
		}
	}
	return packages
}

func TestNoArrowRunsUp(t *testing.T) {
	packages := packagesOfTheModule(t)
	if len(packages) < 50 {
		t.Fatalf("only %d packages were found", len(packages))
	}
	for _, fault := range faults(packages) {
		t.Error(fault)
	}
}

func TestFaults(t *testing.T) {
	for name, test := range map[string]struct {
		packages []pkg
		want     []string
	}{
		"downwards": {packages: []pkg{
			{path: "pkg/placement/pool", imports: []string{"apis/berth/v1alpha1", "pkg/placement/grants"}},
			{path: "pkg/model/stamp", imports: []string{"pkg/placement/pool"}},
			{path: "pkg/plugins/internal/view", imports: []string{"pkg/model/stamp", "pkg/fence"}},
			{path: "pkg/plugins", imports: []string{"pkg/plugins/nodegrouppolicy", "pkg/feeds"}},
			{path: "pkg/plugins/nodegrouppolicy", imports: []string{"pkg/plugins/internal/view"}},
			{path: "pkg/controllers/policy", imports: []string{"pkg/controllers/state", "pkg/simulator"}},
			{path: "cmd/playground", imports: []string{"cmd/playground/app", "pkg/localplane"}},
		}},
		"upwards": {
			packages: []pkg{{path: "pkg/placement/pool", imports: []string{"pkg/model/stamp"}}},
			want:     []string{"pkg/placement/pool imports pkg/model/stamp, which is on a higher floor"},
		},
		"upwards in a test": {
			packages: []pkg{{path: "pkg/model/stamp", tests: []string{"pkg/controllers/state"}}},
			want:     []string{"a test of pkg/model/stamp imports pkg/controllers/state, which is on a higher floor"},
		},
		"from one plugin to another": {
			packages: []pkg{{path: "pkg/plugins/feedinventory", imports: []string{"pkg/plugins/homescheduler/deep"}}},
			want:     []string{"pkg/plugins/feedinventory imports pkg/plugins/homescheduler/deep, which stands beside it"},
		},
		"from one controller to another": {
			packages: []pkg{{path: "pkg/controllers/grants", imports: []string{"pkg/controllers/policy"}}},
			want:     []string{"pkg/controllers/grants imports pkg/controllers/policy, which stands beside it"},
		},
		"from one command to another": {
			packages: []pkg{{path: "cmd/playground/demo", imports: []string{"cmd/scheduler/app"}}},
			want:     []string{"cmd/playground/demo imports cmd/scheduler/app, which stands beside it"},
		},
		"from the CLI to controllers": {
			packages: []pkg{{path: "pkg/cli/explain", imports: []string{"pkg/controllers/state"}}},
			want:     []string{"pkg/cli/explain imports pkg/controllers/state, which stands beside it"},
		},
		"a test kit in a test": {
			packages: []pkg{{path: "pkg/plugins/nodegrouppolicy", tests: []string{"pkg/plugintest"}}},
		},
		"a test kit in a program": {
			packages: []pkg{{path: "pkg/controllers/policy", imports: []string{"pkg/plugintest"}}},
			want:     []string{"pkg/controllers/policy imports pkg/plugintest, which is for tests"},
		},
		"what says which node takes a pod, where plugins run": {packages: []pkg{
			{path: "pkg/simulator", fits: fitting}, {path: "pkg/plugins/nodegrouppolicy", fits: fitting},
		}},
		"what says which node takes a pod, in a controller": {
			packages: []pkg{{path: "pkg/controllers/subscription", fits: fitting[1:2]}},
			want: []string{"pkg/controllers/subscription imports k8s.io/kubernetes/pkg/scheduler/framework: " +
				"what fits is asked of pkg/simulator"},
		},
		"a new folder": {
			packages: []pkg{{path: "pkg/util/strings"}},
			want:     []string{"pkg/util/strings is on no floor"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, faults(test.packages)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
