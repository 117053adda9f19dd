// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"fmt"

	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/internal/expression"
	"berth.dev/berth/pkg/feeds/manifest"
)

// rule is a FeedParser made ready for use.
type rule struct {
	name, kind string

	// hasReplicas says whether replicasAt, defaultReplicas and replicas mean anything. replicas is nil if the number stands
	// at replicasAt.
	hasReplicas     bool
	replicasAt      manifest.Pointer
	defaultReplicas *int32
	replicas        *expression.Program

	// hasTemplate says whether one of these means anything: the expression if it is not nil, else the pointer.
	hasTemplate bool
	templateAt  manifest.Pointer
	template    *expression.Program
}

var _ PluginFactory = (*rule)(nil)

// newRule checks a rule and compiles what is to be compiled.
func newRule(from *FeedParser) (*rule, error) {
	if err := from.Spec.check(); err != nil {
		return nil, err
	}
	r := &rule{name: from.Name, kind: from.Spec.Kind}
	if replicas := from.Spec.Replicas; replicas != nil {
		if err := r.setReplicas(replicas); err != nil {
			return nil, fmt.Errorf("spec.replicas.%w", err)
		}
	}
	if template := from.Spec.PodTemplate; template != nil {
		if err := r.setTemplate(template); err != nil {
			return nil, fmt.Errorf("spec.podTemplate.%w", err)
		}
	}
	return r, nil
}

func (r *rule) setReplicas(from *ReplicasRule) error {
	var err error
	r.hasReplicas = true
	if from.Default != nil {
		r.defaultReplicas = ptr.To(*from.Default)
	}
	if r.replicasAt, err = manifest.ParsePointer(from.Path); err != nil {
		return fmt.Errorf("path: %w", err)
	}
	if from.Expression != "" {
		if r.replicas, err = expression.Compile(from.Expression); err != nil {
			return fmt.Errorf("expression: %w", err)
		}
	}
	return nil
}

func (r *rule) setTemplate(from *PodTemplateRule) error {
	var err error
	r.hasTemplate = true
	if from.Expression == "" {
		if r.templateAt, err = manifest.ParsePointer(from.Path); err != nil {
			return fmt.Errorf("path: %w", err)
		}
		return nil
	}
	if r.template, err = expression.Compile(from.Expression); err != nil {
		return fmt.Errorf("expression: %w", err)
	}
	return nil
}

// Name returns the name of the FeedParser.
func (r *rule) Name() string { return r.name }

// Kind returns the kind that the rule is for.
func (r *rule) Kind() string { return r.kind }

// Parser applies the rule. An error begins with the name of the rule.
func (r *rule) Parser(rawData []byte) (*int32, berthv1alpha1.ReplicaRequirements, string, error) {
	object, err := manifest.Decode(rawData)
	if err != nil {
		return nothing(err)
	}
	replicas, err := r.readReplicas(object)
	if err != nil {
		return nothing(fmt.Errorf("FeedParser %q: spec.replicas: %w", r.name, err))
	}
	requirements, err := r.readTemplate(object)
	if err != nil {
		return nothing(fmt.Errorf("FeedParser %q: spec.podTemplate: %w", r.name, err))
	}
	return replicas, requirements, r.replicasAt.String(), nil
}

func (r *rule) readReplicas(object manifest.Object) (*int32, error) {
	if !r.hasReplicas {
		return nil, nil
	}
	if r.replicas != nil {
		return r.computeReplicas(object)
	}
	replicas, err := countAt(object, r.replicasAt)
	switch {
	case err != nil:
		return nil, err
	case replicas != nil:
		return replicas, nil
	case r.defaultReplicas == nil:
		return nil, fmt.Errorf("%s %w, and the rule has no default", r.replicasAt, manifest.ErrNowhere)
	}
	return ptr.To(*r.defaultReplicas), nil
}

// computeReplicas evaluates the expression. What it finds must be possible to write down at the path all the same.
func (r *rule) computeReplicas(object manifest.Object) (*int32, error) {
	if _, err := r.replicasAt.In(object); err != nil {
		return nil, err
	}
	value, err := r.replicas.Eval(object)
	if err != nil {
		return nil, err
	}
	replicas, err := asCount(value)
	if err != nil {
		return nil, fmt.Errorf("the value of the expression %w", err)
	}
	return &replicas, nil
}

func (r *rule) readTemplate(object manifest.Object) (berthv1alpha1.ReplicaRequirements, error) {
	if !r.hasTemplate {
		return berthv1alpha1.ReplicaRequirements{}, nil
	}
	if r.template == nil {
		value, err := r.templateAt.In(object)
		if err == nil && value == nil {
			err = fmt.Errorf("%s %w", r.templateAt, manifest.ErrNowhere)
		}
		if err != nil {
			return berthv1alpha1.ReplicaRequirements{}, err
		}
		return templateAt(object, r.templateAt)
	}
	value, err := r.template.Eval(object)
	if err != nil {
		return berthv1alpha1.ReplicaRequirements{}, err
	}
	requirements, err := requirementsOf(value)
	if err != nil {
		return berthv1alpha1.ReplicaRequirements{}, fmt.Errorf("the value of the expression: %w", err)
	}
	return requirements, nil
}
