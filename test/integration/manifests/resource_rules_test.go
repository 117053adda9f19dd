// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func createResource(ctx context.Context, name, spec string) (*unstructured.Unstructured, error) {
	GinkgoHelper()
	return create(ctx, "clusterresources", withSpec("ClusterResource", name, spec))
}

// inPools returns a spec with one pool.
func inPools(fields string) string {
	return "capacity: [{" + fields + "}]"
}

var _ = Describe("A ClusterResource", func() {
	It("gets defaults", func(ctx SpecContext) {
		object, err := createResource(ctx, "dry-run", inPools("quantity: 50"))
		Expect(err).NotTo(HaveOccurred())
		got := into[berthv1alpha1.ClusterResource](object)
		Expect(got.Spec.Mode).To(Equal(berthv1alpha1.AnyOf))
		Expect(got.Spec.Unit.String()).To(Equal("1"))
		Expect(got.Spec.Capacity[0].Name).To(Equal("default"))
	})

	DescribeTable("is taken", func(ctx SpecContext, spec string) {
		_, err := createResource(ctx, "dry-run", spec)
		Expect(err).NotTo(HaveOccurred())
	},
		Entry("with an empty spec, for another program to report", "{}"),
		Entry("with a quantity of 0", inPools("quantity: 0")),
		Entry("with bytes", inPools("quantity: 100Gi")),
		Entry("with a fraction, of a smaller unit", "unit: 500m\n"+inPools(`quantity: "1.5"`)),
		Entry("with pools whose selectors overlap",
			"capacity: [{name: a, quantity: 1, nodeSelector: {rack: a}}, {name: all, quantity: 1}]"),
		Entry("with 500 pools", "capacity: "+list(500, func(i int) string { return "{name: p" + strconv.Itoa(i) + ", quantity: 1}" })),
	)

	DescribeTable("is refused", func(ctx SpecContext, spec, want string) {
		_, err := createResource(ctx, "dry-run", spec)
		Expect(err).To(refusal(want))
	},
		Entry("with a negative quantity", inPools(`quantity: "-1"`), "spec.capacity[0].quantity"),
		Entry("with a negative whole number", inPools("quantity: -1"), "quantity must not be negative"),
		Entry("with an exponent that would hang", inPools(`quantity: "1e-2147483647"`), "spec.capacity[0].quantity"),
		Entry("with thirty digits", inPools(`quantity: "`+strings.Repeat("9", 30)+`"`), "spec.capacity[0].quantity"),
		Entry("with no number", inPools("quantity: many"), "spec.capacity[0].quantity"),
		Entry("without a quantity", inPools("name: a"), "spec.capacity[0].quantity"),
		Entry("with two pools of one name", "capacity: [{name: a, quantity: 1}, {name: a, quantity: 2}]", "Duplicate value"),
		Entry("with two pools without a name", "capacity: [{quantity: 1}, {quantity: 2}]", "Duplicate value"),
		Entry("with a name that is no label", inPools("name: A/b, quantity: 1"), "spec.capacity[0].name"),
		Entry("with 501 pools",
			"capacity: "+list(501, func(i int) string { return "{name: p" + strconv.Itoa(i) + ", quantity: 1}" }), "at most 500 items"),
		Entry("with an unknown mode", "mode: SomeOf", "spec.mode"),
		Entry("with a unit of nothing", `unit: "0.0"`, "unit must be greater than 0"),
		Entry("with a negative unit", "unit: -1", "unit must be greater than 0"),
	)

	DescribeTable("needs a name that can be part of an annotation key", func(ctx SpecContext, name string, wantTaken bool) {
		_, err := createResource(ctx, name, "{}")
		if wantTaken {
			Expect(err).NotTo(HaveOccurred())
			return
		}
		Expect(err).To(refusal("a DNS label of at most 46 characters"))
	},
		Entry("of 46 characters", strings.Repeat("a", 46), true),
		Entry("of 47 characters", strings.Repeat("a", 47), false),
		Entry("with a dot", "a.b", false),
	)
})
