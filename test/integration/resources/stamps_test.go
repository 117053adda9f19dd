// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// stampsPolicy keeps everybody but Berth from writing stamps, administrators too.
const stampsPolicy = "berth-stamps"

// letStampsBeEdited turns the policy off until the spec is over.
func letStampsBeEdited(ctx context.Context) {
	GinkgoHelper()
	bindings := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	binding, err := bindings.Get(ctx, stampsPolicy, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(bindings.Delete(ctx, stampsPolicy, metav1.DeleteOptions{})).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		binding.ResourceVersion, binding.UID = "", ""
		_, err := bindings.Create(ctx, binding, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	})
}

var _ = Describe("an admin who edits the stamps of a pod", Serial, func() {
	edit := func(ctx context.Context, s *site, annotations string, dryRun ...string) error {
		_, err := client.CoreV1().Pods(s.namespace).Patch(ctx, "holder", types.MergePatchType,
			[]byte(`{"metadata":{"annotations":`+annotations+`}}`), metav1.PatchOptions{DryRun: dryRun})
		return err
	}

	DescribeTable("is refused, and frees nothing even where the policy that refuses it was deleted", func(ctx SpecContext, annotations string) {
		s := newSite(ctx)
		s.createNode(ctx, "one", "", "32")
		s.createResource(ctx, "licence", s.capacity("", "1"))
		s.createPod(ctx, "holder", asking("licence", "1"))
		s.expectBound(ctx, "holder")
		Eventually(edit).WithContext(ctx).WithArguments(s, annotations, metav1.DryRunAll).WithTimeout(timeout).WithPolling(poll).
			Should(MatchError(ContainSubstring("only Berth writes these annotations: ")))

		letStampsBeEdited(ctx)
		Eventually(edit).WithContext(ctx).WithArguments(s, annotations).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		s.createPod(ctx, "next", asking("licence", "1"))
		s.expectWaiting(ctx, "next", fmt.Sprintf(usedUp, s.full("licence")))
		s.expectToStay(ctx, waiting, "next")
		Eventually(s.reported).WithContext(ctx).WithArguments("licence").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"default": 1}))
		s.deletePod(ctx, "holder")
		s.expectBound(ctx, "next")
	},
		Entry("by taking them away", `{"`+berthv1alpha1.PlacedByAnnotation+`":null,"`+berthv1alpha1.ChargedAnnotation+`":null}`),
		Entry("to what cannot be read", `{"`+berthv1alpha1.ChargedAnnotation+`":"everything"}`),
		Entry("to those of another pod", `{"`+berthv1alpha1.PlacedByAnnotation+`":"somebody/else"}`),
	)
})
