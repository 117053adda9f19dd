// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory

import (
	"maps"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds"
)

// parsers is the registry in force. Its methods are safe for concurrent use.
type parsers struct {
	builtIn map[schema.GroupKind]feeds.PluginFactory

	mu       sync.Mutex
	registry *feeds.Registry
	version  int64
	rules    map[string]berthv1alpha1.FeedParserSpec
	scales   map[schema.GroupKind]string
}

// current returns the registry and its version, which grows with each change; nil before the first
// build.
func (p *parsers) current() (*feeds.Registry, int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.registry, p.version
}

// build makes the registry of the rules that can be used, the parsers that are built in, and the
// definitions with a scale subresource. It returns by name what is wrong with the other rules.
func (p *parsers) build(
	rules []berthv1alpha1.FeedParser, definitions []apiextensionsv1.CustomResourceDefinition,
) (refused map[string]error, err error) {
	accepted, refused := feeds.Accept(rules)
	specs := make(map[string]berthv1alpha1.FeedParserSpec, len(accepted))
	for i := range accepted {
		specs[accepted[i].Name] = accepted[i].Spec
	}
	scales := scalesOf(definitions)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.registry != nil && apiequality.Semantic.DeepEqual(specs, p.rules) && maps.Equal(scales, p.scales) {
		return refused, nil
	}
	registry, err := feeds.NewRegistry(accepted, p.builtIn)
	if err != nil {
		return refused, err
	}
	fallback := make(map[schema.GroupKind]feeds.PluginFactory, len(scales))
	for kind, path := range scales {
		// A path that cannot be used leaves the kind unknown: its objects are copied whole.
		if parser, err := feeds.NewScaleParser(kind.Kind, path); err == nil {
			fallback[kind] = parser
		}
	}
	if registry, err = registry.WithFallback(fallback); err != nil {
		return refused, err
	}
	p.registry, p.rules, p.scales = registry, specs, scales
	p.version++
	return refused, nil
}

// scalesOf returns where the scale subresources of custom resources point.
func scalesOf(definitions []apiextensionsv1.CustomResourceDefinition) map[schema.GroupKind]string {
	scales := map[schema.GroupKind]string{}
	for i := range definitions {
		spec := &definitions[i].Spec
		for j := range spec.Versions {
			if s := spec.Versions[j].Subresources; spec.Versions[j].Served && s != nil && s.Scale != nil {
				scales[schema.GroupKind{Group: spec.Group, Kind: spec.Names.Kind}] = s.Scale.SpecReplicasPath
				break
			}
		}
	}
	return scales
}

// TrimDefinition cuts a CustomResourceDefinition down to what is read of it. It is a transform of
// the cache; schemas take megabytes otherwise.
func TrimDefinition(object any) (any, error) {
	if d, ok := object.(*apiextensionsv1.CustomResourceDefinition); ok {
		d.ManagedFields, d.Annotations = nil, nil
		for i := range d.Spec.Versions {
			d.Spec.Versions[i].Schema, d.Spec.Versions[i].AdditionalPrinterColumns = nil, nil
		}
		d.Spec.Conversion = nil
	}
	return object, nil
}
