// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// rules are what the definition of a kind demands of its objects.
type rules struct {
	definition *apiextensions.JSONSchemaProps
	// The rules take time to compile, so that is done when the first object comes.
	validator validation.SchemaValidator
	cel       *cel.Validator
}

// check returns why the definition of its kind forbids an object, nil if it does not.
func (k *kind) check(object, before tree) error {
	if k.rules.cel == nil {
		validator, _, err := validation.NewSchemaValidator(k.rules.definition)
		if err != nil {
			return fmt.Errorf("reading the schema of %s: %w", k.resource, err)
		}
		k.rules.validator, k.rules.cel = validator, cel.NewValidator(k.schema, true, celconfig.PerCallLimit)
	}
	errs := validation.ValidateCustomResource(nil, object, k.rules.validator)
	if len(errs) == 0 {
		var old any
		if before != nil {
			old = before
		}
		errs, _ = k.rules.cel.Validate(context.Background(), nil, k.schema, object, old, celconfig.RuntimeCELCostBudget)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(k.GroupKind(), text(metaOf(object), "name"), errs)
	}
	return nil
}

// Definition is a kind that was defined.
type Definition struct {
	Resource   schema.GroupVersionResource
	Namespaced bool
	// Schema is that of the objects.
	Schema *structuralschema.Structural
}

// Definitions returns the kinds that were defined, by the names of their resources.
func (s *Server) Definitions() []Definition {
	var list []Definition
	for resource, k := range s.kinds {
		if k.schema != nil {
			list = append(list, Definition{resource, k.namespaced, k.schema})
		}
	}
	slices.SortFunc(list, func(a, b Definition) int { return cmp.Compare(a.Resource.Resource, b.Resource.Resource) })
	return list
}

// Each calls a function with the JSON of each object of a resource, in no order.
func (s *Server) Each(resource schema.GroupVersionResource, do func(raw []byte)) {
	for _, found := range s.kinds[resource].objects {
		do(found.raw)
	}
}
