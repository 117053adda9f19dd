// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds"
)

var cloneSetKind = schema.GroupKind{Group: "apps.kruise.io", Kind: "CloneSet"}

func scaleRegistry(t *testing.T, path string) *feeds.Registry {
	t.Helper()
	parser, err := feeds.NewScaleParser("CloneSet", path)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := feeds.NewRegistry(nil, feeds.BuiltIn())
	if err == nil {
		registry, err = registry.WithFallback(map[schema.GroupKind]feeds.PluginFactory{cloneSetKind: parser})
	}
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

func TestScaleParser(t *testing.T) {
	tests := map[string]struct {
		path, spec   string
		wantParser   string
		wantReplicas *int32
		wantPath     string
	}{
		"a template where it is expected": {
			".spec.replicas", `{"replicas":3,"template":` + halfCore + `}`, feeds.ScaleParser, ptr.To[int32](3), "/spec/replicas",
		},
		"a template in a list, and a number elsewhere": {
			".spec.server.count", `{"server":{"count":2,"sets":[{"pod":` + halfCore + `}]}}`, feeds.ScaleParser, ptr.To[int32](2), "/spec/server/count",
		},
		"no number":                             {".spec.replicas", `{"template":` + halfCore + `}`, feeds.ScaleParser, ptr.To[int32](1), "/spec/replicas"},
		"0 replicas":                            {".spec.replicas", `{"replicas":0,"template":` + halfCore + `}`, feeds.ScaleParser, ptr.To[int32](0), "/spec/replicas"},
		"several templates are copied whole":    {".spec.replicas", `{"replicas":3,"head":` + halfCore + `,"worker":` + halfCore + `}`, feeds.Unknown, nil, ""},
		"no template is copied whole":           {".spec.replicas", `{"replicas":3,"template":{"spec":{"image":"x"}}}`, feeds.Unknown, nil, ""},
		"containers without names are no pod's": {".spec.replicas", `{"replicas":3,"template":{"spec":{"containers":[{"image":"x"}]}}}`, feeds.Unknown, nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			feed, err := scaleRegistry(t, tc.path).Read([]byte(manifestOf("apps.kruise.io/v1", "CloneSet", tc.spec)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.wantReplicas, feed.DesiredReplicas); diff != "" {
				t.Errorf("replicas differ (-want +got):\n%s", diff)
			}
			if feed.Parser != tc.wantParser || feed.ReplicaJSONPath != tc.wantPath {
				t.Errorf("read by %q, path %q", feed.Parser, feed.ReplicaJSONPath)
			}
			want := amounts{}
			if tc.wantReplicas != nil {
				want["cpu"] = "500m"
			}
			checkAmounts(t, "requests", want, feed.ReplicaRequirements.Resources.Requests)
		})
	}
}

func TestScaleParserRefuses(t *testing.T) {
	for name, path := range map[string]string{
		"nothing": "", "no dot": "spec.replicas", "out of the object": ".metadata.generation", "the status": ".status.replicas",
		"a list": ".spec.sets[0].replicas", "a quoted name": ".spec['a']", "a gap": ".spec..replicas",
	} {
		if parser, err := feeds.NewScaleParser("X", path); err == nil {
			t.Errorf("%s: parser %v", name, parser)
		}
	}
	for name, spec := range map[string]string{
		"a negative number": `{"replicas":-1,"template":` + halfCore + `}`,
		"a huge number":     `{"replicas":99999999999,"template":` + halfCore + `}`,
	} {
		if feed, err := scaleRegistry(t, ".spec.replicas").Read([]byte(manifestOf("apps.kruise.io/v1", "CloneSet", spec))); err == nil ||
			!strings.Contains(err.Error(), "/spec/replicas") {
			t.Errorf("%s: feed %+v, error %v", name, feed, err)
		}
	}
}

func TestScaleOf(t *testing.T) {
	const definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}, spec: ` +
		`{group: apps.kruise.io, names: {kind: CloneSet}, versions: [{served: false, subresources: {scale: {specReplicasPath: .spec.old}}}, ` +
		`{served: true, subresources: {scale: {specReplicasPath: .spec.replicas}}}]}}`
	tests := map[string]struct {
		text     string
		wantKind schema.GroupKind
		wantNone bool
	}{
		"a definition with a scale":    {text: definition, wantKind: cloneSetKind},
		"a definition without a scale": {strings.ReplaceAll(definition, "scale:", "status:"), cloneSetKind, true},
		"another kind":                 {strings.ReplaceAll(definition, "CustomResourceDefinition", "Other"), schema.GroupKind{}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kind, parser, err := feeds.ScaleOf([]byte(tc.text))
			if err != nil || kind != tc.wantKind || (parser == nil) != tc.wantNone {
				t.Errorf("kind %v, parser %v, error %v", kind, parser, err)
			}
		})
	}
}

func componentRule(name, at string, replicas *berthv1alpha1.ReplicasRule) berthv1alpha1.ComponentRule {
	return berthv1alpha1.ComponentRule{Name: name, Replicas: replicas, PodTemplate: berthv1alpha1.PodTemplateRule{Path: at}}
}

func rayComponents(components ...berthv1alpha1.ComponentRule) berthv1alpha1.FeedParser {
	rule := ruleFor("ray", "ray.io", "RayCluster", nil, nil)
	rule.Spec.Components = components
	return rule
}

func TestComponents(t *testing.T) {
	rule := rayComponents(
		componentRule("head", "/spec/head/template", nil),
		componentRule("worker", "/spec/workers/0/template", &berthv1alpha1.ReplicasRule{Path: "/spec/workers/0/replicas"}),
		componentRule("spot", "/spec/workers/1/template", &berthv1alpha1.ReplicasRule{Path: "/spec/workers/1/replicas"}),
	)
	registry, err := feeds.NewRegistry([]berthv1alpha1.FeedParser{rule}, nil)
	if err != nil {
		t.Fatal(err)
	}
	feed, err := registry.Read([]byte(manifestOf("ray.io/v1", "RayCluster",
		`{"head":{"template":`+halfCore+`},"workers":[{"replicas":4,"template":`+halfCore+`}]}`)))
	if err != nil {
		t.Fatal(err)
	}
	if feed.DesiredReplicas != nil || feed.ReplicaJSONPath != "" || feed.Parser != "ray" {
		t.Errorf("as a whole the object wants %+v", feed)
	}
	type summary struct {
		Name, Path string
		Replicas   *int32
	}
	got := []summary{}
	for _, c := range feed.Components {
		got = append(got, summary{c.Name, c.ReplicaJSONPath, c.DesiredReplicas})
		checkAmounts(t, "requests of "+c.Name, amounts{"cpu": "500m"}, c.ReplicaRequirements.Resources.Requests)
	}
	want := []summary{{Name: "head"}, {"worker", "/spec/workers/0/replicas", ptr.To[int32](4)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("components differ (-want +got):\n%s", diff)
	}
	if feed, err := registry.Read([]byte(manifestOf("ray.io/v1", "RayCluster", `{"workers":[{"template":`+halfCore+`}]}`))); err == nil ||
		!strings.Contains(err.Error(), `FeedParser "ray": spec.components "worker": replicas: /spec/workers/0/replicas leads nowhere`) {
		t.Errorf("a component without its number: feed %+v, error %v", feed, err)
	}
}

func TestComponentsThatAreWrong(t *testing.T) {
	at := &berthv1alpha1.ReplicasRule{Path: "/spec/replicas"}
	head := componentRule("head", "/spec/head", nil)
	beside := rayComponents(head)
	beside.Spec.Replicas = at
	tests := map[string]struct {
		rule berthv1alpha1.FeedParser
		want string
	}{
		"beside replicas":      {beside, "must not have components beside replicas"},
		"a name that is none":  {rayComponents(componentRule("Head!", "/spec/head", nil)), "spec.components[0].name"},
		"the same name twice":  {rayComponents(head, head), `spec.components[1].name: "head" is there twice`},
		"a path that is wrong": {rayComponents(head, componentRule("b", "spec", nil)), "spec.components[1].podTemplate.path"},
		"a bad number":         {rayComponents(componentRule("b", "/spec/b", &berthv1alpha1.ReplicasRule{Path: "x"})), "spec.components[0].replicas.path"},
		"too many":             {rayComponents(make([]berthv1alpha1.ComponentRule, 17)...), "at most 16 entries"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := feeds.NewRegistry([]berthv1alpha1.FeedParser{tc.rule}, nil); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAccept(t *testing.T) {
	at := &berthv1alpha1.ReplicasRule{Path: "/spec/replicas"}
	aged := func(name, kind string, age time.Duration, replicas *berthv1alpha1.ReplicasRule) berthv1alpha1.FeedParser {
		rule := ruleFor(name, "x.io", kind, replicas, nil)
		rule.CreationTimestamp = metav1.NewTime(time.Unix(1_000_000, 0).Add(-age))
		return rule
	}
	accepted, refused := feeds.Accept([]berthv1alpha1.FeedParser{
		aged("young", "X", time.Hour, at), aged("old", "X", 2*time.Hour, at), aged("as-old", "X", 2*time.Hour, at),
		aged("other", "Y", 0, at), aged("oldest-but-wrong", "X", 3*time.Hour, &berthv1alpha1.ReplicasRule{Path: "x"}),
	})
	var names []string
	for _, rule := range accepted {
		names = append(names, rule.Name)
	}
	if diff := cmp.Diff([]string{"as-old", "other"}, names); diff != "" {
		t.Errorf("accepted differ (-want +got):\n%s", diff)
	}
	for name, wantShadowed := range map[string]bool{"young": true, "old": true, "oldest-but-wrong": false} {
		if err := refused[name]; err == nil || errors.Is(err, feeds.ErrShadowed) != wantShadowed {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := feeds.NewRegistry(accepted, feeds.BuiltIn()); err != nil {
		t.Errorf("what is accepted does not go together: %v", err)
	}
}

func FuzzScaleParser(f *testing.F) {
	parser, err := feeds.NewScaleParser("X", ".spec.replicas")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(manifestOf("v1", "X", `{"replicas":3,"a":[{"b":`+halfCore+`}]}`)))
	fuzzParsers(f, parser)
}
