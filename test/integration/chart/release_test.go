// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// install installs the chart, and uninstalls it when the spec is over.
func install(ctx context.Context, args ...string) {
	GinkgoHelper()
	installed := run(ctx, inSystem("install", "berth", append([]string{"--create-namespace"}, args...)...)...)
	DeferCleanup(func(ctx SpecContext) {
		run(ctx, "uninstall", "berth", "--namespace", systemNamespace, "--ignore-not-found")
	})
	Expect(installed.failed).To(BeFalse(), installed.err)
}

// expectNothing checks that no object of the chart is left but those that are to be kept.
func expectNothing(ctx context.Context) {
	GinkgoHelper()
	deployments, err := client.AppsV1().Deployments(systemNamespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(deployments.Items).To(BeEmpty())
	roles, err := client.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=berth"})
	Expect(err).NotTo(HaveOccurred())
	Expect(roles.Items).To(BeEmpty())
	policies, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(policies.Items).To(BeEmpty())
}

// deployment returns what has been installed of a program.
func deployment(ctx context.Context, name string) *appsv1.Deployment {
	GinkgoHelper()
	found, err := client.AppsV1().Deployments(systemNamespace).Get(ctx, name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return found
}

// startScheduler runs berth-scheduler with the arguments and the configuration that have been
// installed, and with the rights of its ServiceAccount.
func startScheduler(ctx context.Context, name string) {
	GinkgoHelper()
	config, err := client.CoreV1().ConfigMaps(systemNamespace).Get(ctx, "scheduler-config", metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	var args []string
	for _, arg := range deployment(ctx, name).Spec.Template.Spec.Containers[0].Args {
		if !strings.HasPrefix(arg, "--config=") {
			args = append(args, arg)
		}
	}
	schedulerproc.Start(ctx, plane, schedulerproc.Options{
		Name: name, Configuration: []byte(config.Data["scheduler-config.yaml"]), Args: args,
	}).EndAfterwards()
}

// createPod creates a pod and returns it as the API server took it.
func createPod(ctx context.Context, pod *corev1.Pod) *corev1.Pod {
	GinkgoHelper()
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "image"}}
	created, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return created
}

// expectBound waits until a pod has a node, which only the scheduler that the spec runs gives it.
func expectBound(ctx context.Context, pod *corev1.Pod) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		found, err := client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Spec.NodeName).NotTo(BeEmpty())
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// boundByStock creates pods that somebody else than Berth has bound to a node, and returns them as
// they are then.
func boundByStock(ctx context.Context, node string, number int) []*corev1.Pod {
	GinkgoHelper()
	ns := installation.CreateNamespace(ctx, client, "stock-")
	bound := make([]*corev1.Pod, 0, number)
	for i := range number {
		pod := createPod(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("bound-%d", i)}})
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
		Expect(client.CoreV1().Pods(ns).Bind(ctx, binding, metav1.CreateOptions{})).To(Succeed())
		found, err := client.CoreV1().Pods(ns).Get(ctx, pod.Name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		bound = append(bound, found)
	}
	return bound
}

func createNode(ctx context.Context, name string) {
	GinkgoHelper()
	node := localplane.FakeNode(name, nil, localplane.DefaultCapacity())
	_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	})
}

var _ = Describe("A release", Serial, func() {
	It("is installed, upgraded, rolled back and uninstalled, and leaves kinds, objects and pods", func(ctx SpecContext) {
		install(ctx)
		Expect(*deployment(ctx, "berth-scheduler").Spec.Replicas).To(BeEquivalentTo(2))
		Eventually(func() error {
			_, err := berth.BerthV1alpha1().Clusters().Create(ctx,
				&berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{})
			return err
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		ns := installation.CreateNamespace(ctx, client, "kept-")
		pod := createPod(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "kept"}})
		sum := deployment(ctx, "berth-scheduler").Spec.Template.Annotations

		upgraded := run(ctx, inSystem("upgrade", "berth", "--set", "scheduler.replicas=3,scheduler.profile=AddsOnly")...)
		Expect(upgraded.failed).To(BeFalse(), upgraded.err)
		Expect(*deployment(ctx, "berth-scheduler").Spec.Replicas).To(BeEquivalentTo(3))
		Expect(deployment(ctx, "berth-scheduler").Spec.Template.Annotations).NotTo(Equal(sum))

		back := run(ctx, "rollback", "berth", "1", "--namespace", systemNamespace)
		Expect(back.failed).To(BeFalse(), back.err)
		Expect(*deployment(ctx, "berth-scheduler").Spec.Replicas).To(BeEquivalentTo(2))
		Expect(deployment(ctx, "berth-scheduler").Spec.Template.Annotations).To(Equal(sum))

		gone := run(ctx, "uninstall", "berth", "--namespace", systemNamespace)
		Expect(gone.failed).To(BeFalse(), gone.err)
		expectNothing(ctx)
		credentials, err := client.CoreV1().Namespaces().Get(ctx, "berth-credentials", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(credentials.DeletionTimestamp).To(BeNil())
		_, err = berth.BerthV1alpha1().Clusters().Get(ctx, "kept", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		found, err := client.CoreV1().Pods(ns).Get(ctx, "kept", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(found.UID).To(Equal(pod.UID))

		By("installing it again over what was kept")
		install(ctx)
		_, err = berth.BerthV1alpha1().Clusters().Get(ctx, "kept", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(berth.BerthV1alpha1().Clusters().Delete(ctx, "kept", metav1.DeleteOptions{})).To(Succeed())
	})

	It("sets the scheduler of pods that are still to be placed, where the namespace asks for it", func(ctx SpecContext) {
		createNode(ctx, "injected")
		install(ctx, "--set", "inject.namespaceSelector.matchLabels.inject=true")
		startScheduler(ctx, "berth-scheduler")
		ns := installation.CreateNamespace(ctx, client, "inject-")
		meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }
		before := createPod(ctx, &corev1.Pod{ObjectMeta: meta("before")})
		Expect(before.Spec.SchedulerName).To(Equal(corev1.DefaultSchedulerName))

		_, err := client.CoreV1().Namespaces().Patch(ctx, ns, "application/merge-patch+json",
			[]byte(`{"metadata":{"labels":{"inject":"true"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		// The API server takes a moment to learn of a policy, and of a label.
		var injected *corev1.Pod
		Eventually(func() string {
			injected = createPod(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, GenerateName: "after-"}})
			return injected.Spec.SchedulerName
		}).WithTimeout(timeout).WithPolling(poll).Should(Equal("berth-scheduler"))
		expectBound(ctx, injected)

		other := &corev1.Pod{ObjectMeta: meta("other"), Spec: corev1.PodSpec{SchedulerName: "other"}}
		Expect(createPod(ctx, other).Spec.SchedulerName).To(Equal("other"))
		placed := &corev1.Pod{ObjectMeta: meta("placed"), Spec: corev1.PodSpec{NodeName: "injected"}}
		Expect(createPod(ctx, placed).Spec.SchedulerName).To(Equal(corev1.DefaultSchedulerName))
		daemon := &corev1.Pod{ObjectMeta: meta("daemon")}
		daemon.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "1", Controller: ptr.To(true),
		}}
		Expect(createPod(ctx, daemon).Spec.SchedulerName).To(Equal(corev1.DefaultSchedulerName))
	})

	It("takes the place of the default scheduler only when that has gone", func(ctx SpecContext) {
		createNode(ctx, "instead")
		renewed := metav1.NewMicroTime(time.Now())
		leases := client.CoordinationV1().Leases("kube-system")
		lease, err := leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: "kube-scheduler"},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: ptr.To("control-plane-1_1"), LeaseDurationSeconds: ptr.To[int32](3600), RenewTime: &renewed,
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(leases.Delete(ctx, "kube-scheduler", metav1.DeleteOptions{})).To(Succeed())
		})
		refused := run(ctx, inSystem("install", "berth", "--create-namespace", "--set", "mode=Instead")...)
		Expect(refused.failed).To(BeTrue())
		Expect(refused.err).To(ContainSubstring("control-plane-1_1 renews the lease kube-system/kube-scheduler"))
		expectNothing(ctx)

		before := boundByStock(ctx, "instead", 30)
		lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(-2 * time.Hour)))
		lease.Spec.LeaseDurationSeconds = ptr.To[int32](1)
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		install(ctx, "--set", "mode=Instead")
		startScheduler(ctx, "berth-scheduler")
		ns := installation.CreateNamespace(ctx, client, "instead-")
		expectBound(ctx, createPod(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "unchanged"}}))
		taken, err := leases.Get(ctx, "kube-scheduler", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(*taken.Spec.HolderIdentity).NotTo(Equal("control-plane-1_1"))

		By("upgrading while it holds the lease")
		upgraded := run(ctx, inSystem("upgrade", "berth", "--set", "mode=Instead,scheduler.replicas=3")...)
		Expect(upgraded.failed).To(BeFalse(), upgraded.err)
		Expect(*deployment(ctx, "berth-scheduler").Spec.Replicas).To(BeEquivalentTo(3))

		By("going away again")
		gone := run(ctx, "uninstall", "berth", "--namespace", systemNamespace)
		Expect(gone.failed).To(BeFalse(), gone.err)
		for _, pod := range before {
			found, err := client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(found.UID).To(Equal(pod.UID))
			Expect(found.DeletionTimestamp).To(BeNil())
			Expect(cmp.Diff([]any{pod.Spec, pod.Labels, pod.Annotations}, []any{found.Spec, found.Labels, found.Annotations})).To(BeEmpty())
		}
	})

	It("runs schedulers with names", func(ctx SpecContext) {
		install(ctx, "--set", "mode=Named,schedulers[0].name=a,schedulers[1].name=b")
		Expect(*deployment(ctx, "berth-scheduler").Spec.Replicas).To(BeEquivalentTo(0))
		startScheduler(ctx, "berth-scheduler-a")
		Eventually(func() error {
			_, err := berth.BerthV1alpha1().Schedulers().Get(ctx, "a", metav1.GetOptions{})
			return err
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		Expect(deployment(ctx, "berth-scheduler-b").Spec.Template.Spec.Containers[0].Args).To(ContainElement("--scheduler-name=b"))
	})

	It("is refused a second time in one cluster", func(ctx SpecContext) {
		install(ctx)
		second := run(ctx, inSystem("install", "another")...)
		Expect(second.failed).To(BeTrue())
		Expect(second.err).To(ContainSubstring("Berth is installed already, as the release berth"))
	})

	It("is refused in another namespace", func(ctx SpecContext) {
		for _, namespace := range []string{"default", "kube-system"} {
			refused := run(ctx, "install", "berth", chart(), "--namespace", namespace)
			Expect(refused.failed).To(BeTrue())
			Expect(refused.err).To(ContainSubstring("not in " + namespace))
		}
		expectNothing(ctx)
	})

	It("leaves nothing where the user may not define kinds", func(ctx SpecContext) {
		_, err := client.CoreV1().Namespaces().Create(ctx,
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: systemNamespace}}, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			Expect(err).NotTo(HaveOccurred())
		}
		_, err = client.RbacV1().RoleBindings(systemNamespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "of-the-team"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "of-a-team"}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		kubeconfig, err := plane.Kubeconfig("of-a-team")
		Expect(err).NotTo(HaveOccurred())
		refused := runAs(ctx, kubeconfig, inSystem("install", "berth")...)
		Expect(refused.failed).To(BeTrue())
		Expect(refused.err).To(ContainSubstring("forbidden"))
		expectNothing(ctx)
	})
})
