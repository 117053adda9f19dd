// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"encoding/json"
	"strings"
	"testing"

	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

func previewBinding(t *testing.T, args string) clitest.Result {
	t.Helper()
	all := append([]string{"preview", "binding"}, strings.Fields(args)...)
	return clitest.Run(t.Context(), cli.Options{}, all...)
}

const fourAmongTwo = "--clusters c0,c1,c2,c3 --schedulers s0,s1"

func TestBindingOutput(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"json": {
			args: fourAmongTwo + " -o json",
			want: `{"bindings":{"c0":"s1","c1":"s0","c2":"s1","c3":"s0"},"load":{"s0":2,"s1":2}}` + "\n",
		},
		"json, by a load factor": {
			args: fourAmongTwo + " --load-factor 1.10 -o json",
			want: `{"bindings":{"c0":"s1","c1":"s0","c2":"s0","c3":"s0"},"load":{"s0":3,"s1":1}}` + "\n",
		},
		"a scheduler that is removed leaves its clusters to the others": {
			args: fourAmongTwo + " --then remove=s1 -o json",
			want: `{"bindings":{"c0":"s1","c1":"s0","c2":"s1","c3":"s0"},"load":{"s0":2,"s1":2},` +
				`"then":{"bindings":{"c0":"s0","c1":"s0","c2":"s0","c3":"s0"},"load":{"s0":4}},` +
				`"moves":[{"cluster":"c0","from":"s1","to":"s0"},{"cluster":"c2","from":"s1","to":"s0"}]}` + "\n",
		},
		"without the last scheduler nothing is bound": {
			args: "--clusters c0 --schedulers s0 --then remove=s0 -o json",
			want: `{"bindings":{"c0":"s0"},"load":{"s0":1},"then":{"bindings":{"c0":""},"load":{}},` +
				`"moves":[{"cluster":"c0","from":"s0","to":""}]}` + "\n",
		},
		"a table for people": {
			args: "--clusters c1,c0 --schedulers s0,s1 --then remove=s0",
			want: "CLUSTER   SCHEDULER   THEN\nc0        s1          s1\nc1        s0          s1\n\n1 of 2 clusters move.\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			previewBinding(t, tc.args).CheckOutput(t, tc.want)
		})
	}
}

func TestBindingKeepsTheBound(t *testing.T) {
	result := previewBinding(t, "--clusters "+strings.Join(names("c", 100), ",")+" --schedulers s0,s1,s2 --load-factor 1.02 -o json")
	var got struct{ Load map[string]int }
	if err := json.Unmarshal([]byte(result.Out), &got); err != nil {
		t.Fatalf("%v: %s%s", err, result.Out, result.Err)
	}
	total := 0
	for name, load := range got.Load {
		if total += load; load > 34 {
			t.Errorf("%s has %d of 100 clusters, want at most 34", name, load)
		}
	}
	if total != 100 {
		t.Errorf("%d of 100 clusters are bound", total)
	}
}

func names(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = prefix + strings.Repeat("x", i)[:i%10] + string(rune('a'+i/10))
	}
	return list
}

func TestBindingWrongInput(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"no clusters":                   {"--schedulers s0", `required flag(s) "clusters"`},
		"an empty list":                 {"--clusters= --schedulers s0", "the list is empty"},
		"an empty name":                 {"--clusters a,,b --schedulers s0", "empty entry"},
		"a cluster twice":               {"--clusters a,b,a --schedulers s0", `cluster "a" is listed twice`},
		"a scheduler twice":             {"--clusters a --schedulers s,s", `scheduler "s" is listed twice`},
		"a name that is no DNS label":   {"--clusters A --schedulers s", `"A" is no name of a cluster`},
		"a load factor below one":       {fourAmongTwo + " --load-factor 0.99", "from 1.00 to 1000.00"},
		"a load factor too fine":        {fourAmongTwo + " --load-factor 1.1001", "at most three digits"},
		"a load factor with a sign":     {fourAmongTwo + " --load-factor -1", "from 1.00"},
		"a load factor that ends early": {fourAmongTwo + " --load-factor 1.", "from 1.00"},
		"an unknown change":             {fourAmongTwo + " --then drop=s1", "add=SCHEDULER or remove=SCHEDULER"},
		"a change without a name":       {fourAmongTwo + " --then add=", "--then"},
		"adding what is there":          {fourAmongTwo + " --then add=s1", `scheduler "s1" is there already`},
		"removing what is not there":    {fourAmongTwo + " --then remove=s2", `scheduler "s2" is not in --schedulers`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			previewBinding(t, tc.args).CheckFailed(t, tc.want)
		})
	}
}
