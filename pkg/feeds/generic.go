// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

// ScaleParser is the name of the parser for custom resources that say by their scale subresource
// where the number of their replicas lies.
const ScaleParser = "scale"

// errNotRecognized says that an object does not have exactly one pod template.
var errNotRecognized = errors.New("there is not exactly one pod template")

// generic reads custom resources with a scale subresource and one pod template, wherever that is.
type generic struct {
	kind       string
	replicasAt manifest.Pointer
}

var _ PluginFactory = generic{}

// NewScaleParser returns a parser for custom resources of a kind. The path is the specReplicasPath
// of the scale subresource in their definition, such as .spec.replicas. The pod template is
// whatever map below the spec of an object has a spec with containers; an object without one, or
// with several, is copied whole.
func NewScaleParser(kind, specReplicasPath string) (PluginFactory, error) {
	at, err := scalePointer(specReplicasPath)
	return generic{kind: kind, replicasAt: at}, err
}

func scalePointer(specReplicasPath string) (manifest.Pointer, error) {
	fields, isPath := strings.CutPrefix(specReplicasPath, ".")
	if !isPath || strings.ContainsAny(fields, "[]'\"/~*?@()") {
		return manifest.Pointer{}, fmt.Errorf("specReplicasPath: %.64q is no path such as .spec.replicas", specReplicasPath)
	}
	at, err := manifest.ParsePointer("/" + strings.ReplaceAll(fields, ".", "/"))
	if err != nil {
		return manifest.Pointer{}, fmt.Errorf("specReplicasPath: %w", err)
	}
	return at, nil
}

// Name returns ScaleParser.
func (g generic) Name() string { return ScaleParser }

// Kind returns the kind.
func (g generic) Kind() string { return g.kind }

// Parser reads the number of replicas and the template.
func (g generic) Parser(rawData []byte) (*int32, berthv1alpha1.ReplicaRequirements, string, error) {
	object, err := manifest.Decode(rawData)
	if err != nil {
		return nothing(err)
	}
	templates := findTemplates(nil, object["spec"])
	if len(templates) != 1 {
		return nothing(errNotRecognized)
	}
	replicas, err := countOrOne(object, g.replicasAt)
	if err != nil {
		return nothing(err)
	}
	requirements, err := Requirements(templates[0])
	if err != nil {
		return nothing(err)
	}
	return replicas, requirements, g.replicasAt.String(), nil
}

// findTemplates appends the pod templates in a value. Nothing is looked for within a template.
func findTemplates(found []any, value any) []any {
	switch v := value.(type) {
	case map[string]any:
		if isTemplate(v) {
			return append(found, v)
		}
		for key := range v {
			found = findTemplates(found, v[key])
		}
	case []any:
		for _, element := range v {
			found = findTemplates(found, element)
		}
	}
	return found
}

// isTemplate reports whether a map has a spec with containers that have names, as pods' specs do.
func isTemplate(value map[string]any) bool {
	spec, _ := value["spec"].(map[string]any)
	containers, _ := spec["containers"].([]any)
	for _, c := range containers {
		fields, _ := c.(map[string]any)
		if name, _ := fields["name"].(string); name == "" {
			return false
		}
	}
	return len(containers) > 0
}

// definition is what of a CustomResourceDefinition tells of the scale subresource.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []struct {
			Served       bool `json:"served"`
			Subresources struct {
				Scale struct {
					SpecReplicasPath string `json:"specReplicasPath"`
				} `json:"scale"`
			} `json:"subresources"`
		} `json:"versions"`
	} `json:"spec"`
}

// ScaleOf reads a CustomResourceDefinition. It returns the kind that it defines and a parser for
// it, nil if the definition has no scale subresource. An object of another kind is no error: it
// defines nothing.
func ScaleOf(raw []byte) (schema.GroupKind, PluginFactory, error) {
	object, err := manifest.Decode(raw)
	if err != nil {
		return schema.GroupKind{}, nil, err
	}
	id, err := object.Identity()
	if err != nil || id.GroupKind() != (schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}) {
		return schema.GroupKind{}, nil, err
	}
	var definition definition
	if err := manifest.Into(map[string]any(object), &definition); err != nil {
		return schema.GroupKind{}, nil, err
	}
	kind := schema.GroupKind{Group: definition.Spec.Group, Kind: definition.Spec.Names.Kind}
	for _, version := range definition.Spec.Versions {
		if path := version.Subresources.Scale.SpecReplicasPath; version.Served && path != "" {
			parser, err := NewScaleParser(kind.Kind, path)
			return kind, parser, err
		}
	}
	return kind, nil, nil
}

// WithFallback returns a registry that also knows parsers for kinds that nothing else reads.
func (r *Registry) WithFallback(parsers map[schema.GroupKind]PluginFactory) (*Registry, error) {
	for kind, parser := range parsers {
		if err := checkParser(kind, parser); err != nil {
			return nil, fmt.Errorf("the parser for %s: %w", kind, err)
		}
	}
	all := maps.Clone(parsers)
	if all == nil {
		all = map[schema.GroupKind]PluginFactory{}
	}
	maps.Copy(all, r.parsers)
	return &Registry{parsers: all}, nil
}
