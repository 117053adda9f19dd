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

// part is what a rule says of a pod template and its replicas, made ready for use.
type part struct {
	// hasReplicas reports whether replicasAt, defaultReplicas and replicas mean anything. replicas
	// is nil if the number stands at replicasAt.
	hasReplicas     bool
	replicasAt      manifest.Pointer
	defaultReplicas *int32
	replicas        *expression.Program

	// hasTemplate reports whether one of these means anything: the expression if it is not nil,
	// else the pointer.
	hasTemplate bool
	templateAt  manifest.Pointer
	template    *expression.Program
}

// newPart checks what a rule says and compiles what is to be compiled. The place is where in the
// rule it stands.
func newPart(place string, replicas *berthv1alpha1.ReplicasRule, template *berthv1alpha1.PodTemplateRule) (part, error) {
	var p part
	if replicas != nil {
		if err := p.setReplicas(replicas); err != nil {
			return part{}, fmt.Errorf("%s.replicas%w", place, err)
		}
	}
	if template != nil {
		if err := p.setTemplate(template); err != nil {
			return part{}, fmt.Errorf("%s.podTemplate%w", place, err)
		}
	}
	return p, nil
}

func (p *part) setReplicas(from *berthv1alpha1.ReplicasRule) error {
	err := checkReplicas(from)
	if err != nil {
		return err
	}
	p.hasReplicas = true
	if from.Default != nil {
		p.defaultReplicas = ptr.To(*from.Default)
	}
	if p.replicasAt, err = manifest.ParsePointer(from.Path); err != nil {
		return fmt.Errorf(".path: %w", err)
	}
	if from.Expression != "" {
		if p.replicas, err = expression.Compile(from.Expression); err != nil {
			return fmt.Errorf(".expression: %w", err)
		}
	}
	return nil
}

func (p *part) setTemplate(from *berthv1alpha1.PodTemplateRule) error {
	err := checkTemplate(from)
	if err != nil {
		return err
	}
	p.hasTemplate = true
	if from.Expression == "" {
		if p.templateAt, err = manifest.ParsePointer(from.Path); err != nil {
			return fmt.Errorf(".path: %w", err)
		}
		return nil
	}
	if p.template, err = expression.Compile(from.Expression); err != nil {
		return fmt.Errorf(".expression: %w", err)
	}
	return nil
}

func (p *part) readReplicas(object manifest.Object) (*int32, error) {
	if !p.hasReplicas {
		return nil, nil
	}
	if p.replicas != nil {
		return p.computeReplicas(object)
	}
	replicas, err := countAt(object, p.replicasAt)
	switch {
	case err != nil:
		return nil, err
	case replicas != nil:
		return replicas, nil
	case p.defaultReplicas == nil:
		return nil, fmt.Errorf("%s %w, and the rule has no default", p.replicasAt, manifest.ErrNowhere)
	}
	return ptr.To(*p.defaultReplicas), nil
}

// computeReplicas evaluates the expression. What it finds must be possible to write down at the
// path all the same.
func (p *part) computeReplicas(object manifest.Object) (*int32, error) {
	if _, err := p.replicasAt.In(object); err != nil {
		return nil, err
	}
	value, err := p.replicas.Eval(object)
	if err != nil {
		return nil, err
	}
	replicas, err := asCount(value)
	if err != nil {
		return nil, fmt.Errorf("the value of the expression %w", err)
	}
	return &replicas, nil
}

func (p *part) readTemplate(object manifest.Object) (berthv1alpha1.ReplicaRequirements, error) {
	if !p.hasTemplate {
		return berthv1alpha1.ReplicaRequirements{}, nil
	}
	if p.template == nil {
		value, err := p.templateAt.In(object)
		if err == nil && value == nil {
			err = fmt.Errorf("%s %w", p.templateAt, manifest.ErrNowhere)
		}
		if err != nil {
			return berthv1alpha1.ReplicaRequirements{}, err
		}
		return templateAt(object, p.templateAt)
	}
	value, err := p.template.Eval(object)
	if err != nil {
		return berthv1alpha1.ReplicaRequirements{}, err
	}
	requirements, err := Requirements(value)
	if err != nil {
		return berthv1alpha1.ReplicaRequirements{}, fmt.Errorf("the value of the expression: %w", err)
	}
	return requirements, nil
}
