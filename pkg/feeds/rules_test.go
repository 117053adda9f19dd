// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds"
)

// cloneSets is a rule as a platform engineer writes it.
const cloneSets = `apiVersion: berth.dev/v1alpha1
kind: FeedParser
metadata:
  name: clonesets
spec:
  group: apps.kruise.io
  kind: CloneSet
  replicas: {path: /spec/replicas, default: 1}
  podTemplate: {path: /spec/template}
`

func ruleFor(name, group, kind string, replicas *berthv1alpha1.ReplicasRule, template *berthv1alpha1.PodTemplateRule) berthv1alpha1.FeedParser {
	return berthv1alpha1.FeedParser{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       berthv1alpha1.FeedParserSpec{Group: group, Kind: kind, Replicas: replicas, PodTemplate: template},
	}
}

// rayRule is a rule for an object with several templates.
func rayRule(replicas *berthv1alpha1.ReplicasRule, template *berthv1alpha1.PodTemplateRule) berthv1alpha1.FeedParser {
	return ruleFor("ray", "ray.io", "RayCluster", replicas, template)
}

const rayCluster = `{"groups":[{"size":2,"template":` + halfCore + `},{"size":3}],"workers":4,"most":3,"zero":0,"text":"x","half":0.5,"pod":{"containers":[]}}`

func TestRules(t *testing.T) {
	two, three := ptr.To[int32](2), ptr.To[int32](3)
	tests := map[string]struct {
		replicas     *berthv1alpha1.ReplicasRule
		template     *berthv1alpha1.PodTemplateRule
		wantReplicas *int32
		wantPath     string
		wantCPU      string
	}{
		"paths": {
			replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/groups/0/size"}, template: &berthv1alpha1.PodTemplateRule{Path: "/spec/groups/0/template"},
			wantReplicas: two, wantPath: "/spec/groups/0/size", wantCPU: "500m",
		},
		"a default": {replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/replicas", Default: two}, wantReplicas: two, wantPath: "/spec/replicas"},
		"a default that is not needed": {
			replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/most", Default: two}, wantReplicas: three, wantPath: "/spec/most",
		},
		"expressions": {
			replicas: &berthv1alpha1.ReplicasRule{
				Path:       "/spec/workers",
				Expression: "object.spec.workers < object.spec.most ? object.spec.workers : object.spec.most",
			},
			template:     &berthv1alpha1.PodTemplateRule{Expression: "object.spec.groups.filter(g, has(g.template))[0].template"},
			wantReplicas: three, wantPath: "/spec/workers", wantCPU: "500m",
		},
		"an expression that makes a template": {
			template: &berthv1alpha1.PodTemplateRule{
				Expression: "{'spec': {'containers': [{'resources': {'requests': {'cpu': object.spec.half}}}, {'resources': {'limits': {'cpu': '1'}}}]}}",
			},
			wantCPU: "1500m",
		},
		"no template": {replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/workers"}, wantReplicas: ptr.To[int32](4), wantPath: "/spec/workers"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			registry, err := feeds.NewRegistry([]berthv1alpha1.FeedParser{rayRule(tc.replicas, tc.template)}, feeds.BuiltIn())
			if err != nil {
				t.Fatal(err)
			}
			feed, err := registry.Read([]byte(manifestOf("ray.io/v1", "RayCluster", rayCluster)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.wantReplicas, feed.DesiredReplicas); diff != "" {
				t.Errorf("replicas differ (-want +got):\n%s", diff)
			}
			if feed.ReplicaJSONPath != tc.wantPath || feed.Parser != "ray" {
				t.Errorf("path %q, want %q; read by %q", feed.ReplicaJSONPath, tc.wantPath, feed.Parser)
			}
			want := amounts{}
			if tc.wantCPU != "" {
				want["cpu"] = tc.wantCPU
			}
			checkAmounts(t, "requests", want, feed.ReplicaRequirements.Resources.Requests)
		})
	}
}

func TestRulesThatDoNotFitTheObject(t *testing.T) {
	loop := "object.spec.groups.all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, " +
		"[0,1,2,3,4,5,6,7,8,9].all(e, true))))) ? 1 : 1"
	atWorkers := func(expression string) *berthv1alpha1.ReplicasRule {
		return &berthv1alpha1.ReplicasRule{Path: "/spec/workers", Expression: expression}
	}
	tests := map[string]struct {
		replicas *berthv1alpha1.ReplicasRule
		template *berthv1alpha1.PodTemplateRule
		want     string
	}{
		"replicas that are nowhere":              {replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/replicas"}, want: "spec.replicas: /spec/replicas leads nowhere, and the rule has no default"},
		"a default cannot help without a parent": {replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/scale/replicas", Default: ptr.To[int32](1)}, want: `spec.replicas: /spec/scale/replicas leads nowhere: there is no "scale"`},
		"replicas in a list that is shorter":     {replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/groups/7/size"}, want: `the list has no element "7"`},
		"replicas that are a text":               {replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/text"}, want: `/spec/text: must be a whole number from 0 to 2147483647, not "x"`},
		"a template that is nowhere":             {template: &berthv1alpha1.PodTemplateRule{Path: "/spec/template"}, want: "spec.podTemplate: /spec/template leads nowhere"},
		"a template that is a number":            {template: &berthv1alpha1.PodTemplateRule{Path: "/spec/workers"}, want: "spec.podTemplate: /spec/workers: must be a pod template"},
		"an expression that divides by zero":     {replicas: atWorkers("object.spec.workers / object.spec.zero"), want: "spec.replicas: division by zero"},
		"an expression that loops":               {replicas: atWorkers(loop), want: "spec.replicas: this takes too many steps"},
		"an expression that points nowhere":      {replicas: atWorkers("object.spec.nothing"), want: "spec.replicas: no such key: nothing"},
		"an expression for a negative number":    {replicas: atWorkers("0 - object.spec.workers"), want: "the value of the expression must be a whole number from 0 to 2147483647, not -4"},
		"an expression for a huge number":        {replicas: atWorkers("object.spec.workers * 1000000000"), want: "not 4000000000"},
		"an expression for a fraction":           {replicas: atWorkers("object.spec.half"), want: "not 0.5"},
		"an expression for nothing":              {replicas: atWorkers("null"), want: "must be a whole number"},
		"an expression, and nowhere to write":    {replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/scale/replicas", Expression: "1"}, want: "/spec/scale/replicas leads nowhere"},
		"a template made of a number":            {template: &berthv1alpha1.PodTemplateRule{Expression: "object.spec.workers"}, want: "spec.podTemplate: the value of the expression: must be a pod template"},
		"a template with a bad quantity":         {template: &berthv1alpha1.PodTemplateRule{Expression: "{'spec': {'overhead': {'cpu': '1e-2147483647'}}}"}, want: "the quantity"},
		"a template that divides by zero":        {template: &berthv1alpha1.PodTemplateRule{Expression: "{'spec': {'a': 1 / object.spec.zero}}"}, want: "spec.podTemplate: division by zero"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			registry, err := feeds.NewRegistry([]berthv1alpha1.FeedParser{rayRule(tc.replicas, tc.template)}, feeds.BuiltIn())
			if err != nil {
				t.Fatal(err)
			}
			feed, err := registry.Read([]byte(manifestOf("ray.io/v1", "RayCluster", rayCluster)))
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), `RayCluster "web": FeedParser "ray": `) {
				t.Errorf("read as %+v, error %v, want %q", feed, err, tc.want)
			}
		})
	}
}

func TestRulesThatAreWrong(t *testing.T) {
	at := &berthv1alpha1.ReplicasRule{Path: "/spec/replicas"}
	rule := func(replicas *berthv1alpha1.ReplicasRule, template *berthv1alpha1.PodTemplateRule) []berthv1alpha1.FeedParser {
		return []berthv1alpha1.FeedParser{rayRule(replicas, template)}
	}
	tests := map[string]struct {
		rules []berthv1alpha1.FeedParser
		want  string
	}{
		"two for one kind":            {[]berthv1alpha1.FeedParser{ruleFor("a", "x.io", "X", at, nil), ruleFor("b", "x.io", "X", at, nil)}, `FeedParsers "a" and "b" are both for X.x.io`},
		"the same twice":              {[]berthv1alpha1.FeedParser{ruleFor("a", "x.io", "X", at, nil), ruleFor("a", "x.io", "X", at, nil)}, `FeedParsers "a" and "a" are both for X.x.io`},
		"no kind":                     {[]berthv1alpha1.FeedParser{ruleFor("ray", "x.io", "", at, nil)}, "spec.kind: must be a kind"},
		"a kind that is none":         {[]berthv1alpha1.FeedParser{ruleFor("ray", "x.io", "../X", at, nil)}, "spec.kind: must be a kind"},
		"a group with a version":      {[]berthv1alpha1.FeedParser{ruleFor("ray", "x.io/v1", "X", at, nil)}, "spec.group: must be a group"},
		"nothing to read":             {rule(nil, nil), "spec: must have at least one of replicas, podTemplate and components"},
		"no path":                     {rule(&berthv1alpha1.ReplicasRule{}, nil), "spec.replicas.path: "},
		"a path out of the object":    {rule(&berthv1alpha1.ReplicasRule{Path: "/../../etc/passwd"}, nil), "spec.replicas.path: "},
		"a path to the metadata":      {rule(&berthv1alpha1.ReplicasRule{Path: "/metadata/generation"}, nil), "/metadata is not for a workload to set"},
		"a template in the status":    {rule(at, &berthv1alpha1.PodTemplateRule{Path: "/status/template"}), "spec.podTemplate.path: "},
		"two ways to a template":      {rule(at, &berthv1alpha1.PodTemplateRule{Path: "/spec/template", Expression: "object"}), "either path or expression"},
		"no way to a template":        {rule(at, &berthv1alpha1.PodTemplateRule{}), "either path or expression"},
		"a negative default":          {rule(&berthv1alpha1.ReplicasRule{Path: "/spec/a", Default: ptr.To[int32](-1)}, nil), "spec.replicas.default: must not be negative"},
		"a default and an expression": {rule(&berthv1alpha1.ReplicasRule{Path: "/spec/a", Default: ptr.To[int32](1), Expression: "1"}, nil), "must not have a default beside an expression"},
		"an expression that is none":  {rule(&berthv1alpha1.ReplicasRule{Path: "/spec/a", Expression: "object."}, nil), "spec.replicas.expression: "},
		"a template expression too":   {rule(at, &berthv1alpha1.PodTemplateRule{Expression: "nothing"}), "spec.podTemplate.expression: "},
		"a very long expression":      {rule(at, &berthv1alpha1.PodTemplateRule{Expression: strings.Repeat("1+", 5000)}), "at most 4096 characters"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			registry, err := feeds.NewRegistry(tc.rules, feeds.BuiltIn())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("registry %v, error %v, want %q", registry, err, tc.want)
			}
			if !strings.Contains(err.Error(), fmt.Sprintf("%q", tc.rules[0].Name)) {
				t.Errorf("error %v does not name the rule", err)
			}
		})
	}
}

func TestRulesComeBeforeParsers(t *testing.T) {
	rule := ruleFor("mine", "apps", "Deployment", &berthv1alpha1.ReplicasRule{Path: "/spec/size"}, nil)
	registry, err := feeds.NewRegistry([]berthv1alpha1.FeedParser{rule}, feeds.BuiltIn())
	if err != nil {
		t.Fatal(err)
	}
	feed, err := registry.Read([]byte(manifestOf("apps/v1", "Deployment", `{"replicas":3,"size":5}`)))
	if err != nil || feed.Parser != "mine" || *feed.DesiredReplicas != 5 {
		t.Errorf("read as %+v, error %v", feed, err)
	}
	if name := registry.ParserFor(schema.GroupKind{Group: "apps", Kind: "StatefulSet"}).Name(); name != "StatefulSet" {
		t.Errorf("a StatefulSet is read by %q", name)
	}
}

// parser is one that users of the package wrote.
type parser struct {
	name, kind string
	replicas   *int32
	path       string
	err        error
}

func (p parser) Name() string { return p.name }
func (p parser) Kind() string { return p.kind }

func (p parser) Parser([]byte) (*int32, berthv1alpha1.ReplicaRequirements, string, error) {
	return p.replicas, berthv1alpha1.ReplicaRequirements{}, p.path, p.err
}

func TestParsersOfOthers(t *testing.T) {
	mine := schema.GroupKind{Group: "x.io", Kind: "X"}
	tests := map[string]struct {
		parser         feeds.PluginFactory
		wantRegistry   string
		wantRead       string
		wantReplicasOf int32
	}{
		"good":                     {parser: parser{name: "mine", kind: "X", replicas: ptr.To[int32](7), path: "/spec/size"}, wantReplicasOf: 7},
		"none":                     {wantRegistry: "the parser for X.x.io: is nil"},
		"of another kind":          {parser: parser{name: "mine", kind: "Y"}, wantRegistry: `reads objects of kind "Y"`},
		"without a name":           {parser: parser{kind: "X"}, wantRegistry: `must not have the name ""`},
		"with the name of no one":  {parser: parser{name: feeds.Unknown, kind: "X"}, wantRegistry: "must not have the name"},
		"replicas without a path":  {parser: parser{name: "mine", kind: "X", replicas: ptr.To[int32](7)}, wantRead: `X "web": parser "mine" returned a path that cannot be used`},
		"a path out of the object": {parser: parser{name: "mine", kind: "X", path: "/metadata/name"}, wantRead: "a path that cannot be used"},
		"negative replicas":        {parser: parser{name: "mine", kind: "X", replicas: ptr.To[int32](-7), path: "/spec/size"}, wantRead: "returned -7 replicas"},
		"one that fails":           {parser: parser{name: "mine", kind: "X", err: errors.New("no luck")}, wantRead: `X "web": no luck`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			parsers := feeds.BuiltIn()
			parsers[mine] = tc.parser
			registry, err := feeds.NewRegistry(nil, parsers)
			if tc.wantRegistry != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantRegistry) {
					t.Errorf("error %v, want %q", err, tc.wantRegistry)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			feed, err := registry.Read([]byte(manifestOf("x.io/v1", "X", "{}")))
			switch {
			case tc.wantRead != "":
				if err == nil || !strings.Contains(err.Error(), tc.wantRead) {
					t.Errorf("error %v, want %q", err, tc.wantRead)
				}
			case err != nil || *feed.DesiredReplicas != tc.wantReplicasOf:
				t.Errorf("read as %+v, error %v", feed, err)
			}
		})
	}
}

func TestRegistryDoesNotChange(t *testing.T) {
	parsers := feeds.BuiltIn()
	rules := []berthv1alpha1.FeedParser{rayRule(&berthv1alpha1.ReplicasRule{Path: "/spec/workers", Default: ptr.To[int32](1)}, nil)}
	registry, err := feeds.NewRegistry(rules, parsers)
	if err != nil {
		t.Fatal(err)
	}
	clear(parsers)
	rules[0].Spec.Replicas.Path = "/spec/other"
	*rules[0].Spec.Replicas.Default = 9
	feed, err := registry.Read([]byte(manifestOf("ray.io/v1", "RayCluster", `{}`)))
	if err != nil || *feed.DesiredReplicas != 1 || feed.ReplicaJSONPath != "/spec/workers" {
		t.Errorf("read as %+v, error %v", feed, err)
	}
	*feed.DesiredReplicas = 5
	again, err := registry.Read([]byte(manifestOf("ray.io/v1", "RayCluster", `{}`)))
	if err != nil || *again.DesiredReplicas != 1 {
		t.Errorf("read as %+v, error %v", again, err)
	}
	if name := registry.ParserFor(schema.GroupKind{Group: "apps", Kind: "Deployment"}).Name(); name != "Deployment" {
		t.Errorf("a Deployment is read by %q", name)
	}
}

// TestRegistryServesManyAtOnce means something with the race detector.
func TestRegistryServesManyAtOnce(t *testing.T) {
	rule := rayRule(&berthv1alpha1.ReplicasRule{Path: "/spec/workers", Expression: "object.spec.workers"}, &berthv1alpha1.PodTemplateRule{Expression: "object.spec.groups[0].template"})
	registry, err := feeds.NewRegistry([]berthv1alpha1.FeedParser{rule}, feeds.BuiltIn())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				for _, raw := range []string{manifestOf("ray.io/v1", "RayCluster", rayCluster), manifestOf("apps/v1", "Deployment", `{"template":`+halfCore+`}`)} {
					if _, err := registry.Read([]byte(raw)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}
