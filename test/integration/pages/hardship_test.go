// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/internal/proxy"
)

// waits makes a pod that nobody schedules, and that other specs do not find.
func waits(ctx context.Context, namespace, name string) {
	GinkgoHelper()
	_, err := client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{SchedulerName: "berth-scheduler", Containers: []corev1.Container{{Name: "main", Image: "registry.invalid/a"}}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(client.CoreV1().Pods(namespace).Delete, name, *metav1.NewDeleteOptions(0))
}

// through returns a kubeconfig that leads to the API server through a proxy.
func through(ctx context.Context) (*proxy.Proxy, string) {
	GinkgoHelper()
	link, err := proxy.Start(ctx, plane.Config())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(link.Stop)
	path := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me}}]
users: [{name: me, user: {}}]
clusters: [{name: here, cluster: {server: %q}}]
`, link.Address()), 0o600)).To(Succeed())
	return link, path
}

var _ = Describe("pages in hard times", func() {
	BeforeEach(func(ctx SpecContext) {
		newSite(ctx, "beijing", nil)
		newSite(ctx, "hangzhou", nil)
	})

	It("show nothing of other namespaces to a user who may see one", func(ctx SpecContext) {
		mine, others := installation.CreateNamespace(ctx, client, "mine-"), installation.CreateNamespace(ctx, client, "others-")
		waits(ctx, mine, "my-pod")
		waits(ctx, others, "secret-pod")
		_, err := client.RbacV1().RoleBindings(mine).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "looks"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "colleague"}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		kubeconfig, err := plane.Kubeconfig("colleague")
		Expect(err).NotTo(HaveOccurred())
		s := berthctlUI(ctx, kubeconfig, "--namespace", mine)
		b := s.open(ctx, "waiting")
		Eventually(b.text).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring("my-pod"))
		b.run(chromedp.SetValue(chromedp.CSS("#namespace"), others), chromedp.Submit(chromedp.CSS("#namespace")), chromedp.WaitReady(chromedp.CSS("#live")))
		for _, page := range []string{"sites", "pools", "applications", "subscriptions", "waiting", "namespaces/" + others + "/pods/secret-pod"} {
			b.run(chromedp.Navigate(s.address+page), chromedp.WaitReady(chromedp.CSS("#live")))
			Expect(b.text()).To(And(ContainSubstring("you have no right to list and watch"), Not(ContainSubstring("secret-pod (")),
				Not(MatchRegexp(`(?m)^secret-pod`))), page)
		}
		b.forget() // the page that is not found
	})

	It("tell since when the API server does not answer, and go on when it does", func(ctx SpecContext) {
		link, kubeconfig := through(ctx)
		b := berthctlUI(ctx, kubeconfig).open(ctx, "sites")
		Expect(firsts(b.rows("sites"))).To(Equal([]string{"beijing", "hangzhou"}))
		for _, gone := range []bool{true, false, true, false} {
			link.CutOff(gone)
			link.Sever()
			cordon(ctx, "beijing", gone)
			want := ContainSubstring("Outdated: the API server does not answer since")
			if !gone {
				want = Not(want)
			}
			Eventually(b.text).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(And(want, ContainSubstring("hangzhou")))
			if !gone {
				Eventually(b.row).WithArguments("sites", "beijing").WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
					ShouldNot(ContainElement("cordoned"))
			} else {
				Expect(slices.Contains(b.row("sites", "beijing"), "cordoned")).To(BeFalse(), "it shows what it cannot know")
			}
		}
	})
})
