// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"berth.dev/berth/test/integration/internal/installation"
)

// walk visits every field below a schema, the parents first.
func walk(path string, schema *apiextensionsv1.JSONSchemaProps, visit func(path string, schema *apiextensionsv1.JSONSchemaProps)) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		visit(path+"."+name, &property)
		walk(path+"."+name, &property, visit)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		visit(path+"[]", schema.Items.Schema)
		walk(path+"[]", schema.Items.Schema, visit)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		visit(path+"{}", schema.AdditionalProperties.Schema)
		walk(path+"{}", schema.AdditionalProperties.Schema, visit)
	}
}

// unbounded reports whether a value of this schema can be of any size.
func unbounded(schema *apiextensionsv1.JSONSchemaProps) bool {
	switch {
	case len(schema.Enum) > 0 || schema.Format == "date-time" || len(schema.XValidations) > 0 || schema.XIntOrString:
		return false
	case schema.Type == "string":
		return schema.MaxLength == nil
	case schema.Type == "array":
		return schema.MaxItems == nil
	case schema.AdditionalProperties != nil:
		return schema.MaxProperties == nil
	}
	return false
}

var _ = Describe("The custom resource definitions", func() {
	var definitions []*apiextensionsv1.CustomResourceDefinition
	BeforeEach(func() {
		definitions = nil
		for _, path := range filesIn(installation.Path("manifests", "crds")) {
			for _, object := range read(path) {
				definitions = append(definitions, into[apiextensionsv1.CustomResourceDefinition](object))
			}
		}
		Expect(definitions).NotTo(BeEmpty())
	})

	// each visits all fields of all kinds.
	each := func(visit func(path string, schema *apiextensionsv1.JSONSchemaProps)) {
		for _, definition := range definitions {
			for _, version := range definition.Spec.Versions {
				walk(definition.Spec.Names.Kind, version.Schema.OpenAPIV3Schema, visit)
			}
		}
	}

	It("describe every field to kubectl explain", func() {
		var missing []string
		each(func(path string, schema *apiextensionsv1.JSONSchemaProps) {
			element := strings.HasSuffix(path, "]") || strings.HasSuffix(path, "}")
			if schema.Description == "" && !element && !strings.HasSuffix(path, ".metadata") {
				missing = append(missing, path)
			}
		})
		Expect(missing).To(BeEmpty())
	})

	It("bound everything that a user can write", func() {
		var missing []string
		each(func(path string, schema *apiextensionsv1.JSONSchemaProps) {
			// Selectors have the shape that Kubernetes gives them, and inventories are written by a
			// controller.
			inSpec := strings.Contains(path, ".spec.") && !strings.Contains(path, ".labelSelector.") &&
				!strings.Contains(path, ".clusterAffinity.") && !strings.Contains(path, ".clusterSelector.") &&
				!strings.Contains(path, ".namespaceSelector.") &&
				!strings.Contains(path, ".preferredClusters[].preference.") &&
				!strings.HasPrefix(path, "FeedInventory.")
			if inSpec && unbounded(schema) {
				missing = append(missing, path)
			}
		})
		// The API server has no way to bound the values of a map of strings by a marker; a label on
		// a node has 63 characters.
		Expect(missing).To(ConsistOf("Cluster.spec.matchLabels{}", "ClusterResource.spec.capacity[].nodeSelector{}"))
	})

	It("show up together, with a short name and columns of their own", func() {
		for _, definition := range definitions {
			names := definition.Spec.Names
			Expect(names.Categories).To(ConsistOf("berth"), names.Kind)
			Expect(names.ShortNames).To(HaveLen(1), names.Kind)
			Expect(definition.Spec.Versions[0].AdditionalPrinterColumns).NotTo(BeEmpty(), names.Kind)
			Expect(definition.Spec.Versions[0].Subresources.Status).NotTo(BeNil(), names.Kind)
		}
	})
})
