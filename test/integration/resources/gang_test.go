// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const gangLabel = "scheduling.x-k8s.io/pod-group"

var podGroups = schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"}

var _ = Describe("a gang", Serial, func() {
	It("that cannot be completed releases what it held, and is placed as a whole when it can be", func(ctx SpecContext) {
		s := newSite(ctx)
		s.createNode(ctx, "one", "", "32")
		s.createResource(ctx, "licence", s.capacity("", "2"))
		installPodGroups(ctx)
		replaceMain()
		// Longer than this suite takes: nothing may wait for it.
		schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "gangs", Configuration: withCoscheduling(600)}).EndAfterwards()

		s.createPodGroup(ctx, "team", 3)
		team := []string{"member-0", "member-1", "member-2"}
		s.createMany(ctx, len(team), "member", asking("licence", "1"), withLabels(map[string]string{gangLabel: "team"}))
		for _, name := range team {
			Eventually(s.reasons).WithContext(ctx).WithArguments(name).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
		}
		s.createPod(ctx, "single", asking("licence", "2"))
		s.expectBound(ctx, "single")
		s.expectToStay(ctx, waiting, team...)

		s.setCapacity(ctx, "licence", s.capacity("", "5"))
		s.expectBound(ctx, team...)
	})

	It("of which one member has waited alone for too long leaves what it held to those behind it", func(ctx SpecContext) {
		s := newSite(ctx)
		s.createNode(ctx, "one", "", "32")
		s.createResource(ctx, "licence", s.capacity("", "1"))
		installPodGroups(ctx)
		replaceMain()
		schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "lone", Configuration: withCoscheduling(3)}).EndAfterwards()

		s.createPodGroup(ctx, "pair", 2)
		s.createPod(ctx, "never", withLabels(map[string]string{gangLabel: "pair"}), byNobody)
		s.createPod(ctx, "alone", asking("licence", "1"), withLabels(map[string]string{gangLabel: "pair"}))
		s.expectNominated(ctx, "alone")
		behind := []string{"single-0", "single-1", "single-2"}
		s.createMany(ctx, len(behind), "single", asking("licence", "1"))
		for len(behind) > 0 {
			var served []string
			Eventually(func() []string {
				served = s.in(ctx, bound, behind...)
				return served
			}).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
			s.removePod(ctx, served[0])
			behind = slices.DeleteFunc(behind, func(name string) bool { return name == served[0] })
		}
	})
})

// byNobody lets no scheduler look for a pod.
func byNobody(_ *site, pod *corev1.Pod) { pod.Spec.SchedulerName = "nobody" }

// expectNominated waits until a pod has its node and waits for permission.
func (s *site) expectNominated(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(func() string { return s.get(ctx, name).Status.NominatedNodeName }).WithTimeout(timeout).WithPolling(poll).
		ShouldNot(BeEmpty(), "it does not wait for permission")
}

// withCoscheduling switches the plugin on, with which pods of a PodGroup are bound together or not
// at all, and wait so many seconds for each other.
func withCoscheduling(patience int) []byte {
	GinkgoHelper()
	return configured(func(profile map[string]any) []any {
		enabled := map[string]any{"name": "Coscheduling"}
		points, ok := profile["plugins"].(map[string]any)
		Expect(ok).To(BeTrue())
		multi, ok := points["multiPoint"].(map[string]any)
		Expect(ok).To(BeTrue())
		all, ok := multi["enabled"].([]any)
		Expect(ok).To(BeTrue())
		multi["enabled"] = append(all, enabled)
		points["queueSort"] = map[string]any{
			"enabled": []any{enabled}, "disabled": []any{map[string]any{"name": "*"}},
		}
		arguments, ok := profile["pluginConfig"].([]any)
		Expect(ok).To(BeTrue())
		profile["pluginConfig"] = append(arguments, map[string]any{
			"name": "Coscheduling", "args": map[string]any{"permitWaitingTimeSeconds": patience},
		})
		return []any{profile}
	})
}

// installPodGroups makes the API server serve PodGroups, and lets the scheduler read them.
func installPodGroups(ctx context.Context) {
	GinkgoHelper()
	where := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/scheduler-plugins")
	dir, err := where.Output()
	Expect(err).NotTo(HaveOccurred())
	Expect(localplane.ApplyCRDs(ctx, plane.Config(), filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases"))).
		To(Succeed())
	meta := metav1.ObjectMeta{Name: "berth-scheduler-gangs"}
	_, err = client.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{podGroups.Group}, Resources: []string{podGroups.Resource}, Verbs: []string{"get", "list", "watch"},
	}}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return // by another spec
	}
	Expect(err).NotTo(HaveOccurred())
	_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects: []rbacv1.Subject{{
			Kind: rbacv1.ServiceAccountKind, Namespace: localplane.BerthNamespace, Name: localplane.BerthScheduler,
		}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func (s *site) createPodGroup(ctx context.Context, name string, members int64) {
	GinkgoHelper()
	groups, err := dynamic.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	_, err = groups.Resource(podGroups).Namespace(s.namespace).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": podGroups.GroupVersion().String(), "kind": "PodGroup", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"minMember": members},
	}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}
