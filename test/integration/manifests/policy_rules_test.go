// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var _ = Describe("A PropagationPolicy", func() {
	It("gets its defaults from the API server", func(ctx SpecContext) {
		policy, err := createPolicy(ctx, ``)
		Expect(err).NotTo(HaveOccurred())
		spec, _, err := unstructured.NestedMap(policy.Object, "spec")
		Expect(err).NotTo(HaveOccurred())
		Expect(spec["rebalance"]).To(Equal(map[string]any{
			"mode": "Evict", "maxUnavailable": "25%", "cooldown": "10s", "minPodAge": "30s",
		}))
		Expect(spec["placement"]).To(HaveKeyWithValue("whenUnsatisfiable", "DoNotSchedule"))
	})

	DescribeTable("is accepted", func(ctx SpecContext, spec string) {
		_, err := createPolicy(ctx, spec)
		Expect(err).NotTo(HaveOccurred())
	},
		Entry("with the greatest weight", weights(`{clusterNames: [a], weight: 2147483647}`)),
		Entry("with min equal to max", weights(`{clusterNames: [a], weight: 1, min: 3, max: 3}`)),
		Entry("with max 0", weights(`{clusterNames: [a], weight: 1, max: 0}`)),
		Entry("with a number of replicas instead of a weight", weights(`{clusterNames: [a, b], replicas: 2}, {clusterNames: [c], weight: 1}`)),
		Entry("with no replicas", weights(`{clusterNames: [a], replicas: 0}`)),
		Entry("with groups", groups(`{name: stores, clusterSelector: {matchLabels: {tier: store}}, replicasPerCluster: 1},
			{name: all, clusterSelector: {}, weight: 3}, {name: few, clusterNames: [a, b], replicas: 2}, {name: burst, clusterNames: [c]}`)),
		Entry("with all that a group can have", groups(`{name: regions, clusterSelector: {matchLabels: {tier: region}}, weight: 3,
			clusterWeights: {type: Allocatable, resource: cpu}, maxClusters: 4, spreadConstraints: [{field: Province, minGroups: 2}]},
			{name: burst, clusterNames: [cloud-a], tier: 1, giveUpAfter: 1m, clusterWeights: {type: Label, labelKey: size}},
			{name: licensed, clusterNames: [b], clusterWeights: {type: Pool, clusterResource: licences}},
			{name: roomy, clusterNames: [d], clusterWeights: {type: Room}},
			{name: large, clusterNames: [e], clusterWeights: {type: Room, resource: memory}}`)),
		Entry("that follows its clusters", "scaling: {mode: FollowClusters}\n"+
			groups(`{name: stores, clusterSelector: {}, replicasPerCluster: 1}, {name: burst, clusterNames: [c], tier: 1}`)),
		Entry("that leaves scaling to others", `scaling: {mode: None}`),
		Entry("with failover", `failover: {after: 5m, returnAfter: 30m}`),
		Entry("that never leaves a cluster", `failover: {after: Never}`),
		Entry("with one weight for several clusters", weights(`{clusterNames: [a, b, c], weight: 2}`)),
		Entry("with 1000 clusters", weights(`{weight: 1, clusterNames: `+list(1000, func(i int) string { return fmt.Sprintf("c%d", i) })+`}`)),
		Entry("with a kind of another group", `resourceSelectors: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout}]`),
		Entry("with pods", `resourceSelectors: [{apiVersion: v1, kind: Pod}]`),
		Entry("with a number as maxUnavailable", rebalance(`maxUnavailable: 1`)),
		Entry("with 100% as maxUnavailable", rebalance(`maxUnavailable: 100%`)),
		Entry("with no cooldown", rebalance(`cooldown: 0s`)),
		Entry("with durations of several units", rebalance(`cooldown: 1h30m, minPodAge: 24h`)),
		Entry("that never moves pods", rebalance(`mode: Never`)),
		Entry("that places pods anyway", `placement: {whenUnsatisfiable: ScheduleAnyway, staticWeightList: [{clusterNames: [a], weight: 1}]}`),
	)

	It("is not called none, which would keep policies away from the pods that ask for it", func(ctx SpecContext) {
		_, err := createNamedPolicy(ctx, "none", ``)
		Expect(err).To(refusal("no policy can be called none"))
	})

	const (
		badDuration = "must be a duration from 0s to 24h such as 30s, 5m or 1h30m"
		badMissing  = "must be a number from 1 to 100000 or a percentage from 1% to 100%"
	)

	DescribeTable("is refused", func(ctx SpecContext, spec string, message ...string) {
		_, err := createPolicy(ctx, spec)
		Expect(err).To(refusal(message...))
	},
		Entry("with weight 0", weights(`{clusterNames: [a], weight: 0}`),
			"spec.placement.staticWeightList[0].weight in body should be greater than or equal to 1"),
		Entry("with a negative weight", weights(`{clusterNames: [a], weight: -3}`),
			"spec.placement.staticWeightList[0].weight in body should be greater than or equal to 1"),
		Entry("with a weight above 2147483647", weights(`{clusterNames: [a], weight: 2147483648}`),
			"spec.placement.staticWeightList[0].weight in body should be less than or equal to 2147483647"),
		Entry("with a weight beyond 64 bits", weights(`{clusterNames: [a], weight: 1e30}`), "weight"),
		Entry("with half a weight", weights(`{clusterNames: [a], weight: 0.5}`), `spec.placement.staticWeightList[0].weight in body must be of type integer: "number"`),
		Entry("with a weight in words", weights(`{clusterNames: [a], weight: "2"}`),
			`spec.placement.staticWeightList[0].weight in body must be of type integer: "string"`),
		Entry("without a weight", weights(`{clusterNames: [a]}`),
			"spec.placement.staticWeightList[0].weight: Required value"),
		Entry("with a weight and a number of replicas", weights(`{clusterNames: [a], weight: 1, replicas: 2}`),
			"spec.placement.staticWeightList[0].replicas: Forbidden: replicas must not be given together with weight"),
		Entry("with a number of replicas and a bound", weights(`{clusterNames: [a], replicas: 2, max: 3}`),
			"spec.placement.staticWeightList[0].replicas: Forbidden: replicas must not be given together with min or max"),
		Entry("with a negative number of replicas", weights(`{clusterNames: [a], replicas: -1}`),
			"spec.placement.staticWeightList[0].replicas in body should be greater than or equal to 0"),
		Entry("with no clusters at all", `placement: {staticWeightList: []}`,
			"spec.placement.staticWeightList in body should have at least 1 items"),
		Entry("without the list of weights", `placement: {}`, "spec.placement.staticWeightList: Required value"),
		Entry("with an entry without clusters", weights(`{clusterNames: [], weight: 1}`),
			"spec.placement.staticWeightList[0].clusterNames in body should have at least 1 items"),
		Entry("with a cluster twice in one entry", weights(`{clusterNames: [a, b, a], weight: 1}`),
			`spec.placement.staticWeightList[0].clusterNames[2]: Duplicate value: "a"`),
		Entry("with a cluster name with dots", weights(`{clusterNames: [site.a], weight: 1}`),
			"spec.placement.staticWeightList[0].clusterNames[0] in body should match"),
		Entry("with an empty cluster name", weights(`{clusterNames: [""], weight: 1}`),
			"spec.placement.staticWeightList[0].clusterNames[0] in body should be at least 1 chars long"),
		Entry("with a cluster name of 64 characters", weights(`{clusterNames: [`+strings.Repeat("a", 64)+`], weight: 1}`),
			"spec.placement.staticWeightList[0].clusterNames[0]: Too long: may not be more than 63 bytes"),
		Entry("with 1001 clusters in an entry",
			weights(`{weight: 1, clusterNames: `+list(1001, func(i int) string { return fmt.Sprintf("c%d", i) })+`}`),
			"spec.placement.staticWeightList[0].clusterNames: Too many: 1001: must have at most 1000 items"),
		Entry("with min above max", weights(`{clusterNames: [a], weight: 1, min: 3, max: 2}`),
			"spec.placement.staticWeightList[0]", "min must not be greater than max"),
		Entry("with a negative min", weights(`{clusterNames: [a], weight: 1, min: -1}`),
			"spec.placement.staticWeightList[0].min in body should be greater than or equal to 0"),
		Entry("with a negative max", weights(`{clusterNames: [a], weight: 1, max: -1}`),
			"spec.placement.staticWeightList[0].max in body should be greater than or equal to 0"),
		Entry("with an unknown whenUnsatisfiable",
			`placement: {whenUnsatisfiable: Wait, staticWeightList: [{clusterNames: [a], weight: 1}]}`,
			`spec.placement.whenUnsatisfiable: Unsupported value: "Wait": supported values: "DoNotSchedule", "ScheduleAnyway"`),
		Entry("with an unknown field", weights(`{clusterName: a, weight: 1}`),
			`unknown field "spec.placement.staticWeightList[0].clusterName"`),

		Entry("with weights and groups", `placement: {staticWeightList: [{clusterNames: [a], weight: 1}], clusterGroups: [{name: a, clusterNames: [b]}]}`,
			"spec.placement.clusterGroups: Forbidden: clusterGroups must not be given together with staticWeightList"),
		Entry("with a group without clusters", groups(`{name: a, weight: 1}`),
			"spec.placement.clusterGroups[0]", "give exactly one of clusterSelector and clusterNames"),
		Entry("with a group with names and a selector", groups(`{name: a, clusterNames: [a], clusterSelector: {}}`),
			"spec.placement.clusterGroups[0]", "give exactly one of clusterSelector and clusterNames"),
		Entry("with a group with replicas and a weight", groups(`{name: a, clusterNames: [a], replicas: 1, weight: 1}`),
			"spec.placement.clusterGroups[0].replicas: Forbidden: replicas must not be given together with weight"),
		Entry("with a group with replicasPerCluster and a weight", groups(`{name: a, clusterNames: [a], replicasPerCluster: 1, weight: 1}`),
			"spec.placement.clusterGroups[0].replicasPerCluster: Forbidden: replicasPerCluster must not be given together with weight"),
		Entry("with a group with two numbers", groups(`{name: a, clusterNames: [a], replicasPerCluster: 1, replicas: 1}`),
			"spec.placement.clusterGroups[0].replicasPerCluster: Forbidden: replicasPerCluster must not be given together with replicas"),
		Entry("with two groups of a name", groups(`{name: a, clusterNames: [a]}, {name: a, clusterNames: [b]}`),
			`spec.placement.clusterGroups[1]: Duplicate value: {"name":"a"}`),
		Entry("with a group without a name", groups(`{clusterNames: [a]}`), "spec.placement.clusterGroups[0].name: Required value"),
		Entry("with weights of clusters that all get the same", groups(`{name: a, clusterNames: [a], replicasPerCluster: 1, clusterWeights: {type: Equal}}`),
			"spec.placement.clusterGroups[0].clusterWeights: Forbidden: clusterWeights must not be given together with replicasPerCluster"),
		Entry("with weights by a label that is not named", groups(`{name: a, clusterNames: [a], clusterWeights: {type: Label}}`),
			"spec.placement.clusterGroups[0].clusterWeights.labelKey", "labelKey is required with type Label"),
		Entry("with weights by a resource that is not named", groups(`{name: a, clusterNames: [a], clusterWeights: {type: Allocatable}}`),
			"spec.placement.clusterGroups[0].clusterWeights.resource", "resource is required with type Allocatable"),
		Entry("with weights by a pool that is not named", groups(`{name: a, clusterNames: [a], clusterWeights: {type: Pool}}`),
			"spec.placement.clusterGroups[0].clusterWeights.clusterResource", "clusterResource is required with type Pool"),
		Entry("with weights by room and a label", groups(`{name: a, clusterNames: [a], clusterWeights: {type: Room, labelKey: size}}`),
			"spec.placement.clusterGroups[0].clusterWeights.labelKey", "labelKey is required with type Label"),
		Entry("with a spread over a label that is not named", groups(`{name: a, clusterNames: [a], spreadConstraints: [{field: Label, minGroups: 1}]}`),
			"spec.placement.clusterGroups[0].spreadConstraints[0].labelKey", "labelKey is required with field Label"),
		Entry("with a group with a negative weight", groups(`{name: a, clusterNames: [a], weight: -1}`),
			"spec.placement.clusterGroups[0].weight in body should be greater than or equal to 1"),
		Entry("with a group with a negative number of replicas", groups(`{name: a, clusterNames: [a], replicas: -1}`),
			"spec.placement.clusterGroups[0].replicas in body should be greater than or equal to 0"),
		Entry("with a group with a negative number for each cluster", groups(`{name: a, clusterNames: [a], replicasPerCluster: -1}`),
			"spec.placement.clusterGroups[0].replicasPerCluster in body should be greater than or equal to 0"),
		Entry("with a group in a negative tier", groups(`{name: a, clusterNames: [a], tier: -1}`),
			"spec.placement.clusterGroups[0].tier in body should be greater than or equal to 0"),
		Entry("with a group that is spread over no place", groups(`{name: a, clusterNames: [a], spreadConstraints: [{field: City, minGroups: 0}]}`),
			"spec.placement.clusterGroups[0].spreadConstraints[0].minGroups in body should be greater than or equal to 1"),
		Entry("with weights by what there is not", groups(`{name: a, clusterNames: [a], clusterWeights: {type: Size}}`),
			`spec.placement.clusterGroups[0].clusterWeights.type: Unsupported value: "Size"`),
		Entry("with a spread over more places than clusters",
			groups(`{name: a, clusterNames: [a], maxClusters: 2, spreadConstraints: [{field: City, minGroups: 3}]}`),
			"spec.placement.clusterGroups[0].spreadConstraints", "minGroups must not be greater than maxClusters"),
		Entry("with no cluster at most", groups(`{name: a, clusterNames: [a], maxClusters: 0}`),
			"spec.placement.clusterGroups[0].maxClusters in body should be greater than or equal to 1"),
		Entry("with a failover that is no duration", `failover: {after: soon}`, "spec.failover.after", "must be Never, or a duration"),
		Entry("with a group that gives up at once", groups(`{name: a, clusterNames: [a], giveUpAfter: 0s}`),
			"spec.placement.clusterGroups[0].giveUpAfter", "must be a duration from 1s to 24h"),
		Entry("that follows clusters with weights", "scaling: {mode: FollowClusters}\n"+groups(`{name: a, clusterNames: [a]}`),
			"spec.scaling.mode", "mode FollowClusters needs clusterGroups with replicasPerCluster"),
		Entry("with another scaling mode", `scaling: {mode: Always}`,
			`spec.scaling.mode: Unsupported value: "Always"`),
		Entry("with 10000 groups", groups(strings.Trim(list(10000, func(i int) string { return fmt.Sprintf("{name: g%d, clusterNames: [c%d]}", i, i) }), "[]")),
			"spec.placement.clusterGroups: Too many: 10000: must have at most 100 items"),

		Entry("without a placement", `placement: null`, "spec.placement: Required value"),
		Entry("without selectors", `resourceSelectors: []`, "spec.resourceSelectors in body should have at least 1 items"),
		Entry("with a selector without a kind", `resourceSelectors: [{apiVersion: apps/v1}]`,
			"spec.resourceSelectors[0].kind: Required value"),
		Entry("with a kind in small letters", `resourceSelectors: [{apiVersion: apps/v1, kind: deployment}]`,
			"spec.resourceSelectors[0].kind in body should match '^[A-Z][A-Za-z0-9]*$'"),
		Entry("with a group without a version", `resourceSelectors: [{apiVersion: apps, kind: Deployment}]`,
			"spec.resourceSelectors[0].apiVersion in body should match"),
		Entry("with a workload name of 254 characters",
			`resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: `+strings.Repeat("n", 254)+`}]`,
			"spec.resourceSelectors[0].name: Too long: may not be more than 253 bytes"),

		Entry("with an unknown mode", rebalance(`mode: Delete`),
			`spec.rebalance.mode: Unsupported value: "Delete": supported values: "Evict", "Never"`),
		Entry("with maxUnavailable 0", rebalance(`maxUnavailable: 0`), "spec.rebalance.maxUnavailable", badMissing),
		Entry("with a negative maxUnavailable", rebalance(`maxUnavailable: -1`), "spec.rebalance.maxUnavailable", badMissing),
		Entry("with a huge maxUnavailable", rebalance(`maxUnavailable: 100001`), "spec.rebalance.maxUnavailable", badMissing),
		Entry("with maxUnavailable 0%", rebalance(`maxUnavailable: 0%`), "spec.rebalance.maxUnavailable", badMissing),
		Entry("with maxUnavailable 101%", rebalance(`maxUnavailable: 101%`), "spec.rebalance.maxUnavailable", badMissing),
		Entry("with a quoted number as maxUnavailable", rebalance(`maxUnavailable: "3"`), "spec.rebalance.maxUnavailable", badMissing),
		Entry("with maxUnavailable in words", rebalance(`maxUnavailable: some`), "spec.rebalance.maxUnavailable", badMissing),
		Entry("with a cooldown without a unit", rebalance(`cooldown: "10"`), "spec.rebalance.cooldown", badDuration),
		Entry("with a number as cooldown", rebalance(`cooldown: 10`), "spec.rebalance.cooldown", "must be of type string"),
		Entry("with a negative cooldown", rebalance(`cooldown: -1s`), "spec.rebalance.cooldown", badDuration),
		Entry("with a cooldown beyond a day", rebalance(`cooldown: 24h1s`), "spec.rebalance.cooldown", badDuration),
		Entry("with a cooldown that is longer than any is", rebalance(`cooldown: `+strings.Repeat("1", 100000)+`s`),
			"spec.rebalance.cooldown", badDuration),
		Entry("with a minPodAge that is no duration", rebalance(`minPodAge: soon`), "spec.rebalance.minPodAge", badDuration),
		Entry("with a minPodAge in days", rebalance(`minPodAge: 1d`), "spec.rebalance.minPodAge", badDuration),
		Entry("with a minPodAge beyond a day", rebalance(`minPodAge: 25h`), "spec.rebalance.minPodAge", badDuration),
	)
})
