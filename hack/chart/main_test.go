// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var chart = filepath.Join("..", "..", "manifests", "charts", "berth")

func document(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		t.Fatal(err)
	}
	return node.Content[0]
}

func TestCollect(t *testing.T) {
	for name, tc := range map[string]struct {
		text      string
		want      []value
		wantError string
	}{
		"a value":               {text: "# What\n# it is.\na: 1\n", want: []value{{path: "a", content: "1", comment: "What it is."}}},
		"values of a group":     {text: "g:\n  # What.\n  a: x\n", want: []value{{path: "g.a", content: `"x"`, comment: "What."}}},
		"a map as a value":      {text: "g:\n  # What.\n  a: {b: true}\n", want: []value{{path: "g.a", content: `{"b":true}`, comment: "What."}}},
		"a block as a value":    {text: "# What.\ng:\n  a: {b: 1}\n", want: []value{{path: "g", content: `{"a":{"b":1}}`, comment: "What."}}},
		"a value of no comment": {text: "g:\n  a: 1\n", wantError: "g.a has no comment"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := collect("", document(t, tc.text))
			if tc.wantError == "" && err != nil || tc.wantError != "" && (err == nil || err.Error() != tc.wantError) {
				t.Fatalf("error %v, want %q", err, tc.wantError)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(value{})); diff != "" {
				t.Errorf("the values differ (-want +got):\n%s", diff)
			}
		})
	}
}

// keys returns the paths of the properties of a schema, where a group has no path of its own.
func keys(prefix string, schema, definitions map[string]any) []string {
	if name, ok := schema["$ref"].(string); ok {
		schema, _ = definitions[strings.TrimPrefix(name, "#/definitions/")].(map[string]any)
	}
	properties, _ := schema["properties"].(map[string]any)
	if len(properties) == 0 {
		return []string{strings.TrimPrefix(prefix, ".")}
	}
	var found []string
	for name, property := range properties {
		below, _ := property.(map[string]any)
		found = append(found, keys(prefix+"."+name, below, definitions)...)
	}
	return found
}

// TestTheSchemaHasTheValuesAndNoOthers keeps values.schema.json and values.yaml together.
func TestTheSchemaHasTheValuesAndNoOthers(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	values, err := collect("", document(t, string(content)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	definitions, _ := schema["definitions"].(map[string]any)
	paths := map[string]bool{}
	for _, key := range keys("", schema, definitions) {
		paths[key] = true
	}
	// Helm writes it into the values of every chart.
	delete(paths, "global")
	for _, v := range values {
		known := paths[v.path]
		delete(paths, v.path)
		for path := range paths { // a value that is an object has its fields in the schema
			if strings.HasPrefix(path, v.path+".") {
				known = true
				delete(paths, path)
			}
		}
		if !known {
			t.Errorf("values.schema.json does not know %s", v.path)
		}
	}
	if left := slices.Sorted(maps.Keys(paths)); len(left) > 0 {
		t.Errorf("values.yaml does not have %v", left)
	}
}

func TestObjectsOfTheBase(t *testing.T) {
	object := func(kind, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}, "text": "a {{b}} '[''berth-scheduler'']'",
		}}
	}
	files := map[string]string{}
	for _, o := range []*unstructured.Unstructured{
		object("ServiceAccount", "a"), object("Role", "b"), object("Deployment", "c"),
		object("Namespace", "berth-system"), object("Namespace", "berth-schedulers"),
	} {
		if err := addObject(files, o); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"templates/base/namespaces.yaml", "templates/base/rbac.yaml"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Errorf("the files differ (-want +got):\n%s", diff)
	}
	if strings.Contains(files[want[0]], "name: berth-system") {
		t.Error("the chart makes the namespace that its release is in")
	}
	if got := files[want[1]]; strings.Count(got, "---\n") != 2 || !strings.Contains(got, `a {{ "{{" }}b}}`) {
		t.Errorf("the template is not what renders to the objects:\n%s", got)
	}
	if err := addObject(files, object("Gadget", "d")); err == nil {
		t.Error("an object of a kind that has no place is left out")
	}
}
