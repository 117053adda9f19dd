// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var pagesAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/ui/`)

// startPages runs berthctl ui, and returns a function that reads a page.
func startPages(ctx context.Context, args ...string) (*gexec.Session, func(path string) string) {
	GinkgoHelper()
	session := start(ctx, "berthctl", append([]string{"ui"}, args...)...)
	Eventually(session.Out).WithContext(ctx).WithTimeout(timeout).Should(gbytes.Say("Ctrl-C"))
	address := pagesAddress.FindString(string(session.Out.Contents()))
	Expect(address).NotTo(BeEmpty())
	return session, func(path string) string {
		GinkgoHelper()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, http.NoBody)
		Expect(err).NotTo(HaveOccurred())
		response, err := http.DefaultClient.Do(request)
		Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		Expect(err).NotTo(HaveOccurred())
		return string(body)
	}
}

var _ = Describe("ui", func() {
	It("shows what there is and follows changes", func(ctx SpecContext) {
		s := newSite(ctx, 5)
		pods := s.untilPods(ctx, 5)
		s.place(ctx, pods[0], s.hangzhou, 0)
		session, page := startPages(ctx)
		Expect(page("sites")).To(And(ContainSubstring(s.beijing), ContainSubstring(s.hangzhou)))
		Expect(page("clusters/" + s.hangzhou)).To(ContainSubstring("<dt>Wanted</dt><dd>3</dd>"))
		Expect(page("clusters/" + s.hangzhou)).To(ContainSubstring("<dt>Current</dt><dd>1</dd>"))
		Expect(page("waiting")).To(ContainSubstring(pods[1]))
		Expect(page("namespaces/" + s.namespace + "/pods/" + pods[0])).To(ContainSubstring("placed it"))

		Eventually(page).WithArguments("health").WithContext(ctx).WithTimeout(timeout).
			Should(ContainSubstring("there is no Deployment berth-system/berth-controller-manager"))

		_, err := berth.BerthV1alpha1().Clusters().Patch(ctx, s.beijing, types.MergePatchType,
			[]byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(page).WithArguments("clusters/" + s.beijing).WithContext(ctx).WithTimeout(timeout).Should(ContainSubstring("cordoned"))

		session.Signal(syscall.SIGINT)
		Eventually(session).WithTimeout(timeout).Should(gexec.Exit(0))
	})

	It("shows nobody more than may be read", func(ctx SpecContext) {
		mine, other := newSite(ctx, 1), newSite(ctx, 1)
		_, err := client.RbacV1().RoleBindings(mine.namespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "reader"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: mine.namespace}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		session, page := startPages(ctx, "--as", mine.namespace, "-n", mine.namespace)
		Eventually(page).WithArguments("waiting").WithContext(ctx).WithTimeout(timeout).Should(ContainSubstring(mine.untilPods(ctx, 1)[0]))
		Expect(page("waiting")).NotTo(ContainSubstring(other.untilPods(ctx, 1)[0]))
		Expect(page("sites")).To(And(
			ContainSubstring("you have no right to list and watch"), Not(ContainSubstring(mine.beijing)), Not(ContainSubstring(other.beijing))))
		session.Interrupt()
		Eventually(session).WithTimeout(timeout).Should(gexec.Exit(0))
	})

	It("shows what it knows while the API server is away", Serial, func(ctx SpecContext) {
		s := newSite(ctx, 1)
		_, page := startPages(ctx, "-n", s.namespace)
		Expect(page("sites")).To(ContainSubstring(s.beijing))
		Expect(plane.RestartAPIServer(ctx)).To(Succeed())
		_, err := berth.BerthV1alpha1().Clusters().Patch(ctx, s.beijing, types.MergePatchType,
			[]byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(page).WithArguments("clusters/" + s.beijing).WithContext(ctx).WithTimeout(timeout).Should(And(
			ContainSubstring("cordoned"), Not(ContainSubstring("Outdated"))))
	})
})
