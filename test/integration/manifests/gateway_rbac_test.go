// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/sets"

	"berth.dev/berth/pkg/localplane"
)

var _ = Describe("The gateway's permissions", func() {
	user, groups := localplane.ServiceAccountIdentity(systemNamespace, "berth-gateway")

	It("are these and no others", func(ctx SpecContext) {
		want := sets.New(each("clusters.berth.dev", "create", "delete", "get", "list", "update", "watch")...)
		want.Insert("list pods", "create tokenreviews.authentication.k8s.io", "create subjectaccessreviews.authorization.k8s.io")
		Expect(sets.List(role(ctx, "berth-gateway"))).To(Equal(sets.List(want)))
	})

	DescribeTable("allow", func(ctx SpecContext, request string) {
		Expect(may(ctx, user, groups, request)).To(BeTrue())
	},
		Entry("registering", "create clusters.berth.dev beijing"),
		Entry("unregistering", "delete clusters.berth.dev beijing"),
		Entry("seeing whether a cluster is in use", "list pods default"),
		Entry("asking who a caller is", "create tokenreviews.authentication.k8s.io"),
		Entry("asking what a caller may do", "create subjectaccessreviews.authorization.k8s.io"),
		Entry("reading the authority of client certificates",
			"get configmaps kube-system/extension-apiserver-authentication"),
	)

	DescribeTable("do not allow", func(ctx SpecContext, request string) {
		Expect(may(ctx, user, groups, request)).To(BeFalse())
	},
		Entry("writing the status of Clusters", "patch clusters.berth.dev/status beijing"),
		Entry("unregistering all clusters at once", "deletecollection clusters.berth.dev"),
		Entry("changing policies", "update propagationpolicies.berth.dev default/web"),
		Entry("reading Secrets", "get secrets berth-system/token"),
		Entry("reading ConfigMaps", "list configmaps kube-system"),
		Entry("deleting pods", "delete pods default/web"),
		Entry("changing nodes", "patch nodes a"),
		Entry("giving permissions", "bind clusterroles.rbac.authorization.k8s.io cluster-admin"),
		Entry("acting as others", "impersonate users"),
	)
})
