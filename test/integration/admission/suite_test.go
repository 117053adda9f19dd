// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission_test checks the ValidatingAdmissionPolicies that are shipped, against a real
// API server: what a tenant may not write on pods, on every way to write it, and that everything
// else goes on as before.
package admission_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

const (
	// timeout is for what takes well under a second on an idle machine.
	timeout = 150 * time.Second
	poll    = 50 * time.Millisecond

	berthScheduler = "berth-scheduler"
	nodeName       = "node-0"
)

var (
	plane *localplane.ControlPlane
	// tenant may do everything that roles can allow, so what it is refused, admission refuses.
	// scheduler and controllers are Berth's programs, with the permissions that are shipped.
	tenant, scheduler, controllers kubernetes.Interface
	// objects is the tenant's client of any kind.
	objects dynamic.Interface
)

func TestAdmission(t *testing.T) {
	installation.Suite{Title: "Admission policies", Begin: begin}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	var admin kubernetes.Interface
	plane, admin = started.ControlPlane, started.Client
	installation.Apply(ctx, plane)
	Expect(localplane.CreateNodes(ctx, admin, "node", 1, nil, nil)).To(Succeed())

	_, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "tenant"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "tenant"}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	tenant = as("tenant")
	config, err := plane.UserConfig("tenant")
	Expect(err).NotTo(HaveOccurred())
	objects, err = dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	user, groups := localplane.ServiceAccountIdentity(localplane.BerthNamespace, localplane.BerthScheduler)
	scheduler = as(user, groups...)
	user, groups = localplane.ServiceAccountIdentity(localplane.BerthNamespace, localplane.BerthControllerManager)
	controllers = as(user, groups...)

	By("waiting until the API server has taken up all policies")
	for _, annotation := range []string{"berth.dev/seat", requestPrefix + "a", byLabel} {
		Eventually(ctx, func(ctx context.Context) error {
			_, err := tenant.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, pod(annotated(annotation, "1")), dryRun)
			return err
		}).WithTimeout(timeout).WithPolling(poll).Should(HaveOccurred())
	}
}

// as returns a client of a user.
func as(user string, groups ...string) kubernetes.Interface {
	GinkgoHelper()
	config, err := plane.UserConfig(user, groups...)
	Expect(err).NotTo(HaveOccurred())
	client, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	return client
}

// refused matches an error of one of the policies that says why.
func refused(why string) gomegatypes.GomegaMatcher {
	return MatchError(And(ContainSubstring("ValidatingAdmissionPolicy 'berth-"), ContainSubstring(why)))
}

// create creates the pod as the tenant.
func create(ctx context.Context, object *corev1.Pod) (*corev1.Pod, error) {
	created, err := tenant.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, object, metav1.CreateOptions{})
	if err == nil {
		DeferCleanup(func(ctx SpecContext) {
			now := int64(0)
			options := metav1.DeleteOptions{GracePeriodSeconds: &now}
			Expect(tenant.CoreV1().Pods(metav1.NamespaceDefault).Delete(ctx, created.Name, options)).To(Succeed())
		})
	}
	return created, err
}

func mustCreate(ctx context.Context, object *corev1.Pod) *corev1.Pod {
	GinkgoHelper()
	created, err := create(ctx, object)
	Expect(err).NotTo(HaveOccurred())
	return created
}
