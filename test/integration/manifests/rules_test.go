// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// create asks the API server, as kubectl create --dry-run=server would, whether it would take an
// object.
func create(ctx context.Context, resource string, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	kind := objects.Resource(berthv1alpha1.SchemeGroupVersion.WithResource(resource))
	options := metav1.CreateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	}
	if resource == "propagationpolicies" {
		return kind.Namespace(metav1.NamespaceDefault).Create(ctx, object, options)
	}
	return kind.Create(ctx, object, options)
}

// withSpec returns an object whose spec is written as YAML.
func withSpec(kind, name, spec string) *unstructured.Unstructured {
	GinkgoHelper()
	fields := map[string]any{}
	Expect(yaml.UnmarshalStrict([]byte(spec), &fields)).To(Succeed())
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": berthv1alpha1.SchemeGroupVersion.String(), "kind": kind,
		"metadata": map[string]any{"name": name}, "spec": fields,
	}}
}

func createCluster(ctx context.Context, name, spec string) (*unstructured.Unstructured, error) {
	GinkgoHelper()
	return create(ctx, "clusters", withSpec("Cluster", name, spec))
}

// createPolicy fills in what the spec leaves out of a policy that is valid.
func createPolicy(ctx context.Context, spec string) (*unstructured.Unstructured, error) {
	GinkgoHelper()
	return createNamedPolicy(ctx, "web", spec)
}

// createNamedPolicy is createPolicy for a policy whose name matters.
func createNamedPolicy(ctx context.Context, name, spec string) (*unstructured.Unstructured, error) {
	GinkgoHelper()
	for field, value := range map[string]string{
		"resourceSelectors": `[{apiVersion: apps/v1, kind: Deployment}]`,
		"placement":         `{staticWeightList: [{clusterNames: [a], weight: 1}]}`,
	} {
		if !strings.Contains(spec, field) {
			spec = field + ": " + value + "\n" + spec
		}
	}
	return create(ctx, "propagationpolicies", withSpec("PropagationPolicy", name, spec))
}

// weights returns the placement of a policy with one entry.
func weights(entry string) string {
	return "placement: {staticWeightList: [" + entry + "]}"
}

// groups returns the placement of a policy with the groups of clusters.
func groups(list string) string {
	return "placement: {clusterGroups: [" + list + "]}"
}

// rebalance returns the rebalance of a policy.
func rebalance(fields string) string {
	return "rebalance: {" + fields + "}"
}

// list writes n values of a flow sequence.
func list(n int, value func(i int) string) string {
	values := make([]string, n)
	for i := range values {
		values[i] = value(i)
	}
	return "[" + strings.Join(values, ", ") + "]"
}

// refusal matches an error in which the user reads all of the parts.
func refusal(parts ...string) types.GomegaMatcher {
	matchers := make([]types.GomegaMatcher, len(parts))
	for i, part := range parts {
		matchers[i] = MatchError(ContainSubstring(part))
	}
	return And(matchers...)
}
