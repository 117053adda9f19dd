// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Object is a Kubernetes object of any kind. Its values are maps, lists, strings, booleans, nil,
// and json.Number for numbers, each as it was written and within the range of float64.
type Object map[string]any

// Identity names an object.
type Identity struct {
	APIVersion, Kind, Namespace, Name string
}

// GroupKind returns the group of the API version, and the kind.
func (i Identity) GroupKind() schema.GroupKind {
	// Object.Identity has checked the version.
	gv, _ := schema.ParseGroupVersion(i.APIVersion)
	return gv.WithKind(i.Kind).GroupKind()
}

// Decode reads one object, written as JSON or YAML.
func Decode(raw []byte) (Object, error) {
	if err := checkSize(raw, MaxObjectSize); err != nil {
		return nil, err
	}
	values, err := decodeAll(raw)
	if err != nil {
		return nil, err
	}
	switch len(values) {
	case 0:
		return nil, errNoMap
	case 1:
		return asObject(values[0])
	}
	return nil, fmt.Errorf("there are %d objects where one is expected", len(values))
}

// Identity returns what names the object. An error says which part of it is missing or wrong.
func (o Object) Identity() (Identity, error) {
	var id Identity
	metadata, _ := o["metadata"].(map[string]any)
	for _, part := range []struct {
		path     string
		value    any
		optional bool
		to       *string
	}{
		{path: "apiVersion", value: o["apiVersion"], to: &id.APIVersion},
		{path: "kind", value: o["kind"], to: &id.Kind},
		{path: "metadata.name", value: metadata["name"], to: &id.Name},
		{path: "metadata.namespace", value: metadata["namespace"], to: &id.Namespace, optional: true},
	} {
		if err := readName(part.path, part.value, part.optional, part.to); err != nil {
			return Identity{}, err
		}
	}
	if gv, err := schema.ParseGroupVersion(id.APIVersion); err != nil || gv.Version == "" {
		return Identity{}, fmt.Errorf("apiVersion: must be VERSION or GROUP/VERSION, not %.64q", id.APIVersion)
	}
	return id, nil
}

// maxNameLength is the longest name that an API server takes.
const maxNameLength = 253

func readName(path string, value any, optional bool, to *string) error {
	text, isText := value.(string)
	switch {
	case optional && value == nil:
		return nil
	case value == nil || isText && text == "" && !optional:
		return fmt.Errorf("%s is missing", path)
	case !isText:
		return fmt.Errorf("%s: must be a text", path)
	case len(text) > maxNameLength:
		return fmt.Errorf("%s: must have at most %d characters, not %d", path, maxNameLength, len(text))
	}
	*to = text
	return nil
}

// Into copies a value of an object into a variable of a Go type, by the JSON names of its fields.
// Fields that the type does not have are left out.
func Into(value, variable any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var wrongType *json.UnmarshalTypeError
	if err := utiljson.Unmarshal(raw, variable); errors.As(err, &wrongType) {
		return fmt.Errorf("%s: must not be of type %.64s", wrongType.Field, wrongType.Value)
	} else if err != nil {
		return err
	}
	return nil
}

func asObject(value any) (Object, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errNoMap
	}
	return object, nil
}
