// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds"
)

// pinned is the folder of the definitions of kinds of operators.
const pinned = "../../manifests/testdata/crds"

// podOf is a pod template that asks for so much cpu.
func podOf(cpu string) string {
	return fmt.Sprintf("{spec: {containers: [{name: main, image: nginx, resources: {requests: {cpu: %q}}}]}}", cpu)
}

// servedDefinition is a definition made ready to check objects, as the API server does.
type servedDefinition struct {
	*apiextensionsv1.CustomResourceDefinition

	structural *structuralschema.Structural
	validator  validation.SchemaValidator
}

// definitionOf returns the definition of a kind.
func definitionOf(t *testing.T, plural string) *servedDefinition {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(pinned, plural+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d := &servedDefinition{CustomResourceDefinition: &apiextensionsv1.CustomResourceDefinition{}}
	if err := yaml.UnmarshalStrict(raw, d.CustomResourceDefinition); err != nil {
		t.Fatal(err)
	}
	internal := &apiextensions.JSONSchemaProps{}
	err = apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		d.Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.structural, err = structuralschema.NewStructural(internal); err != nil {
		t.Fatal(err)
	}
	if d.validator, _, err = validation.NewSchemaValidator(internal); err != nil {
		t.Fatal(err)
	}
	return d
}

// stored returns an object as the API server stores it. It fails the test if a field is unknown or
// has a wrong value.
func (d *servedDefinition) stored(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	object := map[string]any{}
	text := fmt.Sprintf("{apiVersion: %s/%s, kind: %s, metadata: {namespace: ns, name: a}, spec: %s}",
		d.Spec.Group, d.Spec.Versions[0].Name, d.Spec.Names.Kind, spec)
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	if unknown := pruning.PruneWithOptions(object, d.structural, true, options); len(unknown) > 0 {
		t.Fatalf("the definition does not know %v", unknown)
	}
	defaulting.Default(object, d.structural)
	if errs := validation.ValidateCustomResource(nil, object, d.validator); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	return &unstructured.Unstructured{Object: object}
}

// TestLibrary reads objects that the definitions of the operators accept.
func TestLibrary(t *testing.T) {
	ray := `{headGroupSpec: {template: ` + podOf("1") + `}, workerGroupSpecs: [
		{groupName: small, replicas: 5, minReplicas: 1, maxReplicas: 9, template: ` + podOf("500m") + `},
		{groupName: Hosts, replicas: 2, numOfHosts: 3, minReplicas: 0, maxReplicas: 9, template: ` + podOf("2") + `},
		{groupName: few, minReplicas: 2, maxReplicas: 9, template: ` + podOf("2") + `},
		{groupName: many, replicas: 7, minReplicas: 0, maxReplicas: 4, template: ` + podOf("2") + `},
		{groupName: "off", suspend: true, replicas: 7, minReplicas: 0, maxReplicas: 9, template: ` + podOf("2") + `}]}`
	rayComponents := func(within string) []string {
		at := func(i int) string { return fmt.Sprintf("%s/workerGroupSpecs/%d/replicas", within, i) }
		return []string{
			"headgroup 1 of 1 at ", "small 5 of 500m at " + at(0), "workergroup-1 6 of 2 at " + at(1), "few 2 of 2 at " + at(2),
			"many 4 of 2 at " + at(3), "off 0 of 2 at " + at(4),
		}
	}
	rayWants := map[string]int32{"headgroup": 1, "small": 5, "Hosts": 6, "few": 2, "many": 4, "off": 0}
	one, seven := int32(1), int32(7)
	tests := map[string]struct {
		plural, spec   string
		want           feeds.Wants
		wantCPU        string
		wantComponents []string
	}{
		"Rollout": {
			plural: "rollouts", spec: `{replicas: 7, template: ` + podOf("1") + `, strategy: {canary: {steps: [{setWeight: 20}]}}}`,
			want: feeds.Wants{Replicas: &seven}, wantCPU: "1",
		},
		"Rollout without a number": {plural: "rollouts", spec: `{template: ` + podOf("1") + `}`, want: feeds.Wants{Replicas: &one}, wantCPU: "1"},
		"Rollout of a Deployment": {
			plural: "rollouts", spec: `{replicas: 7, workloadRef: {apiVersion: apps/v1, kind: Deployment, name: a}}`,
			want: feeds.Wants{Replicas: &seven}, wantCPU: "0",
		},
		"CloneSet":                  {plural: "clonesets", spec: `{replicas: 7, selector: {}, template: ` + podOf("1") + `}`, want: feeds.Wants{Replicas: &seven}, wantCPU: "1"},
		"CloneSet without a number": {plural: "clonesets", spec: `{selector: {}, template: ` + podOf("1") + `}`, want: feeds.Wants{Replicas: &one}, wantCPU: "1"},
		"JobSet": {
			plural: "jobsets", spec: `{replicatedJobs: [
				{name: driver, template: {spec: {template: ` + podOf("1") + `}}},
				{name: workers, replicas: 2, template: {spec: {parallelism: 4, completions: 4, template: ` + podOf("2") + `}}}]}`,
			want: feeds.Wants{Components: map[string]int32{"driver": 1, "workers": 8}}, wantCPU: "0",
			wantComponents: []string{"driver 1 of 1 at /spec/replicatedJobs/0/replicas", "workers 8 of 2 at /spec/replicatedJobs/1/replicas"},
		},
		"LeaderWorkerSet": {
			plural: "leaderworkersets", spec: `{replicas: 7, leaderWorkerTemplate: {size: 3, workerTemplate: ` + podOf("2") + `, leaderTemplate: ` + podOf("1") + `}}`,
			want: feeds.Wants{Components: map[string]int32{"leader": 7, "worker": 14}}, wantCPU: "0",
			wantComponents: []string{"leader 7 of 1 at /spec/replicas", "worker 14 of 2 at /spec/replicas"},
		},
		"LeaderWorkerSet of workers": {
			plural: "leaderworkersets", spec: `{leaderWorkerTemplate: {workerTemplate: ` + podOf("2") + `}}`,
			want: feeds.Wants{Components: map[string]int32{"leader": 1, "worker": 0}}, wantCPU: "0",
			wantComponents: []string{"leader 1 of 2 at /spec/replicas", "worker 0 of 2 at /spec/replicas"},
		},
		"RayCluster": {
			plural: "rayclusters", spec: ray, want: feeds.Wants{Components: rayWants}, wantCPU: "0", wantComponents: rayComponents("/spec"),
		},
		"RayCluster without workers": {
			plural: "rayclusters", spec: `{headGroupSpec: {template: ` + podOf("1") + `}}`, wantCPU: "0",
			want: feeds.Wants{Components: map[string]int32{"headgroup": 1}}, wantComponents: []string{"headgroup 1 of 1 at "},
		},
		"RayJob": {
			plural: "rayjobs", spec: `{entrypoint: python a.py, rayClusterSpec: ` + ray + `}`,
			want: feeds.Wants{Components: rayWants}, wantCPU: "0", wantComponents: rayComponents("/spec/rayClusterSpec"),
		},
	}
	rules, err := feeds.LoadFeedParsers(os.DirFS("../../manifests/parsers"))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := feeds.NewRegistry(rules, feeds.BuiltIn())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			definition := definitionOf(t, tc.plural)
			object := definition.stored(t, tc.spec)
			_, read := feeds.ReplicasByRule(nil, schema.GroupKind{Group: definition.Spec.Group, Kind: definition.Spec.Names.Kind})
			if read == nil {
				t.Fatal("no rule of the library reads the kind")
			}
			got, err := read(object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("what it wants differs (-want +got):\n%s", diff)
			}
			raw, err := object.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			feed, err := registry.Read(raw)
			if err != nil {
				t.Fatal(err)
			}
			if feed.ReplicaRequirements.Resources.Requests.Cpu().String() != tc.wantCPU {
				t.Errorf("a replica asks for %v, want %s", feed.ReplicaRequirements.Resources.Requests, tc.wantCPU)
			}
			if diff := cmp.Diff(tc.wantComponents, shown(feed.Components)); diff != "" {
				t.Errorf("parts differ (-want +got):\n%s", diff)
			}
		})
	}
}

// shown writes down the parts of an object.
func shown(components []berthv1alpha1.FeedComponent) []string {
	var list []string
	for i := range components {
		c, replicas := &components[i], int32(1)
		if c.DesiredReplicas != nil {
			replicas = *c.DesiredReplicas
		}
		list = append(list, fmt.Sprintf("%s %d of %s at %s",
			c.Name, replicas, c.ReplicaRequirements.Resources.Requests.Cpu(), c.ReplicaJSONPath))
	}
	return list
}

// TestLibraryReadsWhatScaleSays compares the rules with the scale subresources of the definitions.
func TestLibraryReadsWhatScaleSays(t *testing.T) {
	for plural, spec := range map[string]string{
		"rollouts": "{replicas: 7, template: " + podOf("1") + "}", "clonesets": "{replicas: 7, selector: {}, template: " + podOf("1") + "}",
		"leaderworkersets": "{replicas: 7, leaderWorkerTemplate: {workerTemplate: " + podOf("1") + "}}",
	} {
		t.Run(plural, func(t *testing.T) {
			definition := definitionOf(t, plural)
			scale := definition.Spec.Versions[0].Subresources.Scale
			if scale == nil {
				t.Fatal("the kind has no scale subresource any more")
			}
			byScale, err := feeds.ReplicasByScale(scale.SpecReplicasPath)
			if err != nil {
				t.Fatal(err)
			}
			object := definition.stored(t, spec)
			_, byRule := feeds.ReplicasByRule(nil, schema.GroupKind{Group: definition.Spec.Group, Kind: definition.Spec.Names.Kind})
			want, err := byScale(object)
			if err != nil {
				t.Fatal(err)
			}
			got, err := byRule(object)
			if err != nil {
				t.Fatal(err)
			}
			if read := got.Components["leader"]; ptr.Deref(got.Replicas, read) != *want.Replicas {
				t.Errorf("the rule reads %+v, the scale subresource %d", got, *want.Replicas)
			}
		})
	}
}

// TestLists has objects with lists of parts that are not as they should be.
func TestLists(t *testing.T) {
	rule := berthv1alpha1.FeedParser{Spec: berthv1alpha1.FeedParserSpec{Group: "example.com", Kind: "Fleet", Components: []berthv1alpha1.ComponentRule{{
		Name: "ship", List: &berthv1alpha1.ComponentListRule{Path: "/spec/ships", Name: "/name"},
		Replicas: &berthv1alpha1.ReplicasRule{Path: "/crew"}, PodTemplate: berthv1alpha1.PodTemplateRule{Path: "/pod"},
	}}}}
	rule.Name = "fleets"
	registry, err := feeds.NewRegistry([]berthv1alpha1.FeedParser{rule}, nil)
	if err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat("{name: a, crew: 1},", 10_000)
	tests := map[string]struct {
		ships, wantErr string
		want           []string
	}{
		"none":            {ships: "null"},
		"two of one name": {ships: "[{name: a, crew: 1, pod: {}}, {name: a, crew: 2, pod: {}}]", want: []string{"a 1 of 0 at /spec/ships/0/crew", "ship-1 2 of 0 at /spec/ships/1/crew"}},
		"text":            {ships: "text", wantErr: `Fleet "a": FeedParser "fleets": spec.components "ship": list: /spec/ships: must be a list`},
		"a list of text":  {ships: "[text]", wantErr: `Fleet "a": FeedParser "fleets": spec.components "ship": list: /spec/ships/0: must be a map`},
		"no name":         {ships: "[{}]", wantErr: `Fleet "a": FeedParser "fleets": spec.components "ship": list: /spec/ships/0/name: must be a name`},
		"no number": {
			ships:   "[{name: a, pod: {}}]",
			wantErr: `Fleet "a": FeedParser "fleets": spec.components "a": replicas: /crew leads nowhere, and the rule has no default`,
		},
		"ten thousand": {
			ships:   "[" + many + "]",
			wantErr: `Fleet "a": FeedParser "fleets": spec.components "ship": list: /spec/ships: must have at most 256 elements, not 10000`,
		},
		"more than are told": {
			ships:   "[" + many[:17*len("{name: a, crew: 1},")] + "]",
			wantErr: `Fleet "a": FeedParser "fleets": spec.components: the object has 17 parts, and at most 16 are read`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			feed, err := registry.Read([]byte("{apiVersion: example.com/v1, kind: Fleet, metadata: {name: a}, spec: {ships: " + tc.ships + "}}"))
			if tc.wantErr != "" {
				if err == nil || err.Error() != tc.wantErr {
					t.Errorf("error %v, want %s", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, shown(feed.Components)); diff != "" {
				t.Errorf("parts differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDisputed(t *testing.T) {
	rule := func(name, kind, path string) berthv1alpha1.FeedParser {
		return ruleFor(name, "example.com", kind, &berthv1alpha1.ReplicasRule{Path: path}, nil)
	}
	got := feeds.Disputed([]berthv1alpha1.FeedParser{
		rule("c", "Ring", "/spec/a"), rule("b", "Ring", "/spec/b"), rule("a", "Ring", "/spec/a"), rule("d", "Ring", "wrong"),
		rule("e", "Fleet", "/spec/a"), rule("f", "Fleet", "/spec/a"),
	})
	want := map[string][]string{"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("disputes differ (-want +got):\n%s", diff)
	}
}
