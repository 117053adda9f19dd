// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/manifests"
	"berth.dev/berth/pkg/cli/internal/client"
)

// shippedDefinitions decodes the definitions of Berth's kinds, once.
var shippedDefinitions = sync.OnceValues(func() ([]apiextensionsv1.CustomResourceDefinition, error) {
	paths, err := fs.Glob(manifests.Definitions, "crds/*.yaml")
	if err != nil {
		return nil, err
	}
	found := make([]apiextensionsv1.CustomResourceDefinition, len(paths))
	for i, path := range paths {
		content, err := manifests.Definitions.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := yaml.Unmarshal(content, &found[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return found, nil
})

// readDefinitions reads what is installed. Whoever may not read it cannot be told whether it is of
// this version.
func readDefinitions(ctx context.Context, c client.Clients) list[apiextensionsv1.CustomResourceDefinition] {
	var read apiextensionsv1.CustomResourceDefinitionList
	err := readAny(ctx, c, "apiextensions.k8s.io/v1", "customresourcedefinitions", &read)
	if apierrors.IsForbidden(err) {
		return list[apiextensionsv1.CustomResourceDefinition]{}
	}
	return list[apiextensionsv1.CustomResourceDefinition]{items: read.Items, err: err}
}

// definitions compares the definitions with those that this version is shipped with. What is there
// beyond that does no harm: a newer version has left it.
func definitions(s *state) []error {
	want, err := shippedDefinitions()
	if err != nil || s.kindsErr != nil {
		return one(cmp.Or(s.kindsErr, err))
	}
	var missing []string
	var found []error
	for i := range want {
		if plural := want[i].Spec.Names.Plural; !s.kinds[plural] {
			missing = append(missing, plural)
		} else if field := s.lacking(&want[i]); field != "" {
			found = append(found, fmt.Errorf("the definition of %s is of another version: it has no %s", plural, field))
		}
	}
	if len(missing) > 0 {
		found = append(found, fmt.Errorf("%s does not have %s", berthv1alpha1.SchemeGroupVersion, strings.Join(missing, ", ")))
	}
	return append(found, one(s.definitions.err)...)
}

// lacking returns a field that a definition should have and does not, as it is installed.
func (s *state) lacking(want *apiextensionsv1.CustomResourceDefinition) string {
	at := slices.IndexFunc(s.definitions.items, func(d apiextensionsv1.CustomResourceDefinition) bool { return d.Name == want.Name })
	if at < 0 {
		return ""
	}
	return fieldLacking(schemaOf(want), schemaOf(&s.definitions.items[at]))
}

// schemaOf returns the schema of Berth's version of a kind, one without fields if there is none.
func schemaOf(d *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.JSONSchemaProps {
	for i := range d.Spec.Versions {
		if v := &d.Spec.Versions[i]; v.Name == berthv1alpha1.SchemeGroupVersion.Version && v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			return v.Schema.OpenAPIV3Schema
		}
	}
	return &apiextensionsv1.JSONSchemaProps{}
}

// fieldLacking returns the path of the first field that is in one schema and not in another one.
func fieldLacking(want, got *apiextensionsv1.JSONSchemaProps) string {
	for _, name := range slices.Sorted(maps.Keys(want.Properties)) {
		inner, there := got.Properties[name]
		if !there {
			return name
		}
		wanted := want.Properties[name]
		if field := fieldLacking(&wanted, &inner); field != "" {
			return name + "." + field
		}
	}
	if want.Items != nil && want.Items.Schema != nil && got.Items != nil && got.Items.Schema != nil {
		return fieldLacking(want.Items.Schema, got.Items.Schema)
	}
	return ""
}
