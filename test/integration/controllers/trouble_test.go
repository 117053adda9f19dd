// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// longTimeout is for what waits for a lease to expire, or for an informer that looks again once in
// half a minute.
const longTimeout = 5 * time.Minute

var _ = Describe("Trouble", Serial, func() {
	It("a manager that is killed in mid-rebalance costs no further eviction", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		bj, hz := twoClusters(ctx, namespace, 2)
		newPolicy(ctx, namespace, "policy", "web", weights{bj: 1, hz: 9}, func(spec *berthv1alpha1.PropagationPolicySpec) {
			spec.Rebalance.Cooldown = &metav1.Duration{Duration: time.Second}
		})
		newDeployment(ctx, namespace, "web", 10)
		untilSpread(ctx, namespace, map[string]int{bj: 1, hz: 9})
		before := uids(ctx, namespace)

		stop := during(ctx, atLeast(namespace, 9))
		reweigh(ctx, namespace, "policy", weights{bj: 9, hz: 1})
		for _, left := range []int{7, 4} {
			Eventually(stayed).WithContext(ctx).WithArguments(namespace, before).WithTimeout(longTimeout).WithPolling(poll).
				Should(BeNumerically("<=", left))
			killManager()
			startManager(ctx)
		}
		Eventually(spread).WithContext(ctx).WithArguments(namespace).WithTimeout(longTimeout).WithPolling(poll).
			Should(Equal(map[string]int{bj: 9, hz: 1}))
		untilCondition(ctx, namespace, "policy", berthv1alpha1.PolicyPlaced, "True AsDesired")
		stop()
		expectStayed(ctx, namespace, before, 2)
	})

	It("a second instance takes over when the first is killed", func(ctx SpecContext) {
		m := settled(ctx)
		first := manager
		startManager(ctx)
		untilReady(ctx)
		Expect(first.Kill(9)).To(Succeed())
		first.Wait() //nolint:errcheck // it was killed
		m.reweigh(ctx)
		Eventually(spread).WithContext(ctx).WithArguments(m.namespace).WithTimeout(longTimeout).WithPolling(poll).
			Should(Equal(map[string]int{m.bj: 4, m.hz: 1}))
		expectStayed(ctx, m.namespace, m.before, 3)
	})

	It("an API server that is gone for a while costs no eviction and no restart", func(ctx SpecContext) {
		stopManager()
		startManager(ctx, schedulerproc.Patient...)
		DeferCleanup(func(ctx SpecContext) {
			stopManager()
			startManager(ctx)
			untilReady(ctx)
		})
		m := settled(ctx)
		Expect(plane.StopAPIServer()).To(Succeed())
		down := true
		DeferCleanup(func(ctx SpecContext) {
			if down {
				Expect(plane.StartAPIServer(ctx)).To(Succeed())
			}
		})
		Consistently(manager.Done()).WithTimeout(settle).ShouldNot(BeClosed())
		Expect(plane.StartAPIServer(ctx)).To(Succeed())
		down = false
		m.expectLeft(ctx)
		m.reweigh(ctx)
		Eventually(spread).WithContext(ctx).WithArguments(m.namespace).WithTimeout(longTimeout).WithPolling(poll).
			Should(Equal(map[string]int{m.bj: 4, m.hz: 1}))
		expectStayed(ctx, m.namespace, m.before, 3)
	})

	It("CRDs that are deleted cost no eviction and no restart, and work again when they are back", func(ctx SpecContext) {
		m := settled(ctx)
		binder.hold(m.namespace)
		defer binder.release(m.namespace)
		uninstall(ctx)
		m.expectLeft(ctx)
		Expect(manager.Done()).NotTo(BeClosed())

		Expect(localplane.ApplyCRDs(ctx, plane.Config(), installation.Path("manifests", "crds"))).To(Succeed())
		for _, name := range []string{m.bj, m.hz} {
			Eventually(func() error {
				_, err := berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
					ObjectMeta: metav1.ObjectMeta{Name: name},
					Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{clusterLabel: name}},
				}, metav1.CreateOptions{})
				return err
			}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		}
		Eventually(stateOf).WithContext(ctx).WithArguments(m.bj).WithTimeout(longTimeout).WithPolling(poll).
			Should(Equal(clusterState{2, 2, 2, nodesReady, noConflict}))
		binder.release(m.namespace)
		newPolicy(ctx, m.namespace, "policy", "web", weights{m.bj: 4, m.hz: 1})
		Eventually(spread).WithContext(ctx).WithArguments(m.namespace).WithTimeout(longTimeout).WithPolling(poll).
			Should(Equal(map[string]int{m.bj: 4, m.hz: 1}))
		expectStayed(ctx, m.namespace, m.before, 3)
	})
})

var _ = Describe("Metrics", func() {
	It("are shown to those only whom the API server lets read them", func(ctx SpecContext) {
		Expect(get(ctx, "")).To(Equal(http.StatusUnauthorized))
		namespace := newNamespace(ctx)
		Expect(get(ctx, tokenOf(ctx, namespace))).To(Equal(http.StatusForbidden))

		_, err := client.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: namespace},
			Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		reader := newNamespace(ctx)
		_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: namespace},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: namespace},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: reader, Name: "default"}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		token := tokenOf(ctx, reader)
		Eventually(metrics).WithContext(ctx).WithArguments(token).WithTimeout(timeout).WithPolling(poll).Should(And(
			ContainSubstring(`berth_evictions_total{outcome="evicted"}`),
			ContainSubstring(`berth_policy_replicas{state="misplaced"}`),
			ContainSubstring(`controller_runtime_reconcile_total{controller="policy"`),
		))
	})
})

var _ = Describe("The permissions of the manager", func() {
	// The other specs run with these permissions, so they are enough.
	DescribeTable("do not let it", func(ctx SpecContext, attributes authorizationv1.ResourceAttributes) {
		user, groups := localplane.ServiceAccountIdentity(localplane.BerthNamespace, localplane.BerthControllerManager)
		review, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: user, Groups: groups, ResourceAttributes: &attributes},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(review.Status.Allowed).To(BeFalse())
	},
		Entry("delete pods", authorizationv1.ResourceAttributes{Namespace: "default", Verb: "delete", Resource: "pods"}),
		Entry("create pods", authorizationv1.ResourceAttributes{Namespace: "default", Verb: "create", Resource: "pods"}),
		Entry("bind pods", authorizationv1.ResourceAttributes{Namespace: "default", Verb: "create", Resource: "pods", Subresource: "binding"}),
		Entry("read secrets", authorizationv1.ResourceAttributes{Namespace: "default", Verb: "get", Resource: "secrets"}),
		Entry("change nodes", authorizationv1.ResourceAttributes{Verb: "patch", Resource: "nodes"}),
		Entry("scale Deployments", authorizationv1.ResourceAttributes{
			Namespace: "default", Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "scale",
		}),
		Entry("change the spec of a Subscription", authorizationv1.ResourceAttributes{
			Namespace: "default", Verb: "patch", Group: "berth.dev", Resource: "subscriptions",
		}),
		Entry("take the lease of another program", authorizationv1.ResourceAttributes{
			Namespace: "berth-system", Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Name: "berth-scheduler",
		}),
	)
})

// stayed counts the pods of a namespace that were there before.
func stayed(ctx context.Context, namespace string, before map[string]bool) (int, error) {
	pods, err := podsOf(ctx, namespace)
	n := 0
	for _, pod := range pods {
		if before[string(pod.UID)] {
			n++
		}
	}
	return n, err
}

// uninstall deletes the CRDs and waits until they are gone. They come back with the end of the
// spec.
func uninstall(ctx context.Context) {
	GinkgoHelper()
	DeferCleanup(func(ctx SpecContext) {
		Expect(localplane.ApplyCRDs(ctx, plane.Config(), installation.Path("manifests", "crds"))).To(Succeed())
	})
	dynamicClient, err := dynamic.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	definitions := dynamicClient.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	installed, err := definitions.List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	// Deleting them as a collection would leave their objects behind.
	for i := range installed.Items {
		Expect(definitions.Delete(ctx, installed.Items[i].GetName(), metav1.DeleteOptions{})).To(Succeed())
	}
	Eventually(func(g Gomega) {
		list, err := definitions.List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(list.Items).To(BeEmpty())
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// tokenOf returns a token of the default ServiceAccount of a namespace.
func tokenOf(ctx context.Context, namespace string) string {
	GinkgoHelper()
	var token string
	Eventually(func() error {
		request, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err == nil {
			token = request.Status.Token
		}
		return err
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	return token
}

// scrape asks for the metrics. The certificate is one that the manager signed itself.
func scrape(ctx context.Context, token string) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+metricsAddress+"/metrics", http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	scraper := http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	response, err := scraper.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

func get(ctx context.Context, token string) int {
	GinkgoHelper()
	code, _, err := scrape(ctx, token)
	Expect(err).NotTo(HaveOccurred())
	return code
}

func metrics(ctx context.Context, token string) (string, error) {
	code, body, err := scrape(ctx, token)
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("the answer is %d", code)
	}
	return body, err
}
