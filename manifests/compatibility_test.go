// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// The definitions of the last release are in testdata/released, without their descriptions. When a
// release is made, `go test ./manifests -released` writes those of the tree there.
var released = flag.Bool("released", false, "the definitions of the tree are released: keep them in testdata/released")

var directory = filepath.Join("testdata", "released")

// Objects that were stored with the definitions of the last release stay valid with those of the
// tree, and what they say keeps its meaning.
func TestDefinitionsServeWhatTheLastReleaseStored(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("crds", "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no definitions: %v", err)
	}
	now := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, path := range paths {
		crd := definition(t, path)
		now[crd.Name] = crd
		if *released {
			keep(t, crd)
		}
	}
	kept, err := filepath.Glob(filepath.Join(directory, "*.json"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("no release is kept: %v", err)
	}
	for _, path := range kept {
		before := definition(t, path)
		t.Run(before.Spec.Names.Kind, func(t *testing.T) {
			after := now[before.Name]
			if after == nil {
				t.Fatal("the kind is gone")
			}
			c := &comparison{}
			c.compareDefinitions(before, after)
			for _, line := range c.broken {
				t.Error(line)
			}
		})
	}
}

// What breaks stored objects is found.
func TestWhatBreaksStoredObjectsIsFound(t *testing.T) {
	two, three := int64(2), int64(3)
	schema := func(change func(*apiextensionsv1.JSONSchemaProps)) *apiextensionsv1.JSONSchemaProps {
		s := &apiextensionsv1.JSONSchemaProps{
			Type: "object", Required: []string{"name"},
			Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"name": {Type: "string", MaxLength: &three},
				"mode": {Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"A"`)}, {Raw: []byte(`"B"`)}}},
			},
		}
		if change != nil {
			change(s)
		}
		return s
	}
	set := func(name string, change func(*apiextensionsv1.JSONSchemaProps)) func(*apiextensionsv1.JSONSchemaProps) {
		return func(s *apiextensionsv1.JSONSchemaProps) {
			property := s.Properties[name]
			change(&property)
			s.Properties[name] = property
		}
	}
	tests := map[string]struct {
		change func(*apiextensionsv1.JSONSchemaProps)
		want   []string
	}{
		"nothing": {},
		"a field more": {change: func(s *apiextensionsv1.JSONSchemaProps) {
			s.Properties["more"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		}},
		"a value more": {change: set("mode", func(p *apiextensionsv1.JSONSchemaProps) {
			p.Enum = append(p.Enum, apiextensionsv1.JSON{Raw: []byte(`"C"`)})
		})},
		"a field less":    {change: func(s *apiextensionsv1.JSONSchemaProps) { delete(s.Properties, "mode") }, want: []string{".mode is gone"}},
		"another type":    {change: set("mode", func(p *apiextensionsv1.JSONSchemaProps) { p.Type = "integer" }), want: []string{".mode is a integer and was a string"}},
		"a value less":    {change: set("mode", func(p *apiextensionsv1.JSONSchemaProps) { p.Enum = p.Enum[:1] }), want: []string{`.mode may not be "B" any more`}},
		"a shorter text":  {change: set("name", func(p *apiextensionsv1.JSONSchemaProps) { p.MaxLength = &two }), want: []string{".name has a smaller maxLength"}},
		"required":        {change: func(s *apiextensionsv1.JSONSchemaProps) { s.Required = append(s.Required, "mode") }, want: []string{".mode is required now"}},
		"another pattern": {change: set("name", func(p *apiextensionsv1.JSONSchemaProps) { p.Pattern = "^a" }), want: []string{`.name must match "^a" now`}},
		"one rule more": {change: set("name", func(p *apiextensionsv1.JSONSchemaProps) {
			p.XValidations = apiextensionsv1.ValidationRules{{Rule: "self != ''"}}
		}), want: []string{".name has the rule \"self != ''\" now"}},
		"a smaller maximum": {change: set("name", func(p *apiextensionsv1.JSONSchemaProps) { p.MaxItems = &two }), want: []string{".name has a smaller maxItems"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &comparison{}
			c.compare("", schema(nil), schema(tc.change))
			if !slices.Equal(c.broken, tc.want) {
				t.Errorf("found %q, want %q", c.broken, tc.want)
			}
		})
	}
}

func definition(t *testing.T, path string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(content, crd); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return crd
}

// keep writes a definition without its descriptions.
func keep(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	content, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	var fields any
	if err := json.Unmarshal(content, &fields); err != nil {
		t.Fatal(err)
	}
	withoutDescriptions(fields)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(fields); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, crd.Spec.Names.Plural+".json"), out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// withoutDescriptions takes the texts out of what JSON holds; a property that is called description
// is no text.
func withoutDescriptions(value any) {
	switch value := value.(type) {
	case map[string]any:
		if _, isText := value["description"].(string); isText {
			delete(value, "description")
		}
		for _, v := range value {
			withoutDescriptions(v)
		}
	case []any:
		for _, v := range value {
			withoutDescriptions(v)
		}
	}
}

// comparison gathers what of stored objects a new schema breaks.
type comparison struct {
	broken []string
}

func (c *comparison) reportf(format string, args ...any) {
	c.broken = append(c.broken, fmt.Sprintf(format, args...))
}

func (c *comparison) compareDefinitions(before, after *apiextensionsv1.CustomResourceDefinition) {
	if before.Spec.Scope != after.Spec.Scope || before.Spec.Names.Plural != after.Spec.Names.Plural || before.Spec.Names.Kind != after.Spec.Names.Kind {
		c.reportf("scope or names have changed: %v", after.Spec.Names)
	}
	for i := range before.Spec.Versions {
		old := &before.Spec.Versions[i]
		at := slices.IndexFunc(after.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == old.Name })
		if at < 0 || old.Served && !after.Spec.Versions[at].Served {
			c.reportf("version %s is not served any more", old.Name)
			continue
		}
		c.compare("", old.Schema.OpenAPIV3Schema, after.Spec.Versions[at].Schema.OpenAPIV3Schema)
	}
}

// numbers is why the rules about replicas of an entry break nothing.
const numbers = "stored entries have a weight, and none has replicas"

// draining is why the rule about drain breaks nothing.
const draining = "nothing that is stored has drain"

// places is why the rule about $( breaks nothing.
const places = "a query with $( had no meaning for the providers that there are"

// groups is why the rules about groups of clusters break nothing.
const groups = "stored policies have weights, and none has groups"

// releases is why the rules about feeds break nothing.
const releases = "stored feeds have all three fields, each feed once, and none has a release"

// scaling is why the rule about the scaling mode breaks nothing.
const scaling = "no stored policy has scaling"

// tightened are the rules that were added knowingly, by path and rule, each with the reason why
// they hold for all that is stored.
var tightened = map[string]string{
	".spec !has(self.drain) || !self.drain || has(self.unschedulable) && self.unschedulable":                      draining,
	`.spec.provider.metric self.matches('^([^$]|[$]+[^($]|[$]+[(](cluster|labels[.][-A-Za-z0-9_./]+)[)])*[$]*$')`: places,
	".spec !has(self.scaling) || !has(self.scaling.mode) || self.scaling.mode != 'FollowClusters' || has(self.placement.clusterGroups) && self.placement.clusterGroups.exists(g, has(g.replicasPerCluster)) && self.placement.clusterGroups.all(g, has(g.replicas) || has(g.replicasPerCluster) || has(g.tier) && g.tier > 0)": scaling,
	".spec.placement has(self.staticWeightList) || has(self.clusterGroups)":                              groups,
	".spec.placement !has(self.staticWeightList) || !has(self.clusterGroups)":                            groups,
	".spec.placement.staticWeightList[] has(self.weight) || has(self.replicas)":                          numbers,
	".spec.placement.staticWeightList[] !has(self.replicas) || !has(self.weight)":                        numbers,
	".spec.placement.staticWeightList[] !has(self.replicas) || !has(self.min) && !has(self.max)":         numbers,
	".spec.feeds[] has(self.apiVersion) || has(self.helmRelease)":                                        releases,
	".spec.feeds[] has(self.kind) || has(self.helmRelease)":                                              releases,
	".spec.feeds[] has(self.name) || has(self.helmRelease)":                                              releases,
	".spec.feeds self.all(f, !has(f.helmRelease) || !has(f.apiVersion) && !has(f.kind) && !has(f.name))": releases,
	".spec.feeds " +
		"self.all(f, !has(f.name) || !has(f.kind) || !has(f.apiVersion) || self.exists_one(g, has(g.name) && g.name == f.name && has(g.kind) && g.kind == f.kind && has(g.apiVersion) && g.apiVersion == f.apiVersion && g.__namespace__ == f.__namespace__))": releases,
}

// compare compares what a schema said of a field with what it says now.
func (c *comparison) compare(path string, before, after *apiextensionsv1.JSONSchemaProps) {
	if before == nil || after == nil || strings.HasPrefix(path, ".status") {
		return // Berth writes the status itself, and writes it anew.
	}
	if before.Type != after.Type && !after.XIntOrString {
		c.reportf("%s is a %s and was a %s", path, after.Type, before.Type)
		return
	}
	c.compareLimits(path, before, after)
	for _, name := range after.Required {
		if !slices.Contains(before.Required, name) {
			if added := after.Properties[name]; added.Default == nil {
				c.reportf("%s.%s is required now", path, name)
			}
		}
	}
	c.compareParts(path, before, after)
}

// compareParts compares the fields of an object and what lists and maps hold.
func (c *comparison) compareParts(path string, before, after *apiextensionsv1.JSONSchemaProps) {
	for name, old := range before.Properties {
		if now, stays := after.Properties[name]; stays {
			c.compare(path+"."+name, &old, &now)
		} else if after.XPreserveUnknownFields == nil {
			c.reportf("%s.%s is gone", path, name)
		}
	}
	if before.Items != nil && after.Items != nil {
		c.compare(path+"[]", before.Items.Schema, after.Items.Schema)
	}
	if before.AdditionalProperties != nil && after.AdditionalProperties != nil {
		c.compare(path+"{}", before.AdditionalProperties.Schema, after.AdditionalProperties.Schema)
	}
}

// compareLimits compares what the values of a field may be.
func (c *comparison) compareLimits(path string, before, after *apiextensionsv1.JSONSchemaProps) {
	for _, value := range before.Enum {
		same := func(v apiextensionsv1.JSON) bool { return bytes.Equal(v.Raw, value.Raw) }
		if len(after.Enum) > 0 && !slices.ContainsFunc(after.Enum, same) {
			c.reportf("%s may not be %s any more", path, value.Raw)
		}
	}
	if after.Pattern != "" && after.Pattern != before.Pattern {
		c.reportf("%s must match %q now", path, after.Pattern)
	}
	for name, limits := range map[string][2]*int64{
		"maxLength": {before.MaxLength, after.MaxLength}, "maxItems": {before.MaxItems, after.MaxItems},
		"maxProperties": {before.MaxProperties, after.MaxProperties},
	} {
		if was, is := limits[0], limits[1]; is != nil && (was == nil || *is < *was) {
			c.reportf("%s has a smaller %s", path, name)
		}
	}
	c.compareRules(path, before, after)
}

func (c *comparison) compareRules(path string, before, after *apiextensionsv1.JSONSchemaProps) {
	for _, rule := range after.XValidations {
		known := slices.ContainsFunc(before.XValidations, func(r apiextensionsv1.ValidationRule) bool { return r.Rule == rule.Rule })
		if !known && tightened[path+" "+rule.Rule] == "" {
			c.reportf("%s has the rule %q now", path, rule.Rule)
		}
	}
}
