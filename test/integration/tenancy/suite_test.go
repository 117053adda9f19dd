// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tenancy_test checks that a tenant with the role edit in a namespace reaches nothing of
// another namespace by Berth, whatever he writes, against a real control plane with the programs as
// they are shipped.
package tenancy_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const (
	// timeout is for what takes seconds on an idle machine.
	timeout = 150 * time.Second
	poll    = 100 * time.Millisecond

	// siteLabel on a node names its Cluster.
	siteLabel = "example.com/site"
	// replicas is how many pods the victim's workload has.
	replicas = 5
)

var (
	plane *localplane.ControlPlane
	// admin may do everything.
	admin kubernetes.Interface
	// own and foreign are the namespaces of the hostile tenant and of his victim.
	own, foreign string
	// mallory is the hostile tenant: a ServiceAccount with the role edit in his namespace.
	mallory        kubernetes.Interface
	malloryObjects dynamic.Interface
	// victim is a pod that Berth has placed by a policy.
	victim *corev1.Pod
)

func TestTenancy(t *testing.T) {
	installation.Suite{Title: "tenancy", Begin: begin}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, admin = started.ControlPlane, started.Client
	installation.Apply(ctx, plane)
	schedulerproc.Start(ctx, plane, schedulerproc.Options{Args: schedulerproc.Patient})
	schedulerproc.StartControllers(ctx, plane)
	for _, site := range []string{"east", "west"} {
		Expect(localplane.CreateNodes(ctx, admin, site, 1, map[string]string{siteLabel: site}, nil)).To(Succeed())
		_, err := started.Berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: site},
			Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{siteLabel: site}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	own, foreign = installation.CreateNamespace(ctx, admin, "mallory-"), installation.CreateNamespace(ctx, admin, "alice-")
	installation.Allow(ctx, admin, own)
	installation.Allow(ctx, admin, foreign)
	admitMallory(ctx)
	_, err := started.Berth.BerthV1alpha1().PropagationPolicies(foreign).Create(ctx, sharesOf("web"), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = admin.AppsV1().Deployments(foreign).Create(ctx, deployment("web"), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	victim = &placed(ctx)[0]
}

// admitMallory gives the hostile tenant his role, and waits until he has it, with the kinds of
// Berth that Kubernetes adds to it.
func admitMallory(ctx context.Context) {
	GinkgoHelper()
	_, err := admin.RbacV1().RoleBindings(own).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "mallory"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: own, Name: "mallory"}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	user, groups := localplane.ServiceAccountIdentity(own, "mallory")
	config, err := plane.UserConfig(user, groups...)
	Expect(err).NotTo(HaveOccurred())
	mallory, err = kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	malloryObjects, err = dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	Eventually(ctx, func(ctx context.Context) (bool, error) {
		review, err := mallory.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: own, Verb: "create", Group: berthv1alpha1.GroupName, Resource: "applications",
			}},
		}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return review.Status.Allowed, nil
	}).WithTimeout(timeout).WithPolling(poll).Should(BeTrue())
}

// sharesOf returns a policy that divides a Deployment over the Clusters, 2 to 3.
func sharesOf(name string) *berthv1alpha1.PropagationPolicy {
	return &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: name}},
			Placement: berthv1alpha1.Placement{StaticWeightList: []berthv1alpha1.StaticClusterWeight{
				{ClusterNames: []string{"east"}, Weight: 2}, {ClusterNames: []string{"west"}, Weight: 3},
			}},
		},
	}
}

// pod returns a pod of berth-scheduler.
func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			SchedulerName: schedulerproc.Name, Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}},
		},
	}
}

// deployment returns a Deployment of such pods.
func deployment(name string) *appsv1.Deployment {
	template := pod(name)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](replicas), Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels}, Spec: template.Spec},
		},
	}
}

// placed returns the victim's pods when all of them have a node and stand as the policy wants it.
func placed(ctx context.Context) []corev1.Pod {
	GinkgoHelper()
	var pods []corev1.Pod
	Eventually(ctx, func(g Gomega, ctx context.Context) {
		list, err := admin.CoreV1().Pods(foreign).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		counts := map[string]int{}
		pods = nil
		for i := range list.Items {
			if p := &list.Items[i]; p.DeletionTimestamp == nil {
				pods = append(pods, *p)
				counts[p.Annotations[berthv1alpha1.PlacedClusterAnnotation]]++
			}
		}
		g.Expect(counts).To(Equal(map[string]int{"east": 2, "west": 3}))
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	return pods
}
