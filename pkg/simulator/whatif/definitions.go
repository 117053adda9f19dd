// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/manifests"
)

// definition is how the API server sees one of Berth's kinds.
type definition struct {
	schema    *structuralschema.Structural
	validator validation.SchemaValidator
	rules     *cel.Validator
}

// definitions makes the definition of a kind when it is asked for: its rules take time to compile.
var definitions = sync.OnceValues(func() (map[schema.GroupVersionKind]func() (*definition, error), error) {
	names, err := fs.Glob(manifests.Definitions, "crds/*.yaml")
	if err != nil {
		return nil, err
	}
	found := make(map[schema.GroupVersionKind]func() (*definition, error), len(names))
	for _, name := range names {
		raw, err := manifests.Definitions.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(raw, &crd); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		for i := range crd.Spec.Versions {
			version := &crd.Spec.Versions[i]
			kind := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
			found[kind] = sync.OnceValues(func() (*definition, error) { return define(version.Schema.OpenAPIV3Schema) })
		}
	}
	return found, nil
})

func define(properties *apiextensionsv1.JSONSchemaProps) (*definition, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(properties, internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return nil, err
	}
	return &definition{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// complete gives an object of Berth's kinds, as JSON, the defaults of its definition. The error is
// what the API server would answer. Other objects stay as they are.
func complete(raw []byte) ([]byte, error) {
	object := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(raw, &object.Object); err != nil {
		return raw, nil //nolint:nilerr // who decodes it says that more clearly
	}
	known, err := definitions()
	if err != nil {
		return nil, err
	}
	kind := object.GroupVersionKind()
	read := known[kind]
	if read == nil {
		return raw, nil
	}
	d, err := read()
	if err != nil {
		return nil, fmt.Errorf("reading the definition of kind %s: %w", kind.Kind, err)
	}
	structuraldefaulting.Default(object.Object, d.schema)
	errs := validation.ValidateCustomResource(nil, object.Object, d.validator)
	if len(errs) == 0 {
		errs, _ = d.rules.Validate(context.Background(), nil, d.schema, object.Object, nil, celconfig.RuntimeCELCostBudget)
	}
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(kind.GroupKind(), object.GetName(), errs)
	}
	return json.Marshal(object.Object)
}
