// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"fmt"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

// rule is a FeedParser made ready for use. It has either a whole or components.
type rule struct {
	name, kind string
	whole      part
	components []component
}

var (
	_ PluginFactory   = (*rule)(nil)
	_ ComponentReader = (*rule)(nil)
)

// newRule checks a rule and compiles what is to be compiled.
func newRule(from *berthv1alpha1.FeedParser) (*rule, error) {
	spec := &from.Spec
	err := checkSpec(spec)
	if err != nil {
		return nil, err
	}
	r := &rule{name: from.Name, kind: spec.Kind}
	if r.whole, err = newPart("spec", spec.Replicas, spec.PodTemplate); err != nil {
		return nil, err
	}
	for i := range spec.Components {
		c, err := newComponent(fmt.Sprintf("spec.components[%d]", i), &spec.Components[i])
		if err != nil {
			return nil, err
		}
		r.components = append(r.components, c)
	}
	return r, nil
}

// Name returns the name of the FeedParser.
func (r *rule) Name() string { return r.name }

// Kind returns the kind that the rule is for.
func (r *rule) Kind() string { return r.kind }

// Parser applies the rule to the object as a whole. An error begins with the name of the rule.
func (r *rule) Parser(rawData []byte) (*int32, berthv1alpha1.ReplicaRequirements, string, error) {
	object, err := manifest.Decode(rawData)
	if err != nil {
		return nothing(err)
	}
	replicas, err := r.readReplicas(object)
	if err != nil {
		return nothing(err)
	}
	requirements, err := r.whole.readTemplate(object)
	if err != nil {
		return nothing(fmt.Errorf("FeedParser %q: spec.podTemplate: %w", r.name, err))
	}
	return replicas, requirements, r.whole.replicasAt.String(), nil
}

// readReplicas returns how many replicas the object as a whole wants, nil if the rule does not say.
func (r *rule) readReplicas(object manifest.Object) (*int32, error) {
	replicas, err := r.whole.readReplicas(object)
	if err != nil {
		return nil, fmt.Errorf("FeedParser %q: spec.replicas: %w", r.name, err)
	}
	return replicas, nil
}
