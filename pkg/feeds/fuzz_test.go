// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds"
	"berth.dev/berth/pkg/feeds/manifest"
)

// fuzzParsers checks that a parser either refuses a text in one line, or returns the same twice:
// replicas that are not negative with a path that leads somewhere, and requirements that can be
// written down.
func fuzzParsers(f *testing.F, parsers ...feeds.PluginFactory) {
	f.Helper()
	for _, spec := range []string{
		"{}", `{"replicas":3,"template":` + halfCore + `}`, `{"parallelism":5,"completions":3,"suspend":false,"template":` + halfCore + `}`,
		`{"jobTemplate":{"spec":{"parallelism":2,"template":` + halfCore + `}}}`, `{"replicas":-1}`, `{"replicas":1e400}`, rayCluster,
		`{"containers":[{"resources":{"limits":{"cpu":"1e-2147483647","memory":0.5}}}],"overhead":{"cpu":"1e18"},"resources":{"limits":{"cpu":1}}}`,
		`{"template":{"spec":{"affinity":{"nodeAffinity":{}},"tolerations":[{}],"nodeSelector":{"a":"b"}}}}`,
	} {
		f.Add([]byte(manifestOf("v1", "X", spec)))
	}
	f.Add([]byte("apiVersion: v1\nkind: X\nspec:\n  replicas: 0x10\n  template: &a\n    spec: *a\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, parser := range parsers {
			checkParse(t, parser, raw)
		}
	})
}

// parsed is all that a parser returns.
type parsed struct {
	replicas     *int32
	requirements berthv1alpha1.ReplicaRequirements
	path         string
	err          error
}

func parse(parser feeds.PluginFactory, raw []byte) parsed {
	var p parsed
	p.replicas, p.requirements, p.path, p.err = parser.Parser(raw)
	return p
}

func checkParse(t *testing.T, parser feeds.PluginFactory, raw []byte) {
	t.Helper()
	before := bytes.Clone(raw)
	got := parse(parser, raw)
	if !bytes.Equal(before, raw) {
		t.Fatalf("%s changed its input", parser.Name())
	}
	again := parse(parser, raw)
	if (got.err == nil) != (again.err == nil) || !equality.Semantic.DeepEqual(got.replicas, again.replicas) ||
		!equality.Semantic.DeepEqual(got.requirements, again.requirements) || got.path != again.path {
		t.Fatalf("%s: %+v, and the second time %+v", parser.Name(), got, again)
	}
	if got.err != nil {
		if got.replicas != nil || got.path != "" {
			t.Fatalf("%s: a result beside the error %v", parser.Name(), got.err)
		}
		return
	}
	checkParsed(t, parser.Name(), got)
}

func checkParsed(t *testing.T, name string, got parsed) {
	t.Helper()
	if got.replicas != nil {
		if _, err := manifest.ParsePointer(got.path); err != nil || *got.replicas < 0 {
			t.Fatalf("%s: %d replicas at %q, error %v", name, *got.replicas, got.path, err)
		}
	}
	if _, err := json.Marshal(got.requirements); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for resource, amount := range got.requirements.Resources.Requests {
		if amount.Sign() < 0 || amount.MilliValue() < 0 || amount.Value() < 0 {
			t.Fatalf("%s: requests %s of %s", name, amount.String(), resource)
		}
	}
}

// family returns the built-in parsers of some kinds.
func family(kinds ...string) []feeds.PluginFactory {
	var parsers []feeds.PluginFactory
	for kind, parser := range feeds.BuiltIn() {
		for _, wanted := range kinds {
			if kind.Kind == wanted && kind.Group != "extensions" {
				parsers = append(parsers, parser)
			}
		}
	}
	return parsers
}

func FuzzDeployment(f *testing.F)            { fuzzParsers(f, family("Deployment")...) }
func FuzzReplicaSet(f *testing.F)            { fuzzParsers(f, family("ReplicaSet")...) }
func FuzzStatefulSet(f *testing.F)           { fuzzParsers(f, family("StatefulSet")...) }
func FuzzReplicationController(f *testing.F) { fuzzParsers(f, family("ReplicationController")...) }
func FuzzJob(f *testing.F)                   { fuzzParsers(f, family("Job")...) }
func FuzzCronJob(f *testing.F)               { fuzzParsers(f, family("CronJob")...) }
func FuzzDaemonSet(f *testing.F)             { fuzzParsers(f, family("DaemonSet")...) }
func FuzzPod(f *testing.F)                   { fuzzParsers(f, family("Pod")...) }

// FuzzRule reads objects by rules, once with paths and once with expressions.
func FuzzRule(f *testing.F) {
	fuzzParsers(f,
		compiled(f, rayRule(&berthv1alpha1.ReplicasRule{Path: "/spec/workers"}, &berthv1alpha1.PodTemplateRule{Path: "/spec/groups/0/template"})),
		compiled(f, rayRule(
			&berthv1alpha1.ReplicasRule{Path: "/spec/workers", Expression: "object.spec.workers / object.spec.groups.filter(g, g.size > 0).size()"},
			&berthv1alpha1.PodTemplateRule{Expression: "{'spec': object.spec.pod}"})),
	)
}

func compiled(t testing.TB, rule berthv1alpha1.FeedParser) feeds.PluginFactory {
	t.Helper()
	registry, err := feeds.NewRegistry([]berthv1alpha1.FeedParser{rule}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return registry.ParserFor(schemaOf(rule))
}

// FuzzFeedParsers reads rules, and an object by each.
func FuzzFeedParsers(f *testing.F) {
	for _, seed := range []string{
		cloneSets, cloneSets + "---\n" + cloneSets, strings.Replace(cloneSets, "podTemplate: {path: /spec/template}", "podTemplate: {expression: object.spec}", 1),
		strings.Replace(cloneSets, "path: /spec/replicas, default: 1", "path: /a/0/~1~0, expression: 1/0", 1),
	} {
		f.Add([]byte(seed), []byte(manifestOf("apps.kruise.io/v1", "CloneSet", rayCluster)))
	}
	f.Fuzz(func(t *testing.T, rules, object []byte) {
		list, err := feeds.ParseFeedParsers(rules)
		if err != nil {
			return
		}
		registry, err := feeds.NewRegistry(list, nil)
		if err != nil {
			return
		}
		for i := range list {
			checkParse(t, registry.ParserFor(schemaOf(list[i])), object)
		}
	})
}

func schemaOf(rule berthv1alpha1.FeedParser) schema.GroupKind {
	return schema.GroupKind{Group: rule.Spec.Group, Kind: rule.Spec.Kind}
}
