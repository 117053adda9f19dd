// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
)

// list is what was read of a kind.
type list[T any] struct {
	items []T
	err   error
}

// listed returns what was read of a kind, or why it could not be. Of a kind that is not served
// there is nothing; another check tells of the kind.
func listed[L, T any](kind string, read L, err error, items func(L) []T) list[T] {
	if apierrors.IsNotFound(err) {
		return list[T]{}
	}
	if err != nil {
		return list[T]{err: client.DescribeError("listing "+kind, err)}
	}
	return list[T]{items: items(read)}
}

// each returns what is to be known of items.
func each[T, R any](items []T, of func(*T) R) []R {
	found := make([]R, 0, len(items))
	for i := range items {
		found = append(found, of(&items[i]))
	}
	return found
}

// add adds what was read of another kind, or why it could not be.
func (l *list[T]) add(more list[T]) {
	l.items, l.err = append(l.items, more.items...), errors.Join(l.err, more.err)
}

// state is what was read of a cluster at one time.
type state struct {
	version    *version.Info
	versionErr error
	// now is the time of the API server.
	now    time.Time
	nowErr error
	// kinds are the kinds of Berth that are served, by resource.
	kinds    map[string]bool
	kindsErr error
	// definitions are what is installed of all kinds, not of Berth's alone.
	definitions list[apiextensionsv1.CustomResourceDefinition]
	// injectionVersion is the version in which the API server serves MutatingAdmissionPolicies, empty
	// if it does not.
	injectionVersion string

	deployments     list[appsv1.Deployment]
	systemPods      list[corev1.Pod]
	hosts           hosts
	pending         list[corev1.Pod]
	configs         list[corev1.ConfigMap]
	secrets         list[corev1.Secret]
	leases          list[coordinationv1.Lease]
	accounts        list[corev1.ServiceAccount]
	roles           list[role]
	roleBindings    list[binding]
	flows           list[flowcontrolv1.FlowSchema]
	policies        list[admissionv1.ValidatingAdmissionPolicy]
	policyBindings  list[admissionv1.ValidatingAdmissionPolicyBinding]
	injections      list[injection]
	clusters        list[berthv1alpha1.Cluster]
	conditioned     list[conditioned]
	resources       list[berthv1alpha1.ClusterResource]
	schedulers      list[berthv1alpha1.Scheduler]
	missingRights   list[string]
	schedulerLeases list[coordinationv1.Lease]
}

// conditioned is an object with its conditions.
type conditioned struct {
	name       string
	conditions []metav1.Condition
}

// readPre reads what tells whether Berth could be installed.
func readPre(ctx context.Context, c client.Clients) *state {
	s := &state{}
	if !s.readServer(ctx, c) {
		return s
	}
	s.missingRights = missingRights(ctx, c)
	s.readWorkloads(ctx, c)
	s.readLeases(ctx, c)
	return s
}

// read reads what tells whether Berth works.
func read(ctx context.Context, c client.Clients) *state {
	s := &state{}
	if !s.readServer(ctx, c) {
		return s
	}
	s.readWorkloads(ctx, c)
	s.readLeases(ctx, c)
	s.definitions = readDefinitions(ctx, c)
	s.readPermissions(ctx, c)
	s.readRules(ctx, c)
	s.readObjects(ctx, c)
	return s
}

// readServer reports whether the API server answers.
func (s *state) readServer(ctx context.Context, c client.Clients) bool {
	s.version, s.versionErr = c.Kubernetes.Discovery().ServerVersion()
	if s.versionErr != nil {
		s.versionErr = client.DescribeError("asking the API server for its version", s.versionErr)
		return false
	}
	s.now, s.nowErr = c.ServerTime(ctx)
	served, err := c.Kubernetes.Discovery().ServerResourcesForGroupVersion(berthv1alpha1.SchemeGroupVersion.String())
	if err != nil && !apierrors.IsNotFound(err) {
		s.kindsErr = client.DescribeError("asking for the kinds of Berth", err)
	}
	s.kinds = map[string]bool{}
	if err == nil {
		for i := range served.APIResources {
			s.kinds[served.APIResources[i].Name] = true
		}
	}
	s.injectionVersion = injectionVersion(c)
	return true
}

func (s *state) readWorkloads(ctx context.Context, c client.Clients) {
	deployments, err := c.Kubernetes.AppsV1().Deployments(berthv1alpha1.SystemNamespace).List(ctx, metav1.ListOptions{})
	s.deployments = listed("Deployments", deployments, err, func(l *appsv1.DeploymentList) []appsv1.Deployment { return l.Items })
	core := c.Kubernetes.CoreV1()
	pods, err := core.Pods(berthv1alpha1.SystemNamespace).List(ctx, metav1.ListOptions{})
	s.systemPods = listed("pods", pods, err, podsOf)
	s.hosts = readHosts(ctx, c, s.systemPods.items)
	configs, err := core.ConfigMaps(berthv1alpha1.SystemNamespace).List(ctx, metav1.ListOptions{})
	s.configs = listed("ConfigMaps", configs, err, func(l *corev1.ConfigMapList) []corev1.ConfigMap { return l.Items })
	secrets, err := core.Secrets(berthv1alpha1.SystemNamespace).List(ctx, metav1.ListOptions{FieldSelector: "type=" + string(corev1.SecretTypeTLS)})
	s.secrets = listed("Secrets", secrets, err, func(l *corev1.SecretList) []corev1.Secret { return l.Items })
	if apierrors.IsForbidden(err) {
		s.secrets = list[corev1.Secret]{} // whoever may not read them cannot be told of certificates in them
	}
	pending, err := core.Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName="})
	s.pending = listed("pods", pending, err, podsOf)
}

func podsOf(l *corev1.PodList) []corev1.Pod { return l.Items }

func leasesOf(l *coordinationv1.LeaseList) []coordinationv1.Lease { return l.Items }

// readLeases reads the leases of Berth's namespace and, for the mode in which Berth stands in for
// it, that of the default scheduler.
func (s *state) readLeases(ctx context.Context, c client.Clients) {
	read, err := c.Kubernetes.CoordinationV1().Leases(berthv1alpha1.SystemNamespace).List(ctx, metav1.ListOptions{})
	s.leases = listed("leases", read, err, leasesOf)
	byName := metav1.ListOptions{FieldSelector: "metadata.name=" + stockLease}
	read, err = c.Kubernetes.CoordinationV1().Leases(metav1.NamespaceSystem).List(ctx, byName)
	s.schedulerLeases = listed("leases of kube-system", read, err, leasesOf)
}

// readPermissions reads what ServiceAccounts there are, and what they may do.
func (s *state) readPermissions(ctx context.Context, c client.Clients) {
	all := metav1.ListOptions{}
	accounts, err := c.Kubernetes.CoreV1().ServiceAccounts(berthv1alpha1.SystemNamespace).List(ctx, all)
	s.accounts = listed("ServiceAccounts", accounts, err, func(l *corev1.ServiceAccountList) []corev1.ServiceAccount { return l.Items })
	rbac := c.Kubernetes.RbacV1()
	wide, err := rbac.ClusterRoles().List(ctx, all)
	s.roles = listed("ClusterRoles", wide, err, func(l *rbacv1.ClusterRoleList) []role { return each(l.Items, ofClusterRole) })
	wideBound, err := rbac.ClusterRoleBindings().List(ctx, all)
	s.roleBindings = listed("ClusterRoleBindings", wideBound, err,
		func(l *rbacv1.ClusterRoleBindingList) []binding { return each(l.Items, ofClusterBinding) })
	for _, namespace := range []string{
		berthv1alpha1.SystemNamespace, berthv1alpha1.DefaultLeaseNamespace, providersNamespace, stockNamespace,
	} {
		read, err := rbac.Roles(namespace).List(ctx, all)
		s.roles.add(listed("Roles of "+namespace, read, err, func(l *rbacv1.RoleList) []role { return each(l.Items, ofRole) }))
		bound, err := rbac.RoleBindings(namespace).List(ctx, all)
		s.roleBindings.add(listed("RoleBindings of "+namespace, bound, err,
			func(l *rbacv1.RoleBindingList) []binding { return each(l.Items, ofBinding) }))
	}
}

// readRules reads by what rules the API server treats requests.
func (s *state) readRules(ctx context.Context, c client.Clients) {
	all := metav1.ListOptions{}
	flows, err := c.Kubernetes.FlowcontrolV1().FlowSchemas().List(ctx, all)
	s.flows = listed("FlowSchemas", flows, err, func(l *flowcontrolv1.FlowSchemaList) []flowcontrolv1.FlowSchema { return l.Items })
	admission := c.Kubernetes.AdmissionregistrationV1()
	policies, err := admission.ValidatingAdmissionPolicies().List(ctx, all)
	s.policies = listed("ValidatingAdmissionPolicies", policies, err,
		func(l *admissionv1.ValidatingAdmissionPolicyList) []admissionv1.ValidatingAdmissionPolicy {
			return l.Items
		})
	bindings, err := admission.ValidatingAdmissionPolicyBindings().List(ctx, all)
	s.policyBindings = listed("ValidatingAdmissionPolicyBindings", bindings, err,
		func(l *admissionv1.ValidatingAdmissionPolicyBindingList) []admissionv1.ValidatingAdmissionPolicyBinding {
			return l.Items
		})
	if s.injectionVersion != "" {
		s.injections = readInjections(ctx, c, s.injectionVersion)
	}
}

// readObjects reads what users have written. Without the kinds there is none.
func (s *state) readObjects(ctx context.Context, c client.Clients) {
	if len(s.kinds) == 0 {
		return
	}
	api, all := c.Berth.BerthV1alpha1(), metav1.ListOptions{}
	clusters, err := api.Clusters().List(ctx, all)
	s.clusters = listed("Clusters", clusters, err, func(l *berthv1alpha1.ClusterList) []berthv1alpha1.Cluster { return l.Items })
	resources, err := api.ClusterResources().List(ctx, all)
	s.resources = listed("ClusterResources", resources, err,
		func(l *berthv1alpha1.ClusterResourceList) []berthv1alpha1.ClusterResource { return l.Items })
	schedulers, err := api.Schedulers().List(ctx, all)
	s.schedulers = listed("Schedulers", schedulers, err, func(l *berthv1alpha1.SchedulerList) []berthv1alpha1.Scheduler { return l.Items })
	policies, err := api.PropagationPolicies(metav1.NamespaceAll).List(ctx, all)
	s.conditioned = listed("PropagationPolicies", policies, err,
		func(l *berthv1alpha1.PropagationPolicyList) []conditioned { return each(l.Items, ofPolicy) })
	wide, err := api.ClusterPropagationPolicies().List(ctx, all)
	s.conditioned.add(listed("ClusterPropagationPolicies", wide, err,
		func(l *berthv1alpha1.ClusterPropagationPolicyList) []conditioned {
			return each(l.Items, ofClusterPolicy)
		}))
	parsers, err := api.FeedParsers().List(ctx, all)
	s.conditioned.add(listed("FeedParsers", parsers, err,
		func(l *berthv1alpha1.FeedParserList) []conditioned { return each(l.Items, ofParser) }))
}

func ofPolicy(p *berthv1alpha1.PropagationPolicy) conditioned {
	return conditioned{name: "PropagationPolicy " + p.Namespace + "/" + p.Name, conditions: p.Status.Conditions}
}

func ofClusterPolicy(p *berthv1alpha1.ClusterPropagationPolicy) conditioned {
	return conditioned{name: "ClusterPropagationPolicy " + p.Name, conditions: p.Status.Conditions}
}

func ofParser(p *berthv1alpha1.FeedParser) conditioned {
	return conditioned{name: "FeedParser " + p.Name, conditions: p.Status.Conditions}
}

// needed is what whoever installs Berth must be allowed to create, by group and resource.
var needed = [][2]string{
	{"", "namespaces"}, {"", "serviceaccounts"}, {"", "services"}, {"", "configmaps"},
	{"apps", "deployments"}, {"policy", "poddisruptionbudgets"}, {"networking.k8s.io", "networkpolicies"},
	{"apiextensions.k8s.io", "customresourcedefinitions"},
	{rbacv1.GroupName, "clusterroles"}, {rbacv1.GroupName, "clusterrolebindings"},
	{rbacv1.GroupName, "roles"}, {rbacv1.GroupName, "rolebindings"},
	{"flowcontrol.apiserver.k8s.io", "flowschemas"},
	{"admissionregistration.k8s.io", "validatingadmissionpolicies"},
	{"admissionregistration.k8s.io", "validatingadmissionpolicybindings"},
}

// missingRights asks the API server what the user may not create of what is needed.
func missingRights(ctx context.Context, c client.Clients) list[string] {
	var missing list[string]
	for _, resource := range needed {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Group: resource[0], Resource: resource[1]},
		}}
		answer, err := c.Kubernetes.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return list[string]{err: client.DescribeError(fmt.Sprintf("asking for the right to create %s", resource[1]), err)}
		}
		if !answer.Status.Allowed {
			missing.items = append(missing.items, resource[1])
		}
	}
	return missing
}
