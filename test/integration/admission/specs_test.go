// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// try asks whether the API server would take an object of one of Berth's kinds, whose spec is
// written as YAML.
func try(ctx context.Context, kind, spec string) error {
	fields := map[string]any{}
	Expect(yaml.UnmarshalStrict([]byte(spec), &fields)).To(Succeed())
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": berthv1alpha1.SchemeGroupVersion.String(), "kind": kind,
		"metadata": map[string]any{"name": "example"}, "spec": fields,
	}}
	plural := strings.TrimSuffix(strings.ToLower(kind)+"s", "ys")
	if strings.HasSuffix(kind, "y") {
		plural += "ies"
	}
	resource := objects.Resource(berthv1alpha1.SchemeGroupVersion.WithResource(plural))
	if kind == "Cluster" || kind == "GlobalCloud" {
		_, err := resource.Create(ctx, object, dryRun)
		return err
	}
	_, err := resource.Namespace(metav1.NamespaceDefault).Create(ctx, object, dryRun)
	return err
}

// config returns a manifest of so many bytes.
func config(size int) string {
	return `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {any: ` + strings.Repeat("a", size) + `}}`
}

// manyGroups are groups with selectors of some length.
func manyGroups(n int) string {
	groups := make([]string, n)
	for i := range groups {
		groups[i] = fmt.Sprintf(`{name: g%d, clusterSelector: {matchLabels: {a: b, c: d, e: f, g: h}, matchExpressions: [
			{key: i, operator: In, values: [`+strings.Repeat("k, ", 50)+`l]}, {key: m, operator: Exists}]}}`, i)
	}
	return strings.Join(groups, ", ")
}

var _ = Describe("A spec", func() {
	const twice = "spec.metrics: Duplicate value: a metric can be listed once only, and load-1 is listed more often"

	DescribeTable("is refused, in words for its author", func(ctx SpecContext, kind, spec, why string) {
		Eventually(try).WithContext(ctx).WithArguments(kind, spec).WithTimeout(timeout).WithPolling(poll).Should(refused(why))
	},
		Entry("with manifests of 1 MiB", "Application", `manifests: [`+config(1<<20)+`]`,
			"spec.manifests: Too long: may not be more than 1048576 bytes, and are "),
		Entry("with manifests of 2.7 MiB in all", "Application",
			`manifests: [`+config(900<<10)+`, `+config(900<<10)+`, `+config(900<<10)+`]`, "spec.manifests: Too long"),
		Entry("with a metric of an application twice", "Application",
			`{manifests: [`+config(1)+`], metrics: [{name: load-1, weight: 1}, {name: load-1, weight: 2}]}`, twice),
		Entry("with a metric twice, once with an empty namespace", "Cluster",
			`metrics: [{name: load-1, namespace: "", weight: 1}, {name: load-1, weight: 1}]`, twice),
		Entry("with a metric in both spellings", "Cluster", `metrics: [{name: load-1, weight: 1}, {name: load_1, weight: 1}]`, twice),
		Entry("with a metric of a namespace twice", "Cluster",
			`metrics: [{name: load-1, namespace: a, weight: 1}, {name: b, weight: 1}, {name: load-1, namespace: a, weight: 1}]`, twice),
		Entry("with a metric of a cloud twice", "Cloud", `metrics: [{name: load-1, weight: 1}, {name: load-1, weight: 1}]`, twice),
		Entry("with a metric of a cloud for all twice", "GlobalCloud", `metrics: [{name: load-1, weight: 1}, {name: load-1, weight: 1}]`, twice),
		Entry("with a metric of a project twice", "OpenStackProject",
			`{userID: u, template: t, metrics: [{name: load-1, weight: 1}, {name: load-1, weight: 1}]}`, twice),
		Entry("with a metric of a Magnum cluster twice", "MagnumCluster",
			`{masterCount: 1, nodeCount: 3, metrics: [{name: load-1, weight: 1}, {name: load-1, weight: 1}]}`, twice),
	)

	// groups is a policy whose second group has a selector.
	groups := func(selector string) string {
		return `{resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {clusterGroups: [{name: a, clusterNames: [a]},
			{name: b, clusterSelector: ` + selector + `}]}}`
	}
	const second = "spec.placement.clusterGroups[1].clusterSelector."

	DescribeTable("is refused where a selector can select nothing ever", func(ctx SpecContext, kind, spec, why string) {
		Eventually(try).WithContext(ctx).WithArguments(kind, spec).WithTimeout(timeout).WithPolling(poll).Should(refused(why))
	},
		Entry("by its key", "PropagationPolicy", groups(`{matchLabels: {tier: store, "a b": c}}`),
			second+`matchLabels.a b: Invalid value: "a b" can be the key of no label`),
		Entry("by its value", "PropagationPolicy", groups(`{matchLabels: {city: São Paulo}}`),
			second+`matchLabels.city: Invalid value: "São Paulo" can be the value of no label`),
		Entry("by the key of an expression", "PropagationPolicy", groups(`{matchExpressions: [{key: a, operator: Exists}, {key: /b, operator: Exists}]}`),
			second+`matchExpressions[1]: Invalid value: "/b" can be the key of no label`),
		Entry("by a value of an expression", "PropagationPolicy", groups(`{matchExpressions: [{key: a, operator: In, values: [b, "-c"]}]}`),
			second+`matchExpressions[0]: Invalid value: "-c" can be the value of no label`),
		Entry("by an operator", "PropagationPolicy", groups(`{matchExpressions: [{key: a, operator: Near, values: [b]}]}`),
			second+`matchExpressions[0].operator: Unsupported value: "Near"`),
		Entry("because it has no values", "PropagationPolicy", groups(`{matchExpressions: [{key: a, operator: NotIn}]}`),
			second+`matchExpressions[0].values: Invalid value: In and NotIn need values`),
		Entry("because it has values", "PropagationPolicy", groups(`{matchExpressions: [{key: a, operator: Exists, values: [b]}]}`),
			second+`matchExpressions[0].values: Invalid value: In and NotIn need values`),
		Entry("of workloads", "PropagationPolicy", `{resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {"": x}}}],
			placement: {clusterGroups: [{name: a, clusterNames: [a]}]}}`, `spec.resourceSelectors[0].labelSelector.matchLabels.: Invalid value: "" can be`),
		Entry("of a Subscription", "Subscription", `{feeds: [{apiVersion: apps/v1, kind: Deployment, name: a}], schedulingStrategy: Replication,
			subscribers: [{clusterAffinity: {matchLabels: {"a b": c}}}]}`, `spec.subscribers[0].clusterAffinity.matchLabels.a b: Invalid value`),
	)

	DescribeTable("is accepted", func(ctx SpecContext, kind, spec string) {
		Expect(try(ctx, kind, spec)).To(Succeed())
	},
		Entry("with manifests of a megabyte", "Application", `manifests: [`+config(500_000)+`, `+config(500_000)+`]`),
		Entry("with metrics of the same name in several namespaces", "Cluster",
			`metrics: [{name: load, weight: 1}, {name: load, namespace: a, weight: 1}, {name: load, namespace: b, weight: 1}]`),
		Entry("with nothing at all", "Cluster", `{}`),
		Entry("with any selector that can select", "PropagationPolicy", groups(`{matchLabels: {later: "", example.com/a: A_b.c},
			matchExpressions: [{key: region.region, operator: In, values: [a, ""]}, {key: b, operator: DoesNotExist}]}`)),
		Entry("with a selector of all", "PropagationPolicy", groups(`{}`)),
		Entry("with as many groups as can be", "PropagationPolicy", `{resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}],
			placement: {clusterGroups: [`+manyGroups(100)+`]}}`),
	)

	It("is compared with what it was, however large", func(ctx SpecContext) {
		policies := objects.Resource(berthv1alpha1.SchemeGroupVersion.WithResource("propagationpolicies")).Namespace(metav1.NamespaceDefault)
		spec := map[string]any{}
		Expect(yaml.UnmarshalStrict([]byte(`{resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: none}],
			placement: {clusterGroups: [`+manyGroups(100)+`]}}`), &spec)).To(Succeed())
		policy := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": berthv1alpha1.SchemeGroupVersion.String(), "kind": "PropagationPolicy", "metadata": map[string]any{"name": "large"}, "spec": spec,
		}}
		made, err := policies.Create(ctx, policy, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { Expect(policies.Delete(ctx, "large", metav1.DeleteOptions{})).To(Succeed()) })
		groups, _, err := unstructured.NestedSlice(made.Object, "spec", "placement", "clusterGroups")
		Expect(err).NotTo(HaveOccurred())
		slices.Reverse(groups)
		Expect(unstructured.SetNestedSlice(made.Object, groups, "spec", "placement", "clusterGroups")).To(Succeed())
		_, err = policies.Update(ctx, made, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
	})
})
