// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds"
)

// TestReplicasThatCannotBeRead has rules that do not fit their objects. Nothing of such an object
// counts, and what is wrong is told with the name of the rule.
func TestReplicasThatCannotBeRead(t *testing.T) {
	ships := ruleFor("ships", "example.com", "Fleet", nil, nil)
	ships.Spec.Components = []berthv1alpha1.ComponentRule{{
		Name: "ship", List: &berthv1alpha1.ComponentListRule{Path: "/spec/ships", Name: "/name"},
		Replicas: &berthv1alpha1.ReplicasRule{Path: "/crew"}, PodTemplate: berthv1alpha1.PodTemplateRule{Path: "/pod"},
	}}
	size := ruleFor("sizes", "example.com", "Fleet", &berthv1alpha1.ReplicasRule{Path: "/spec/size"}, nil)
	computed := ruleFor("computed", "example.com", "Fleet", &berthv1alpha1.ReplicasRule{Path: "/spec/size", Expression: "object.spec.size"}, nil)
	tests := map[string]struct {
		rule          berthv1alpha1.FeedParser
		spec, wantErr string
		want          feeds.Wants
	}{
		"a number": {rule: size, spec: "{size: 3}", want: feeds.Wants{Replicas: new(int32(3))}},
		"text": {
			rule: size, spec: "{size: three}",
			wantErr: `FeedParser "sizes": spec.replicas: /spec/size: must be a whole number from 0 to 2147483647, not "three"`,
		},
		"nothing": {rule: size, spec: "{}", wantErr: `FeedParser "sizes": spec.replicas: /spec/size leads nowhere, and the rule has no default`},
		"text of an expression": {
			rule: computed, spec: "{size: three}",
			wantErr: `FeedParser "computed": spec.replicas: the value of the expression must be a whole number from 0 to 2147483647, not "three"`,
		},
		"parts": {rule: ships, spec: "{ships: [{name: a, crew: 2}, {name: a, crew: 3}]}", want: feeds.Wants{Components: map[string]int32{"a": 5}}},
		"a part that is text": {
			rule: ships, spec: "{ships: [{name: a, crew: many}]}",
			wantErr: `FeedParser "ships": spec.components "a": replicas: /crew: must be a whole number from 0 to 2147483647, not "many"`,
		},
		"ten thousand parts": {
			rule: ships, spec: "{ships: [" + strings.Repeat("{name: a, crew: 1},", 10_000) + "]}",
			wantErr: `FeedParser "ships": spec.components "ship": list: /spec/ships: must have at most 256 elements, not 10000`,
		},
		"parts of one name that want more than there can be": {
			rule: ships, spec: "{ships: [{name: a, crew: 2147483647}, {name: a, crew: 1}]}",
			wantErr: `FeedParser "ships": spec.components "a": replicas: parts of one name want more replicas than can be counted`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, read := feeds.ReplicasByRule([]berthv1alpha1.FeedParser{tc.rule}, schema.GroupKind{Group: "example.com", Kind: "Fleet"})
			got, err := read(fleet(t, tc.spec))
			if problem := textOf(err); problem != tc.wantErr {
				t.Errorf("error %q, want %q", problem, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("what it wants differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScaleThatIsText(t *testing.T) {
	read, err := feeds.ReplicasByScale(".spec.size")
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(fleet(t, "{size: three}"))
	want := `specReplicasPath of its scale subresource: /spec/size: must be a whole number from 0 to 2147483647, not "three"`
	if textOf(err) != want || got.Replicas != nil {
		t.Errorf("%+v, error %q, want %q", got, textOf(err), want)
	}
}

func fleet(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte("{apiVersion: example.com/v1, kind: Fleet, metadata: {name: a}, spec: "+spec+"}"), &object); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: object}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
