// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const clusterNameMessage = "the name of a Cluster must be a DNS label: at most 63 lower case letters, digits and '-', " +
	"starting and ending with a letter or digit"

var _ = Describe("A Cluster", func() {
	DescribeTable("is accepted", func(ctx SpecContext, name, spec string) {
		_, err := createCluster(ctx, name, spec)
		Expect(err).NotTo(HaveOccurred())
	},
		Entry("with nothing in its spec", "empty", ``),
		Entry("with a name of 63 characters", strings.Repeat("a", 63), ``),
		Entry("with a name of digits", "7", ``),
		Entry("with nodes by name and by labels", "both", `{nodes: [n1, n2], matchLabels: {site: beijing, tier: edge}}`),
		Entry("with an IPv4 address", "v4", `ipAddress: 192.0.2.7`),
		Entry("with an IPv6 address", "v6", `ipAddress: "2001:db8::7"`),
		Entry("with everything that describes a place", "whole", `
geoLocation: {city: Bellevue, province: Washington, area: West, country: US}
region: {region: us-west, availabilityZone: us-west-1}
operator: {operator: globalk8s}
flavors: [{flavorID: small, totalCapacity: 10}, {flavorID: large, totalCapacity: 0}]
storage: [{typeID: ssd, storageCapacity: 20}]
eipCapacity: 1
cpuCapacity: 2
memCapacity: 3
serverPrice: 0
homeScheduler: scheduler-1
homeDispatcher: dispatcher-1
metrics: [{name: heat, weight: 0.5}, {name: load, namespace: team, weight: 1000000}]
customResources: [crontabs.stable.example.com]
provision: {cloudLabels: [location is DE], cloudMetrics: [load < 5]}`),
	)

	DescribeTable("is refused", func(ctx SpecContext, name, spec string, message ...string) {
		_, err := createCluster(ctx, name, spec)
		Expect(err).To(refusal(message...))
	},
		Entry("with a name of 64 characters", strings.Repeat("a", 64), ``, clusterNameMessage),
		Entry("with a name with dots", "site.beijing", ``, clusterNameMessage),
		Entry("with a name in capitals", "Beijing", ``, "metadata.name: Invalid value"),
		Entry("with an unknown field", "c", `{node: [a]}`, `unknown field "spec.node"`),
		Entry("with a field spelled as in the first proposal", "c", `{matchLables: {a: b}}`, `unknown field "spec.matchLables"`),
		Entry("with a node listed twice", "c", `{nodes: [a, b, a]}`, `spec.nodes[2]: Duplicate value: "a"`),
		Entry("with an empty node name", "c", `{nodes: [""]}`, "spec.nodes[0] in body should be at least 1 chars long"),
		Entry("with a node name of 254 characters", "c", `{nodes: [`+strings.Repeat("n", 254)+`]}`,
			"spec.nodes[0]: Too long: may not be more than 253 bytes"),
		Entry("with 5001 nodes", "c", `nodes: `+list(5001, func(i int) string { return fmt.Sprintf("n%d", i) }),
			"spec.nodes: Too many: 5001: must have at most 5000 items"),
		Entry("with 17 labels", "c",
			`matchLabels: `+strings.NewReplacer("[", "{", "]", "}").Replace(list(17, func(i int) string { return fmt.Sprintf("l%d: v", i) })),
			"spec.matchLabels: Too many: 17: must have at most 16 items"),
		Entry("with a label that is a number", "c", `{matchLabels: {rack: 7}}`,
			`spec.matchLabels.rack in body must be of type string: "integer"`),
		Entry("with an address that is none", "c", `ipAddress: 256.0.0.1`, "spec.ipAddress", "must be an IPv4 or IPv6 address"),
		Entry("with a host name for an address", "c", `ipAddress: site.example.com`, "spec.ipAddress", "must be an IPv4 or IPv6 address"),
		Entry("with a negative price", "c", `serverPrice: -1`, "spec.serverPrice in body should be greater than or equal to 0"),
		Entry("with a price in words", "c", `serverPrice: cheap`, `spec.serverPrice in body must be of type integer: "string"`),
		Entry("with negative memory", "c", `memCapacity: -1`, "spec.memCapacity in body should be greater than or equal to 0"),
		Entry("with negative CPUs", "c", `cpuCapacity: -1`, "spec.cpuCapacity in body should be greater than or equal to 0"),
		Entry("with negative addresses", "c", `eipCapacity: -1`, "spec.eipCapacity in body should be greater than or equal to 0"),
		Entry("with a flavor listed twice", "c",
			`flavors: [{flavorID: s, totalCapacity: 1}, {flavorID: s, totalCapacity: 2}]`,
			`spec.flavors[1]: Duplicate value: {"flavorID":"s"}`),
		Entry("with a flavor without a number", "c", `flavors: [{flavorID: s}]`, "spec.flavors[0].totalCapacity: Required value"),
		Entry("with a negative number of machines", "c", `flavors: [{flavorID: s, totalCapacity: -1}]`,
			"spec.flavors[0].totalCapacity in body should be greater than or equal to 0"),
		Entry("with a storage type listed twice", "c",
			`storage: [{typeID: s, storageCapacity: 1}, {typeID: s, storageCapacity: 2}]`,
			`spec.storage[1]: Duplicate value: {"typeID":"s"}`),
		Entry("with a negative amount of storage", "c", `storage: [{typeID: s, storageCapacity: -1}]`,
			"spec.storage[0].storageCapacity in body should be greater than or equal to 0"),
		Entry("with a metric of weight 0", "c", `metrics: [{name: heat, weight: 0}]`,
			"spec.metrics[0].weight in body should be greater than 0"),
		Entry("with a metric of negative weight", "c", `metrics: [{name: heat, weight: -1}]`,
			"spec.metrics[0].weight in body should be greater than 0"),
		Entry("with a metric without a name", "c", `metrics: [{weight: 1}]`, "spec.metrics[0].name: Required value"),
		Entry("with a home scheduler of 64 characters", "c", `homeScheduler: `+strings.Repeat("s", 64),
			"spec.homeScheduler: Too long: may not be more than 63 bytes"),
		Entry("with a custom resource listed twice", "c", `customResources: [a.b, a.b]`,
			`spec.customResources[1]: Duplicate value: "a.b"`),
	)
})
