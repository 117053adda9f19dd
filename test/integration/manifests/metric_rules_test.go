// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// tryCreate asks the API server whether it would take an object of any kind.
func tryCreate(ctx context.Context, kind, spec string) (*unstructured.Unstructured, error) {
	GinkgoHelper()
	object := withSpec(kind, "example", spec)
	plural := strings.ToLower(kind) + "s"
	if kind == "PropagationPolicy" {
		plural = "propagationpolicies"
	}
	resource := berthv1alpha1.SchemeGroupVersion.WithResource(plural)
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	if strings.HasPrefix(kind, "Global") || kind == "Cluster" {
		return objects.Resource(resource).Create(ctx, object, options)
	}
	return objects.Resource(resource).Namespace(metav1.NamespaceDefault).Create(ctx, object, options)
}

// manifest is a valid manifest of an Application.
const manifest = `manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {any: thing}}]` + "\n"

// policyWith returns the spec of a policy with something more in its placement.
func policyWith(placement string) string {
	return `{resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {staticWeightList: [{clusterNames: [a], weight: 1}], ` +
		placement + `}}`
}

// longConstraints are as many as can be, as long as can be, and wrong at the end.
func longConstraints() string {
	value := strings.Repeat("b", 60)
	one := "'a in (" + strings.Repeat(value+",", 16) + value[:38] + " x'"
	return manifest + "constraints: {clusterLabels: [" + strings.Repeat(one+", ", 19) + one + "]}"
}

var _ = Describe("The kinds of metrics and applications", func() {
	DescribeTable("are accepted", func(ctx SpecContext, kind, spec string) {
		_, err := tryCreate(ctx, kind, spec)
		Expect(err).NotTo(HaveOccurred())
	},
		Entry("Krake's metric", "GlobalMetric",
			`{max: 5.0, min: 0.0, provider: {metric: heat_demand_zone_1, name: <metrics provider name>}}`),
		Entry("Krake's Prometheus provider", "GlobalMetricsProvider",
			`{type: prometheus, prometheus: {url: "http://localhost:9090"}}`),
		Entry("Krake's Kafka provider", "GlobalMetricsProvider", `{type: kafka, kafka: {comparison_column: my_comp_col, `+
			`table: my_table, url: "http://localhost:8080", value_column: my_value_col}}`),
		Entry("Krake's static provider", "GlobalMetricsProvider",
			`{type: static, static: {metrics: {heat_demand_zone_1: 0.9, electricity_cost_1: 0.1}}}`),
		Entry("a Kafka provider in our spelling", "MetricsProvider",
			`{type: kafka, kafka: {url: "https://k:1", table: t, comparisonColumn: a, valueColumn: b}}`),
		Entry("a metric of a namespace", "Metric", `{min: -1, max: 1, maxAge: 30s, allowedValues: [0, 1], provider: {name: p}}`),
		Entry("an application", "Application", manifest+`constraints: {clusterLabels: [location is DE, 'a not in (b, c)'], `+
			`clusterMetrics: ['load<5', load less than or equal 5, serverPrice <= 10, flavor.large >= 3], customResources: [a.b]}`),
		Entry("an application with words of the language as names and values", "Application",
			manifest+`constraints: {clusterLabels: [is is is, 'in in (in)', not is not not, 'not not in (not)']}`),
		Entry("an application that stays", "Application", manifest+"migration: Never\nrescheduleAfter: 5m\nstickiness: {weight: 0}"),
		Entry("a cloud", "Cloud", `{type: openstack, metrics: [{name: load, namespace: default, weight: 2}]}`),
		Entry("a cloud for all", "GlobalCloud", `{metrics: [{name: load, weight: 2}]}`),
		Entry("a project", "OpenStackProject", `{userID: u, template: t, metrics: [{name: load, weight: 3}]}`),
		Entry("a Magnum cluster", "MagnumCluster", `{masterCount: 1, nodeCount: 3, constraints: {projectLabels: [location is DE]}}`),
		Entry("a cluster to be made", "Cluster", `{provision: {cloudLabels: [location is DE], cloudMetrics: [load gt 5]}}`),
	)

	const badURL = "must be a URL such as http://localhost:9090"

	DescribeTable("are refused", func(ctx SpecContext, kind, spec string, messages ...string) {
		_, err := tryCreate(ctx, kind, spec)
		Expect(err).To(refusal(messages...))
	},
		Entry("with min equal to max", "Metric", `{min: 1, max: 1, provider: {name: p}}`, "min must be less than max"),
		Entry("with min above max", "GlobalMetric", `{min: 2, max: 1, provider: {name: p}}`, "min must be less than max"),
		Entry("without max", "GlobalMetric", `{min: 2, provider: {name: p}}`, "spec.max"),
		Entry("with an unknown type of provider", "MetricsProvider", `{type: influx}`, "influx"),
		Entry("with a type and another section", "MetricsProvider", `{type: static, prometheus: {url: "http://a"}}`,
			"the section named like the type must be there"),
		Entry("with two sections", "MetricsProvider", `{type: static, static: {metrics: {}}, prometheus: {url: "http://a"}}`,
			"the section named like the type must be there"),
		Entry("with a file as URL", "MetricsProvider", `{type: prometheus, prometheus: {url: "file:///etc/passwd"}}`, badURL),
		Entry("with a password in the URL", "MetricsProvider", `{type: prometheus, prometheus: {url: "http://a:b@c"}}`, badURL),
		Entry("with a path as URL", "MetricsProvider", `{type: prometheus, prometheus: {url: /api}}`, badURL),
		Entry("with SQL in a column", "MetricsProvider",
			`{type: kafka, kafka: {url: "http://k", table: "t; DROP", comparisonColumn: a, valueColumn: b}}`, "spec.kafka.table"),
		Entry("with a column in both spellings", "MetricsProvider",
			`{type: kafka, kafka: {url: "http://k", table: t, comparisonColumn: a, comparison_column: a, valueColumn: b}}`,
			"comparisonColumn must be there, once"),
		Entry("with credentials for a namespace", "MetricsProvider",
			`{type: static, static: {metrics: {}}, credentialsSecret: s}`, "credentialsSecret"),
		Entry("with weight 0", "Cluster", `{metrics: [{name: load, weight: 0}]}`, "spec.metrics[0].weight"),
		Entry("with a negative weight", "Cloud", `{metrics: [{name: load, weight: -1}]}`, "spec.metrics[0].weight"),
		Entry("with a metric of a namespace for all", "GlobalCloud", `{metrics: [{name: load, namespace: a, weight: 1}]}`,
			"a GlobalCloud can be ranked by GlobalMetrics only"),
		Entry("without manifests", "Application", `{manifests: []}`, "spec.manifests"),
		Entry("with a manifest without a kind", "Application", `{manifests: [{metadata: {name: a}}]}`, "spec.manifests[0].kind"),
		Entry("with a label compared by size", "Application", manifest+`constraints: {clusterLabels: [location > DE]}`,
			`spec.constraints.clusterLabels[0]: Invalid value: "location > DE": column 10: a label has no order, expected is, is not, =,`),
		Entry("with unbalanced brackets", "Application", manifest+`constraints: {clusterLabels: [a is b, 'a in (b']}`,
			`spec.constraints.clusterLabels[1]: Invalid value: "a in (b": column 8: expected a comma or a closing bracket, found the end`),
		Entry("with a misspelt operator", "PropagationPolicy",
			policyWith(`constraints: {clusterLabels: [location si DE]}`), `column 10: expected is, is not, =, ==, !=, in or not in, found "si DE"`),
		Entry("with a metric compared with a word", "Application", manifest+`constraints: {clusterMetrics: [load is high]}`,
			`column 9: expected a number such as 5, -0.5 or 1e3, with an exponent of at most 308, found "high"`),
		Entry("with a constraint that is not ASCII", "MagnumCluster", `{constraints: {projectLabels: ['löcation is DE']}}`,
			`column 1: expected the name of a label, 1 to 63 letters, digits, _, - and . (no - or . at the ends), found "löcation is DE"`),
		Entry("with a line break in a constraint", "MagnumCluster", `{constraints: {projectMetrics: ["load < 5\nx"]}}`,
			`column 8: expected a number such as 5, -0.5 or 1e3, with an exponent of at most 308, found "5\nx"`),
		Entry("with a cloud that is compared with a list", "Cluster", `{provision: {cloudMetrics: ['load in (1, 2)']}}`,
			`spec.provision.cloudMetrics[0]: Invalid value: "load in (1, 2)": column 6: a metric cannot be compared with a list`),
		Entry("with a number that would hang", "Cluster", `{provision: {cloudMetrics: ['load < 1e-2147483647']}}`,
			`column 8: expected a number`),
		Entry("with the most and longest constraints that can be", "Application", longConstraints(),
			"spec.constraints.clusterLabels[19]: Invalid value:", "column 1022: expected a comma or a closing bracket"),
		Entry("with a constraint of 10 kB", "Application",
			manifest+`constraints: {clusterLabels: [a is `+strings.Repeat("b", 10_000)+`]}`, "may not be more than 1024"),
		Entry("with a custom resource without a group", "Application", manifest+`constraints: {customResources: [crontabs]}`,
			`must be a custom resource, plural.group, such as crontabs.stable.example.com`),
		Entry("with a custom resource in capitals", "Cluster", `{customResources: [Crontabs.example.com]}`,
			`spec.customResources[0]: Invalid value: "Crontabs.example.com": must be a custom resource`),
		Entry("with an unknown way to move", "Application", manifest+`migration: Always`, "migration"),
		Entry("with a negative stickiness", "Application", manifest+`stickiness: {weight: -1}`, "spec.stickiness.weight"),
		Entry("without a template", "OpenStackProject", `{userID: u}`, "spec.template"),
	)
})
