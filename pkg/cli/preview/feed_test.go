// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// bundle is what a user applies together. The comment above the first mark is no document.
const bundle = `# The shop
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  replicas: 3
  template:
    spec:
      nodeSelector: {disk: ssd}
      tolerations: [{key: edge, operator: Exists}]
      containers:
      - name: web
        resources:
          limits: {cpu: 500m, memory: 1Gi}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: web}}
- apiVersion: apps.kruise.io/v1alpha1
  kind: CloneSet
  metadata: {name: db}
  spec: {size: 2, pod: {containers: [{resources: {requests: {cpu: 1}}}]}}
`

const cloneSetRule = `apiVersion: berth.dev/v1alpha1
kind: FeedParser
metadata:
  name: clonesets
spec:
  group: apps.kruise.io
  kind: CloneSet
  replicas: {path: /spec/size}
  podTemplate: {expression: "{'spec': object.spec.pod}"}
`

// previewFeed runs berthctl preview feed -f with a file of that text, and a folder of parsers
// unless that is empty.
func previewFeed(t *testing.T, file, parsers string, args ...string) clitest.Result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bundle.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"preview", "feed", "-f", path}, args...)
	if parsers != "" {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "rules.yaml"), []byte(parsers), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--parsers", folder)
	}
	return clitest.Run(t.Context(), cli.Options{}, args...)
}

const (
	webJSON = `{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web","desiredReplicas":3,"replicaRequirements":{` +
		`"nodeSelector":{"disk":"ssd"},"tolerations":[{"key":"edge","operator":"Exists"}],"resources":{` +
		`"limits":{"cpu":"500m","memory":"1Gi"},"requests":{"cpu":"500m","memory":"1Gi"}}},"replicaJsonPath":"/spec/replicas"}`
	serviceJSON   = `{"apiVersion":"v1","kind":"Service","name":"web","desiredReplicas":null,"replicaRequirements":{},"replicaJsonPath":""}`
	cloneSetStart = `{"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet","name":"db",`
	copiedWhole   = `"desiredReplicas":null,"replicaRequirements":{},"replicaJsonPath":""}`
)

func TestFeedOutput(t *testing.T) {
	tests := map[string]struct {
		file, parsers, format, want string
	}{
		"json": {
			file: bundle, format: "json",
			want: `{"feeds":[` + webJSON + `,` + serviceJSON + `,` + cloneSetStart + copiedWhole + "]}\n",
		},
		"json with a rule": {
			file: bundle, parsers: cloneSetRule, format: "json",
			want: `{"feeds":[` + webJSON + `,` + serviceJSON + `,` + cloneSetStart +
				`"desiredReplicas":2,"replicaRequirements":{"resources":{"requests":{"cpu":"1"}}},"replicaJsonPath":"/spec/size"}]}` + "\n",
		},
		"a file of json": {
			file:   `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}`,
			format: "json", want: `{"feeds":[` + serviceJSON + `,` + serviceJSON + "]}\n",
		},
		"yaml": {
			file: "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n", format: "yaml",
			want: "feeds:\n- apiVersion: v1\n  desiredReplicas: null\n  kind: Service\n  name: web\n  replicaJsonPath: \"\"\n  replicaRequirements: {}\n",
		},
		"a table for people": {
			file: bundle, parsers: cloneSetRule, format: "table",
			want: "" +
				"KIND         NAME   REPLICAS   REQUESTS              REPLICAS-AT      PARSER\n" +
				"Deployment   web    3          cpu=500m,memory=1Gi   /spec/replicas   Deployment\n" +
				"Service      web    <none>     <none>                <none>           unknown\n" +
				"CloneSet     db     2          cpu=1                 /spec/size       clonesets\n",
		},
		"a wide table": {
			file: bundle, format: "wide",
			want: "" +
				"KIND         NAME   REPLICAS   REQUESTS              REPLICAS-AT      PARSER       NAMESPACE   LIMITS                NODE-SELECTOR\n" +
				"Deployment   web    3          cpu=500m,memory=1Gi   /spec/replicas   Deployment   shop        cpu=500m,memory=1Gi   disk=ssd\n" +
				"Service      web    <none>     <none>                <none>           unknown      <none>      <none>                <none>\n" +
				"CloneSet     db     <none>     <none>                <none>           unknown      <none>      <none>                <none>\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			previewFeed(t, tc.file, tc.parsers, "-o", tc.format).CheckOutput(t, tc.want)
		})
	}
}

const definedRing = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rings.x.io}
spec:
  group: x.io
  names: {kind: Ring}
  versions:
  - {name: v1, served: true, subresources: {scale: {specReplicasPath: .spec.nodes}}}
---
apiVersion: x.io/v1
kind: Ring
metadata: {name: web}
spec: {nodes: 4, pods: {spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}]}}}
`

func TestFeedReadsWhatIsDefinedInTheFile(t *testing.T) {
	result := previewFeed(t, definedRing, "", "-o", "table")
	result.CheckOutput(t, ""+
		"KIND                       NAME         REPLICAS   REQUESTS   REPLICAS-AT   PARSER\n"+
		"CustomResourceDefinition   rings.x.io   <none>     <none>     <none>        unknown\n"+
		"Ring                       web          4          cpu=1      /spec/nodes   scale\n")
}

func TestFeedTellsOfComponents(t *testing.T) {
	const rule = `apiVersion: berth.dev/v1alpha1
kind: FeedParser
metadata: {name: rings}
spec:
  group: x.io
  kind: Ring
  components:
  - {name: node, replicas: {path: /spec/nodes}, podTemplate: {path: /spec/pods}}
`
	_, ring, _ := strings.Cut(definedRing, "---\n")
	previewFeed(t, ring, rule, "-o", "json").CheckOutput(t,
		`{"feeds":[{"apiVersion":"x.io/v1","kind":"Ring","name":"web",`+strings.TrimSuffix(copiedWhole, "}")+
			`,"components":[{"name":"node","desiredReplicas":4,"replicaRequirements":{"resources":{"requests":{"cpu":"1"}}},`+
			`"replicaJsonPath":"/spec/nodes"}]}]}`+"\n")
}

func TestFeedReadsStandardInput(t *testing.T) {
	for name, tc := range map[string]struct {
		in, wantOut, wantErr string
		wantCode             int
	}{
		"a bundle": {in: bundle, wantOut: `{"feeds":[` + webJSON + `,` + serviceJSON + `,` + cloneSetStart + copiedWhole + "]}\n"},
		"nothing":  {wantErr: "error: standard input: there is no object in it\n", wantCode: 1},
		"10 MB":    {in: bundle + strings.Repeat("# comment\n", 1_000_000), wantErr: "error: standard input: there are more than 4194304 bytes\n", wantCode: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			streams := genericiooptions.IOStreams{In: strings.NewReader(tc.in), Out: &out, ErrOut: &errOut}
			code := cli.Run(t.Context(), cli.Options{Streams: streams}, []string{"preview", "feed", "-f", "-", "-o", "json"})
			if code != tc.wantCode || out.String() != tc.wantOut || errOut.String() != tc.wantErr {
				t.Errorf("exit status %d, printed %q and %q", code, out.String(), errOut.String())
			}
		})
	}
}

func TestFeedRefusesWrongInput(t *testing.T) {
	changed := func(old, now string) string { return strings.Replace(bundle, old, now, 1) }
	rule := func(old, now string) string { return strings.Replace(cloneSetRule, old, now, 1) }
	tests := map[string]struct{ file, parsers, want string }{
		"negative replicas":         {changed("replicas: 3", "replicas: -3"), "", `bundle.yaml: document 1: Deployment "web": /spec/replicas: must be a whole number from 0 to 2147483647, not -3`},
		"huge replicas":             {changed("replicas: 3", "replicas: 1e12"), "", `document 1: Deployment "web": /spec/replicas: must be`},
		"a quantity that hangs":     {changed("500m", `"1e-2147483647"`), "", `document 1: Deployment "web": /spec/template: the quantity "1e-2147483647"`},
		"an item without a name":    {changed("{name: db}", "{}"), "", "document 2, item 2: metadata.name is missing"},
		"an item with a wrong rule": {bundle, rule("/spec/size", "/spec/replicas"), `document 2, item 2: CloneSet "db": FeedParser "clonesets": spec.replicas: /spec/replicas leads nowhere`},
		"a rule that divides by 0":  {bundle, rule("{'spec': object.spec.pod}", "{'spec': 1 / (object.spec.size - 2)}"), `FeedParser "clonesets": spec.podTemplate: division by zero`},
		"two rules for one kind":    {bundle, cloneSetRule + "---\n" + rule("name: clonesets", "name: others"), `--parsers: FeedParsers "clonesets" and "others" are both for CloneSet.apps.kruise.io`},
		"a rule that is none":       {bundle, "hello\n", "rules.yaml: document 1: this is no object"},
		"an anchor":                 {changed("spec:", "spec: &spec"), "", "document 1: line 6: anchors and aliases are not accepted"},
		"yaml that is none":         {bundle + "---\na: [\n", "", "document 3: yaml: "},
		"nesting of 10,000":         {bundle + "---\na: " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), "", "document 3: "},
		"an empty file":             {"# nothing\n", "", "bundle.yaml: there is no object in it"},
		"a very long kind":          {changed("kind: Deployment", "kind: "+strings.Repeat("K", 100_000)), "", "kind: must have at most 253 characters"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			previewFeed(t, tc.file, tc.parsers).CheckFailed(t, tc.want)
		})
	}
	folder := t.TempDir()
	for name, tc := range map[string]struct{ args, want string }{
		"no file":              {"", `required flag(s) "filename" not set`},
		"a file that is not":   {"-f " + folder + "/nothing", "nothing: no such file"},
		"a folder as file":     {"-f " + folder, "is a directory"},
		"a folder that is not": {"-f - --parsers " + folder + "/nothing", "--parsers: "},
		"an argument":          {"-f - bundle.yaml", `"bundle.yaml"`},
		"an unknown format":    {"-f - -o text", `unknown output format "text"`},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.Run(t.Context(), cli.Options{}, append([]string{"preview", "feed"}, strings.Fields(tc.args)...)...).CheckFailed(t, tc.want)
		})
	}
}

func TestFeedTableHasNoColours(t *testing.T) {
	result := previewFeed(t, "apiVersion: v1\nkind: \"\\e[31mRed\"\nmetadata: {name: \"a\\nb\"}\n", "")
	if result.Code != 0 || strings.ContainsRune(result.Out, '\x1b') || strings.Count(result.Out, "\n") != 2 {
		t.Errorf("exit status %d, printed %q, error %q", result.Code, result.Out, result.Err)
	}
}
