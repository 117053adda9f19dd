// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package draw draws objects that the schema of a definition allows: every field, with values that
// its types, patterns and bounds let pass. What rules between fields forbid is for the API server
// to refuse.
package draw

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"pgregory.net/rapid"
)

// Source draws values. It is not safe for concurrent use.
type Source struct {
	// Rng decides everything.
	Rng *rand.Rand
	// Names are those of objects that there are, so that what is drawn is about something.
	Names []string
	// LeaveOut are the names of fields that are not set.
	LeaveOut []string
	// Often is how probable it is that an optional field is set, from 0 to 1.
	Often float64
}

// deepest bounds how far objects are nested.
const deepest = 12

// Value draws a value of a field.
func (s *Source) Value(field string, schema *structuralschema.Structural) any {
	return s.value(field, schema, 0)
}

func (s *Source) value(field string, schema *structuralschema.Structural, depth int) any {
	limits := schema.ValueValidation
	if limits == nil {
		limits = &structuralschema.ValueValidation{}
	}
	if len(limits.Enum) > 0 {
		return limits.Enum[s.Rng.IntN(len(limits.Enum))].Object
	}
	switch {
	case schema.XIntOrString:
		if s.Rng.IntN(2) == 0 && limits.Pattern == "" {
			return s.integer(limits)
		}
		return s.text(field, limits)
	case schema.Type == "object":
		return s.object(schema, limits, depth+1)
	case schema.Type == "array":
		return s.list(field, schema, limits, depth+1)
	case schema.Type == "integer":
		return s.integer(limits)
	case schema.Type == "number":
		return float64(s.integer(limits)) + float64(s.Rng.IntN(4))/4
	case schema.Type == "boolean":
		return s.Rng.IntN(2) == 0
	}
	return s.text(field, limits)
}

func (s *Source) object(schema *structuralschema.Structural, limits *structuralschema.ValueValidation, depth int) any {
	made := map[string]any{}
	if len(schema.Properties) == 0 && (schema.XEmbeddedResource || schema.XPreserveUnknownFields) {
		return s.embedded()
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		required := slices.Contains(limits.Required, name)
		if slices.Contains(s.LeaveOut, name) || !required && (depth > deepest || s.Rng.Float64() >= s.Often) {
			continue
		}
		property := schema.Properties[name]
		made[name] = s.value(name, &property, depth)
	}
	if more := schema.AdditionalProperties; more != nil && more.Structural != nil {
		for range s.Rng.IntN(3) {
			made[s.word()] = s.value("", more.Structural, depth)
		}
	}
	return made
}

// embedded draws an object of a stock kind.
func (s *Source) embedded() any {
	name := s.name()
	if s.Rng.IntN(3) == 0 {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"k": s.word()}}
	}
	labels := map[string]any{"app": name}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"replicas": int64(s.Rng.IntN(4)), "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec": map[string]any{
					"schedulerName": "berth-scheduler",
					"containers":    []any{map[string]any{"name": "c", "image": "registry.example.com/app"}},
				},
			},
		},
	}
}

func (s *Source) list(field string, schema *structuralschema.Structural, limits *structuralschema.ValueValidation, depth int) any {
	low, high := 0, 3
	if limits.MinItems != nil {
		low = int(*limits.MinItems)
	}
	if limits.MaxItems != nil {
		high = min(high, int(*limits.MaxItems))
	}
	n := low
	if high > low && depth <= deepest {
		n += s.Rng.IntN(high - low + 1)
	}
	made := make([]any, 0, n)
	seen := map[string]bool{}
	for range n {
		item := s.value(field, schema.Items, depth)
		// Sets and lists with keys refuse what is there twice, and so do rules.
		if text := fmt.Sprint(item); !seen[text] {
			seen[text] = true
			made = append(made, item)
		}
	}
	return made
}

func (s *Source) integer(limits *structuralschema.ValueValidation) int64 {
	low, high := int64(0), int64(20)
	if limits.Minimum != nil {
		low = int64(*limits.Minimum)
		high = low + 20
	}
	if limits.Maximum != nil {
		// Now and then as large as it may be.
		if high = min(high, int64(*limits.Maximum)); s.Rng.IntN(10) == 0 {
			return int64(*limits.Maximum)
		}
	}
	return low + s.Rng.Int64N(max(1, high-low+1))
}

// words are texts that mean something to somebody, by what the names of fields end with, in lower
// case; those of the empty name fit anywhere.
var words = map[string][]string{
	"": {
		"1", "0", "100m", "2Gi", "50%", "30s", "1h", "site", "v1", "default", "berth-scheduler", "CN", "é", "a/b", "10.0.0.1",
	},
	"kind":            {"Deployment", "StatefulSet", "ReplicaSet", "Job", "ConfigMap"},
	"apiversion":      {"apps/v1", "batch/v1", "v1"},
	"address":         {"10.0.0.1", "::1"},
	"after":           {"1s", "30s", "5m"},
	"age":             {"0s", "30s", "5m"},
	"cooldown":        {"1s", "30s", "5m"},
	"interval":        {"10s", "30s", "5m"},
	"timeout":         {"10s", "30s", "5m"},
	"labels":          {"site is site-0", "site in (site-0, site-1)", "site is not site-1"},
	"metrics":         {"load > 0.5", "load <= 3"},
	"customresources": {"crontabs.stable.example.com"},
	"schedulername":   {"berth-scheduler"},
}

func (s *Source) word() string { return words[""][s.Rng.IntN(len(words[""]))] }

// hint draws a text that a field of the name probably takes, or any.
func (s *Source) hint(field string) string {
	field = strings.ToLower(field)
	for _, end := range slices.Sorted(maps.Keys(words)) {
		if end != "" && strings.HasSuffix(field, end) {
			return words[end][s.Rng.IntN(len(words[end]))]
		}
	}
	return s.word()
}

func (s *Source) name() string { return s.Names[s.Rng.IntN(len(s.Names))] }

// tries bounds how often a text is drawn until it fits.
const tries = 30

// fitting reports whether texts are within limits. A pattern that does not compile lets all pass.
func fitting(limits *structuralschema.ValueValidation) func(text string) bool {
	pattern, _ := regexp.Compile(limits.Pattern)
	return func(text string) bool {
		n := int64(utf8.RuneCountInString(text))
		return (limits.MaxLength == nil || n <= *limits.MaxLength) && (limits.MinLength == nil || n >= *limits.MinLength) &&
			(pattern == nil || pattern.MatchString(text))
	}
}

func (s *Source) text(field string, limits *structuralschema.ValueValidation) string {
	if limits.Format == "date-time" {
		return "2026-01-02T03:04:05Z"
	}
	fits := fitting(limits)
	named := strings.Contains(strings.ToLower(field), "name")
	for try := range tries {
		text := ""
		switch {
		case limits.Pattern != "" && try >= tries/2:
			text = rapid.StringMatching(limits.Pattern).Example(int(s.Rng.Int32()))
		case named && s.Rng.IntN(4) > 0 || s.Rng.IntN(8) == 0:
			text = s.name()
		default:
			text = s.hint(field)
		}
		if fits(text) {
			return text
		}
	}
	return s.word()
}
