// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// try asks the API server whether it would take an object whose spec is written as YAML.
func try(ctx context.Context, kind, plural, namespace, spec string) (*unstructured.Unstructured, error) {
	GinkgoHelper()
	fields := map[string]any{}
	Expect(yaml.UnmarshalStrict([]byte(spec), &fields)).To(Succeed())
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": berthv1alpha1.SchemeGroupVersion.String(), "kind": kind, "metadata": map[string]any{"name": "web"}, "spec": fields,
	}}
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	resource := objects.Resource(berthv1alpha1.SchemeGroupVersion.WithResource(plural))
	if namespace == "" {
		return resource.Create(ctx, object, options)
	}
	return resource.Namespace(namespace).Create(ctx, object, options)
}

// repeated writes n entries of a list.
func repeated(n int, format string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(format, i)
	}
	return "[" + strings.Join(entries, ", ") + "]"
}

// trySubscription fills in what the spec leaves out.
func trySubscription(ctx context.Context, spec string) (*unstructured.Unstructured, error) {
	GinkgoHelper()
	for field, value := range map[string]string{
		"subscribers": "[{clusterAffinity: {}, weight: 1}]", "feeds": "[{apiVersion: apps/v1, kind: Deployment, name: web}]",
	} {
		if !strings.Contains(spec, field) {
			spec = field + ": " + value + "\n" + spec
		}
	}
	return try(ctx, "Subscription", "subscriptions", metav1.NamespaceDefault, spec)
}

const dynamicWith = "schedulingStrategy: Dividing\ndividingScheduling: {type: Dynamic, dynamicDividing: {%s}}"

var _ = Describe("A Subscription", func() {
	It("gets its defaults from the API server", func(ctx SpecContext) {
		made, err := trySubscription(ctx, fmt.Sprintf(dynamicWith, "minClusters: 2"))
		Expect(err).NotTo(HaveOccurred())
		strategy, _, err := unstructured.NestedString(made.Object, "spec", "dividingScheduling", "dynamicDividing", "strategy")
		Expect(err).NotTo(HaveOccurred())
		Expect(strategy).To(Equal("Spread"))
		made, err = trySubscription(ctx, "")
		Expect(err).NotTo(HaveOccurred())
		Expect(made.Object["spec"]).To(HaveKeyWithValue("schedulingStrategy", "Replication"))
	})

	DescribeTable("is accepted", func(ctx SpecContext, spec string) {
		_, err := trySubscription(ctx, spec)
		Expect(err).NotTo(HaveOccurred())
	},
		Entry("that divides dynamically", "schedulingStrategy: DynamicDividing"),
		Entry("that divides dynamically, and says so twice", "schedulingStrategy: DynamicDividing\ndividingScheduling: {type: Dynamic}"),
		Entry("that divides dynamically, with a strategy but no type",
			"schedulingStrategy: DynamicDividing\ndividingScheduling: {dynamicDividing: {strategy: Binpack}}"),
		Entry("that divides by weight", "schedulingStrategy: Dividing\ndividingScheduling: {type: Static}"),
		Entry("that says how it would divide if it did", "dividingScheduling: {type: Static}"),
		Entry("with as many clusters at least as at most", fmt.Sprintf(dynamicWith, "strategy: Binpack, minClusters: 2, maxClusters: 2")),
		Entry("with preferred clusters", fmt.Sprintf(dynamicWith,
			"preferredClusters: [{weight: 100, preference: {matchExpressions: [{key: a, operator: Exists}]}}]")),
		Entry("without weights, if they do not matter", "schedulingStrategy: DynamicDividing\nsubscribers: [{clusterAffinity: {}}]"),
		Entry("with subgroups", "schedulingBySubGroup: true\nsubscribers: [{clusterAffinity: {}, subGroupStrategy: {minClusters: 2}}]"),
		Entry("with subgroups that are switched off", "schedulingBySubGroup: false\nsubscribers: [{clusterAffinity: {}}]"),
		Entry("with a hundred feeds", "feeds: "+repeated(100, "{apiVersion: v1, kind: ConfigMap, name: c%d}")),
		Entry("with objects of the same name and other kinds",
			"feeds: [{apiVersion: v1, kind: ConfigMap, name: a}, {apiVersion: v1, kind: Service, name: a}]"),
		Entry("with failover", "failover: {after: 5m, returnAfter: 30m}"),
		Entry("that never leaves a cluster", "failover: {after: Never}"),
		Entry("with a Helm release", "feeds: [{helmRelease: store}, {apiVersion: v1, kind: ConfigMap, name: a}]"),
	)

	DescribeTable("is refused", func(ctx SpecContext, spec, message string) {
		_, err := trySubscription(ctx, spec)
		Expect(err).To(MatchError(ContainSubstring(message)))
	},
		Entry("dividing, but not how", "schedulingStrategy: Dividing", "needs dividingScheduling.type"),
		Entry("dividing, with no type", "schedulingStrategy: Dividing\ndividingScheduling: {}", "needs dividingScheduling.type"),
		Entry("dynamic and static", "schedulingStrategy: DynamicDividing\ndividingScheduling: {type: Static}", "does not go with dividingScheduling.type Static"),
		Entry("static and dynamic", "schedulingStrategy: Dividing\ndividingScheduling: {type: Static, dynamicDividing: {}}", "dynamicDividing goes with type Dynamic only"),
		Entry("by weights that are all 0",
			"schedulingStrategy: Dividing\ndividingScheduling: {type: Static}\nsubscribers: [{clusterAffinity: {}}, {clusterAffinity: {}, weight: 0}]",
			"needs a subscriber with a weight above 0"),
		Entry("with a negative weight", "subscribers: [{clusterAffinity: {}, weight: -1}]", "greater than or equal to 0"),
		Entry("with a huge weight", "subscribers: [{clusterAffinity: {}, weight: 10000001}]", "less than or equal to 10000000"),
		Entry("with more clusters at least than at most", fmt.Sprintf(dynamicWith, "strategy: Binpack, minClusters: 3, maxClusters: 2"),
			"minClusters must not be greater than maxClusters"),
		Entry("with no cluster at most", fmt.Sprintf(dynamicWith, "maxClusters: 0"), "greater than or equal to 1"),
		Entry("with an unknown strategy", fmt.Sprintf(dynamicWith, "strategy: Dice"), `supported values: "Spread", "Binpack"`),
		Entry("with a preference above 100", fmt.Sprintf(dynamicWith, "preferredClusters: [{weight: 101, preference: {}}]"), "must be from 1 to 100"),
		Entry("with an unknown way of spreading", "schedulingStrategy: Scatter", `Unsupported value: "Scatter"`),
		Entry("with a subgroup that does not say how many",
			"schedulingBySubGroup: true\nsubscribers: [{clusterAffinity: {}, subGroupStrategy: {}}, {clusterAffinity: {}}]",
			"schedulingBySubGroup needs subGroupStrategy in every subscriber"),
		Entry("with less than no cluster of a subgroup", "subscribers: [{clusterAffinity: {}, subGroupStrategy: {minClusters: -1}}]", "greater than or equal to 0"),
		Entry("that lists a feed twice",
			"feeds: [{apiVersion: v1, kind: ConfigMap, name: a}, {apiVersion: v1, kind: ConfigMap, name: a}]", "Duplicate value"),
		Entry("with a Helm release that is an object, too", "feeds: [{helmRelease: store, apiVersion: v1, kind: ConfigMap, name: a}]",
			"helmRelease stands for objects: it does not go with apiVersion, kind and name"),
		Entry("with a Helm release of no name", `feeds: [{helmRelease: ""}]`, "helmRelease"),
		Entry("with a Helm release of a name that Helm would not take", "feeds: [{helmRelease: My_Store}]", "should match"),
		Entry("with a feed that is nothing", "feeds: [{}]", "name: Required value: a feed has apiVersion, kind and name, or helmRelease"),
		Entry("without feeds", "feeds: []", "at least 1 items"),
		Entry("with 101 feeds", "feeds: "+repeated(101, "{apiVersion: v1, kind: ConfigMap, name: c%d}"), "must have at most 100 items"),
		Entry("without subscribers", "subscribers: []", "at least 1 items"),
		Entry("with a feed without a kind", "feeds: [{apiVersion: v1, name: a}]", "kind: Required value"),
		Entry("with a version that is none", "feeds: [{apiVersion: a/b/c, kind: X, name: a}]", "should match"),
		Entry("with a name of 254 characters", "feeds: [{apiVersion: v1, kind: X, name: "+strings.Repeat("a", 254)+"}]", "may not be more than 253"),
		Entry("with a failover that is no duration", "failover: {after: soon}", "must be Never, or a duration from 0s to 168h"),
		Entry("with a failover that is beyond a week", "failover: {returnAfter: 169h}", "must be a duration from 0s to 168h"),
		Entry("with a misspelt field", "schedulingStratgy: Dividing", "unknown field"),
	)
})

var _ = Describe("A FeedInventory", func() {
	const start = "feeds: [{apiVersion: apps/v1, kind: Deployment, name: web"
	DescribeTable("is checked", func(ctx SpecContext, rest, message string) {
		_, err := try(ctx, "FeedInventory", "feedinventories", metav1.NamespaceDefault, start+rest+"}]")
		if message == "" {
			Expect(err).NotTo(HaveOccurred())
			return
		}
		Expect(err).To(MatchError(ContainSubstring(message)))
	},
		Entry("a feed that is copied whole", "", ""),
		Entry("a feed that is divided", ", desiredReplicas: 0, replicaJsonPath: /spec/replicas", ""),
		Entry("a path of nothing", ", replicaJsonPath: /spec/replicas", ""),
		Entry("replicas without a path", ", desiredReplicas: 3", "replicaJsonPath must be a path"),
		Entry("replicas with an empty path", ", desiredReplicas: 3, replicaJsonPath: ''", "replicaJsonPath must be a path"),
		Entry("replicas with a path in another language", ", desiredReplicas: 3, replicaJsonPath: .spec.replicas", "replicaJsonPath must be a path"),
		Entry("negative replicas", ", desiredReplicas: -3, replicaJsonPath: /spec/replicas", "greater than or equal to 0"),
		Entry("a component without a path", ", components: [{name: a, desiredReplicas: 3}]", "replicaJsonPath must be a path"),
	)
})

var _ = Describe("A FeedParser", func() {
	DescribeTable("is checked", func(ctx SpecContext, rest, message string) {
		_, err := try(ctx, "FeedParser", "feedparsers", "", "{group: x.io, kind: Ring"+rest+"}")
		if message == "" {
			Expect(err).NotTo(HaveOccurred())
			return
		}
		Expect(err).To(MatchError(ContainSubstring(message)))
	},
		Entry("paths", ", replicas: {path: /spec/replicas, default: 1}, podTemplate: {path: /spec/template}", ""),
		Entry("expressions", ", replicas: {path: /spec/a, expression: '1'}, podTemplate: {expression: object.spec}", ""),
		Entry("components", ", components: [{name: a, podTemplate: {path: /spec/a}}, {name: b, podTemplate: {path: /spec/b}}]", ""),
		Entry("nothing to read", "", "at least one of replicas, podTemplate and components"),
		Entry("components beside replicas", ", replicas: {path: /a}, components: [{name: a, podTemplate: {path: /a}}]", "do not go with"),
		Entry("a component twice", ", components: [{name: a, podTemplate: {path: /a}}, {name: a, podTemplate: {path: /b}}]", "Duplicate value"),
		Entry("two ways to a template", ", podTemplate: {path: /a, expression: a}", "either path or expression"),
		Entry("no way to a template", ", podTemplate: {}", "either path or expression"),
		Entry("a default beside an expression", ", replicas: {path: /a, default: 1, expression: '1'}", "does not go with an expression"),
		Entry("a negative default", ", replicas: {path: /a, default: -1}", "greater than or equal to 0"),
		Entry("a path in another language", ", replicas: {path: .spec.replicas}", "should match"),
		Entry("a very long expression", ", replicas: {path: /a, expression: "+strings.Repeat("a", 4097)+"}", "may not be more than 4096"),
	)
})
