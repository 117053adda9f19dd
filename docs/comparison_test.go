// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// peers returns what the kinds of other projects that the comparison shows allow in their spec,
// from testdata/peers: the names of fields and what they hold.
func peers(t *testing.T) map[schema.GroupVersionKind]map[string]any {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "peers", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions of other projects: %v", err)
	}
	found := map[schema.GroupVersionKind]map[string]any{}
	for _, file := range files {
		var definition struct {
			metav1.TypeMeta `json:",inline"`
			Spec            map[string]any `json:"spec"`
		}
		if err := yaml.UnmarshalStrict([]byte(content(t, file)), &definition); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		found[definition.GroupVersionKind()] = definition.Spec
	}
	return found
}

// known are types of Kubernetes that kinds of others use.
var known = map[string]func() any{
	"deployment-spec":    func() any { return &appsv1.DeploymentSpec{} },
	"label-selector":     func() any { return &metav1.LabelSelector{} },
	"node-selector-term": func() any { return &corev1.NodeSelectorTerm{} },
	"pod-template":       func() any { return &corev1.PodTemplateSpec{} },
}

// mistakes returns what a value says that its definition does not allow.
func mistakes(path string, allowed, value any) []string {
	switch a := allowed.(type) {
	case map[string]any:
		return ofFields(path, a, value)
	case []any:
		list, isList := value.([]any)
		if !isList {
			return []string{path + " is no list"}
		}
		var found []string
		for _, item := range list {
			found = append(found, mistakes(path+"[]", a[0], item)...)
		}
		return found
	case string:
		if !holds(a, value) {
			return []string{fmt.Sprintf("%s is %v, and must be %s", path, value, a)}
		}
	}
	return nil
}

func ofFields(path string, allowed map[string]any, value any) []string {
	fields, isObject := value.(map[string]any)
	if !isObject {
		return []string{path + " is no object"}
	}
	var found []string
	for name, field := range fields {
		if _, exists := allowed[name]; !exists {
			found = append(found, path+" has no field "+name)
			continue
		}
		found = append(found, mistakes(path+"."+name, allowed[name], field)...)
	}
	return found
}

// holds reports whether a value is of a kind: a type, one of several texts, or anything.
func holds(kind string, value any) bool {
	number, isNumber := value.(float64)
	_, isText := value.(string)
	isInteger := isNumber && number == math.Trunc(number)
	switch kind {
	case "any":
		return true
	case "string":
		return isText
	case "integer":
		return isInteger
	case "integer-or-string":
		return isText || isInteger
	}
	if newType := known[kind]; newType != nil {
		text, err := yaml.Marshal(value)
		return err == nil && yaml.UnmarshalStrict(text, newType()) == nil
	}
	return isText && slices.Contains(strings.Split(kind, "|"), value.(string))
}

func TestMistakesInExamplesOfOthersAreFound(t *testing.T) {
	allowed := map[string]any{
		"count": "integer", "mode": "hard|soft", "list": []any{map[string]any{"name": "string"}}, "selector": "label-selector",
	}
	for text, want := range map[string]string{
		`{count: 3, mode: hard, list: [{name: a}], selector: {matchLabels: {a: b}}}`: "",
		`{m: 3}`:                         " has no field m",
		`{count: three}`:                 ".count is three, and must be integer",
		`{mode: firm}`:                   ".mode is firm, and must be hard|soft",
		`{list: [{name: a}, {nome: b}]}`: ".list[] has no field nome",
		`{list: {name: a}}`:              ".list is no list",
		`{selector: {labels: {a: b}}}`:   ".selector is map[labels:map[a:b]], and must be label-selector",
	} {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(mistakes("", allowed, value), "; "); got != want {
			t.Errorf("%s: found %q, want %q", text, got, want)
		}
	}
}

// examplesIn returns the YAML documents of the code blocks of a page.
func examplesIn(t *testing.T, page string) []string {
	t.Helper()
	var found []string
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(content(t, page), -1) {
		found = append(found, strings.Split(block[1], "---\n")...)
	}
	return found
}

func TestExamplesOfTheComparisonCanBeApplied(t *testing.T) {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(berthv1alpha1.AddToScheme(scheme))
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	others := peers(t)
	for _, page := range []string{filepath.Join("concepts", "comparison.md"), filepath.Join(root, "README.md")} {
		documents := examplesIn(t, page)
		if len(documents) == 0 {
			t.Errorf("%s has no examples", page)
		}
		for _, document := range documents {
			var object metav1.PartialObjectMetadata
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Errorf("%s: %v in\n%s", page, err, document)
				continue
			}
			kind := object.GroupVersionKind()
			if allowed, foreign := others[kind]; foreign {
				var whole struct {
					Spec any `json:"spec"`
				}
				if err := yaml.Unmarshal([]byte(document), &whole); err != nil {
					t.Errorf("%s: %s: %v", page, kind, err)
				}
				for _, mistake := range mistakes("spec", allowed, whole.Spec) {
					t.Errorf("%s: %s %s: %s", page, kind, object.Name, mistake)
				}
				continue
			}
			if _, _, err := decoder.Decode([]byte(document), nil, nil); err != nil {
				t.Errorf("%s: %s %s: %v", page, kind, object.Name, err)
			}
		}
	}
}
