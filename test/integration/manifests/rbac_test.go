// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

// may asks the API server whether a user may do something, written as "VERB
// RESOURCE[.GROUP][/SUBRESOURCE] [NAMESPACE[/NAME]]".
func may(ctx context.Context, user string, groups []string, request string) bool {
	GinkgoHelper()
	words := strings.Fields(request)
	resource, subresource, _ := strings.Cut(words[1], "/")
	resource, group, _ := strings.Cut(resource, ".")
	attributes := &authorizationv1.ResourceAttributes{
		Verb: words[0], Group: group, Version: "*", Resource: resource, Subresource: subresource,
	}
	if len(words) > 2 {
		attributes.Namespace, attributes.Name, _ = strings.Cut(words[2], "/")
	}
	review, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: user, Groups: groups, ResourceAttributes: attributes},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return review.Status.Allowed
}

// permissions lists what rules allow, one line for each verb on each resource.
func permissions(rules []rbacv1.PolicyRule) sets.Set[string] {
	found := sets.New[string]()
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					line := verb + " " + resource
					if group != "" {
						line = verb + " " + resource + "." + group
					}
					if len(rule.ResourceNames) > 0 {
						line += " " + strings.Join(rule.ResourceNames, ",")
					}
					found.Insert(line)
				}
			}
		}
	}
	return found
}

// each writes "VERB RESOURCE" for all the verbs.
func each(resource string, verbs ...string) []string {
	lines := make([]string, len(verbs))
	for i, verb := range verbs {
		lines[i] = verb + " " + resource
	}
	return lines
}

func role(ctx context.Context, name string) sets.Set[string] {
	GinkgoHelper()
	found, err := client.RbacV1().ClusterRoles().Get(ctx, name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return permissions(found.Rules)
}

var _ = Describe("The scheduler's permissions", func() {
	// The API server makes the stock roles from the bootstrap policy of the Kubernetes release that
	// Berth is built from. When that policy changes, so must scheduler-rbac.yaml or the lists
	// below.
	It("are those of the stock scheduler but for what is listed here", func(ctx SpecContext) {
		stock := role(ctx, "system:kube-scheduler").Union(role(ctx, "system:volume-scheduler"))
		for _, lines := range [][]string{
			// The lease: a Role in its own namespace allows that.
			{"create leases.coordination.k8s.io"},
			each("leases.coordination.k8s.io kube-scheduler", "get", "list", "update", "watch"),
			// For coordinated leader election, which the shipped configuration does not use.
			each("leasecandidates.coordination.k8s.io",
				"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
			// Older ways to reach what is reached as pods/binding and replicasets.apps.
			{"create bindings"},
			each("replicasets.extensions", "get", "list", "watch"),
		} {
			Expect(stock.HasAll(lines...)).To(BeTrue(), "the stock roles have %v", lines)
			stock.Delete(lines...)
		}
		for _, resource := range []string{
			"clusterresources.berth.dev", "clusters.berth.dev", "propagationpolicies.berth.dev", "subscriptions.berth.dev",
			"schedulers.berth.dev", "feedparsers.berth.dev", "deployments.apps", "cronjobs.batch", "jobs.batch",
		} {
			stock.Insert(each(resource, "list", "watch")...)
		}
		// What the roles of 1.36 and 1.37 have besides, which the same manifests serve.
		stock.Insert(each("resourceclaims.resource.k8s.io", "create", "delete")...)
		stock.Insert(each("resourceclaims/binding.resource.k8s.io", "patch", "update")...)
		stock.Insert(each("devicetaintrules.resource.k8s.io", "get", "list", "watch")...)
		stock.Insert("create schedulers.berth.dev", "get schedulers.berth.dev", "patch schedulers/status.berth.dev")
		// Whom workloads belong to, and those of operators.
		stock.Insert("get applications.berth.dev", "get subscriptions.berth.dev", "get customresourcedefinitions.apiextensions.k8s.io")
		Expect(sets.List(role(ctx, "berth-scheduler"))).To(Equal(sets.List(stock)))
	})

	user, groups := localplane.ServiceAccountIdentity(systemNamespace, "berth-scheduler")

	DescribeTable("allow", func(ctx SpecContext, request string) {
		Expect(may(ctx, user, groups, request)).To(BeTrue())
	},
		Entry("reading policies of all namespaces", "watch propagationpolicies.berth.dev"),
		Entry("reading Clusters", "list clusters.berth.dev"),
		Entry("reading Deployments", "watch deployments.apps"),
		Entry("reading Jobs", "watch jobs.batch"),
		Entry("binding pods", "create pods/binding default/web"),
		Entry("preempting pods", "delete pods default/web"),
		Entry("saying why a pod waits", "patch pods/status default/web"),
		Entry("writing events", "create events.events.k8s.io default"),
		Entry("making its lease", "create leases.coordination.k8s.io berth-system"),
		Entry("renewing its lease", "update leases.coordination.k8s.io berth-system/berth-scheduler"),
		Entry("renewing its lease as one of several", "update leases.coordination.k8s.io berth-schedulers/berth-scheduler-a"),
		Entry("registering itself as one of several", "create schedulers.berth.dev a"),
		Entry("asking who reads its metrics", "create tokenreviews.authentication.k8s.io"),
		Entry("asking who may read its metrics", "create subjectaccessreviews.authorization.k8s.io"),
		Entry("reading the authority of client certificates",
			"get configmaps kube-system/extension-apiserver-authentication"),
	)

	DescribeTable("do not allow", func(ctx SpecContext, request string) {
		Expect(may(ctx, user, groups, request)).To(BeFalse())
	},
		Entry("reading Secrets", "get secrets berth-system/token"),
		Entry("reading ConfigMaps", "list configmaps kube-system"),
		Entry("changing policies", "update propagationpolicies.berth.dev default/web"),
		Entry("writing the status of policies", "patch propagationpolicies.berth.dev/status default/web"),
		Entry("changing Clusters", "patch clusters.berth.dev beijing"),
		Entry("changing ClusterResources", "patch clusterresources.berth.dev licences"),
		Entry("changing pods", "patch pods default/web"),
		Entry("creating pods", "create pods default"),
		Entry("evicting pods", "create pods/eviction default/web"),
		Entry("changing Deployments", "patch deployments.apps default/web"),
		Entry("changing nodes", "patch nodes a"),
		Entry("the lease of the default scheduler", "update leases.coordination.k8s.io kube-system/kube-scheduler"),
		Entry("changing Schedulers", "update schedulers.berth.dev a"),
		Entry("making leases elsewhere", "create leases.coordination.k8s.io kube-system"),
		Entry("the lease of berth-controller-manager",
			"update leases.coordination.k8s.io berth-system/berth-controller-manager"),
		Entry("giving permissions", "bind clusterroles.rbac.authorization.k8s.io cluster-admin"),
		Entry("acting as others", "impersonate users"),
	)
})

var _ = Describe("The controller manager's permissions", func() {
	user, groups := localplane.ServiceAccountIdentity(systemNamespace, "berth-controller-manager")

	DescribeTable("allow", func(ctx SpecContext, request string) {
		Expect(may(ctx, user, groups, request)).To(BeTrue())
	},
		Entry("reading policies of all namespaces", "watch propagationpolicies.berth.dev"),
		Entry("writing the status of policies", "patch propagationpolicies.berth.dev/status default/web"),
		Entry("writing the status of Clusters", "patch clusters.berth.dev/status beijing"),
		Entry("writing the status of ClusterResources", "patch clusterresources.berth.dev/status licences"),
		Entry("keeping ClusterResources that are in use", "patch clusterresources.berth.dev licences"),
		Entry("evicting pods", "create pods/eviction default/web"),
		Entry("writing events", "create events.events.k8s.io default"),
		Entry("making its lease", "create leases.coordination.k8s.io berth-system"),
		Entry("renewing its lease", "update leases.coordination.k8s.io berth-system/berth-controller-manager"),
		Entry("taking the lease of a scheduler that has died",
			"update leases.coordination.k8s.io berth-schedulers/berth-scheduler-a"),
		Entry("reading the credentials of a provider of metrics", "get secrets berth-credentials/prometheus"),
		Entry("placing Applications by policies", "patch propagationpolicies.berth.dev default/web"),
		Entry("letting Deployments follow their clusters", "update deployments.apps/scale default/web"),
		Entry("seeing whether a ServiceAccount exists", "get serviceaccounts default/default"),
	)

	DescribeTable("do not allow", func(ctx SpecContext, request string) {
		Expect(may(ctx, user, groups, request)).To(BeFalse())
	},
		Entry("deleting pods", "delete pods default/web"),
		Entry("binding pods", "create pods/binding default/web"),
		Entry("creating pods", "create pods default"),
		Entry("listing Secrets", "list secrets berth-credentials"),
		Entry("reading Secrets of other namespaces", "get secrets default/token"),
		Entry("reading Berth's own Secrets", "get secrets berth-system/token"),
		Entry("changing Clusters", "update clusters.berth.dev beijing"),
		Entry("deleting ClusterResources", "delete clusterresources.berth.dev licences"),
		Entry("changing ReplicaSets", "patch replicasets.apps default/web"),
		Entry("making DaemonSets", "create daemonsets.apps default"),
		Entry("making Roles", "create roles.rbac.authorization.k8s.io default"),
		Entry("making Secrets", "create secrets default"),
		Entry("changing Applications", "patch applications.berth.dev default/web"),
		Entry("changing Deployments", "update deployments.apps default/web"),
		Entry("scaling ReplicaSets", "update replicasets.apps/scale default/web"),
		Entry("changing nodes", "patch nodes a"),
		Entry("changing PodDisruptionBudgets", "patch poddisruptionbudgets.policy default/web"),
		Entry("the lease of berth-scheduler", "update leases.coordination.k8s.io berth-system/berth-scheduler"),
		Entry("giving permissions", "bind clusterroles.rbac.authorization.k8s.io cluster-admin"),
		Entry("acting as others", "impersonate users"),
		Entry("acting as ServiceAccounts", "impersonate serviceaccounts default/default"),
		Entry("making what Applications are made of", "create deployments.apps default"),
		Entry("changing what Applications are made of", "patch deployments.apps default/web"),
		Entry("deleting what leaves an Application", "delete configmaps default/settings"),
		Entry("reading what Applications are made of", "get configmaps default/settings"),
	)

	It("are in no ClusterRole to act as others", func(ctx SpecContext) {
		list, err := client.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].Name, "berth-") {
				Expect(sets.List(permissions(list.Items[i].Rules))).NotTo(ContainElement(HavePrefix("impersonate ")), list.Items[i].Name)
			}
		}
	})
})

var _ = Describe("A namespace that has allowed Berth to write", func() {
	const namespace = "allowing"
	user, groups := localplane.ServiceAccountIdentity(systemNamespace, "berth-controller-manager")
	writer, writerGroups := localplane.ServiceAccountIdentity(namespace, "default")

	BeforeEach(func(ctx SpecContext) {
		_, err := client.CoreV1().Namespaces().Create(ctx,
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			Expect(err).NotTo(HaveOccurred())
			installation.Allow(ctx, client, namespace)
		}
	})

	DescribeTable("lets", func(ctx SpecContext, user string, groups []string, request string, want bool) {
		Eventually(ctx, func(ctx context.Context) bool {
			return may(ctx, user, groups, request)
		}).WithTimeout(timeout).WithPolling(poll).Should(Equal(want))
	},
		Entry("Berth impersonate the account", user, groups, "impersonate serviceaccounts allowing/default", true),
		Entry("Berth impersonate no other", user, groups, "impersonate serviceaccounts allowing/admin", false),
		Entry("Berth impersonate none elsewhere", user, groups, "impersonate serviceaccounts default/default", false),
		Entry("Berth write nothing itself", user, groups, "create deployments.apps allowing", false),
		Entry("the account make Deployments", writer, writerGroups, "create deployments.apps allowing", true),
		Entry("the account delete ConfigMaps", writer, writerGroups, "delete configmaps allowing/settings", true),
		Entry("the account make nothing elsewhere", writer, writerGroups, "create deployments.apps default", false),
		Entry("the account give no rights", writer, writerGroups, "create rolebindings.rbac.authorization.k8s.io allowing", false),
		Entry("the account write no Applications", writer, writerGroups, "patch applications.berth.dev allowing/web", false),
		Entry("the account read no Secrets", writer, writerGroups, "get secrets allowing/token", false),
	)
})

var _ = Describe("A person's permissions", func() {
	const namespace = "default"

	bind := func(ctx context.Context, role string) string {
		GinkgoHelper()
		user := role + "-of-" + namespace
		_, err := client.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		return user
	}

	DescribeTable("on policies follow those on the namespace", func(ctx SpecContext, role string, wantEdit bool) {
		user := bind(ctx, role)
		// The aggregation of roles takes the controller a moment.
		Eventually(ctx, func(ctx context.Context) bool {
			return may(ctx, user, nil, "get propagationpolicies.berth.dev "+namespace)
		}).WithTimeout(timeout).WithPolling(poll).Should(BeTrue())
		Eventually(ctx, func(ctx context.Context) bool {
			return may(ctx, user, nil, "create propagationpolicies.berth.dev "+namespace)
		}).WithTimeout(timeout).WithPolling(poll).Should(Equal(wantEdit))
		Expect(may(ctx, user, nil, "patch propagationpolicies.berth.dev/status "+namespace+"/web")).To(BeFalse())
		Expect(may(ctx, user, nil, "get propagationpolicies.berth.dev kube-system")).To(BeFalse())
		Expect(may(ctx, user, nil, "patch clusters.berth.dev beijing")).To(BeFalse())
	},
		Entry("who may view", "view", false),
		Entry("who may edit", "edit", true),
		Entry("who administers", "admin", true),
	)

	It("on Clusters come with no role of the whole cluster but cluster-admin, except for reading", func(ctx SpecContext) {
		const user = "edits-everywhere"
		_, err := client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(ctx, func(ctx context.Context) bool {
			return may(ctx, user, nil, "list clusters.berth.dev")
		}).WithTimeout(timeout).WithPolling(poll).Should(BeTrue())
		Expect(may(ctx, user, nil, "patch clusters.berth.dev beijing")).To(BeFalse())
	})
})
