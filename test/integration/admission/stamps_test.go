// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// requests are annotations of users, which Berth only reads or writes on their behalf.
var requests = []string{"groupingpolicy.kubeedge.io", "controller.kubernetes.io/pod-deletion-cost"}

var _ = Describe("What Berth notes on a pod", func() {
	const why = "only Berth writes these annotations: "

	It("cannot be there when a pod is created", func(ctx SpecContext) {
		for _, key := range stamps {
			_, err := create(ctx, pod(annotated(key, "1")))
			Expect(err).To(refused(why + key + "; leave them out of pods and pod templates"))
		}
	})

	It("is told by name, all of it", func(ctx SpecContext) {
		_, err := create(ctx, pod(annotated("berth.dev/charged", "a/b=1"), annotated("berth.dev/seat", "1")))
		Expect(err).To(refused(why + "berth.dev/seat, berth.dev/charged"))
	})

	DescribeTable("cannot be written, changed or removed later", func(ctx SpecContext, subresource string) {
		bound, waiting := placed(ctx), mustCreate(ctx, pod())
		for _, key := range stamps {
			Expect(annotate(ctx, tenant, waiting, subresource, key, "1")).To(refused(why + key))
			Expect(annotate(ctx, tenant, bound, subresource, key, "after")).To(refused(why + key))
			Expect(annotate(ctx, tenant, bound, subresource, key, nil)).To(refused(why + key))
		}
	},
		Entry("on the pod", ""),
		Entry("on its status", "status"),
	)

	It("cannot be written on its status by Berth's own scheduler", func(ctx SpecContext) {
		bound := placed(ctx)
		for _, key := range stamps {
			if key != "berth.dev/settled" {
				Expect(annotate(ctx, scheduler, bound, "status", key, "after")).To(refused(why + key))
			}
		}
	})

	It("tells that a Binding was settled, in a write of Berth's scheduler to the status or of its controllers", func(ctx SpecContext) {
		waiting := mustCreate(ctx, pod())
		Expect(annotate(ctx, scheduler, waiting, "status", "berth.dev/settled", "once")).To(Succeed())
		Expect(annotate(ctx, controllers, waiting, "", "berth.dev/settled", "twice")).To(Succeed())
		Expect(annotate(ctx, tenant, waiting, "", "berth.dev/settled", "thrice")).To(refused(why + "berth.dev/settled"))
	})

	type binder func(context.Context, kubernetes.Interface, *corev1.Binding) error
	DescribeTable("cannot be brought in by a Binding of a tenant", func(ctx SpecContext, bind binder) {
		waiting := mustCreate(ctx, pod(scheduledBy("another")))
		for _, key := range stamps {
			Expect(bind(ctx, tenant, binding(waiting, key, "1"))).To(refused(why + key))
		}
		Expect(bind(ctx, controllers, binding(waiting))).To(MatchError(ContainSubstring("cannot create resource")))
		Expect(bind(ctx, tenant, binding(waiting, "example.com/own", "1"))).To(Succeed())
	},
		Entry("of pods/binding", bindPod),
		Entry("of bindings", bindOld),
	)

	It("is kept up to date by Berth's controllers, as far as it may change", func(ctx SpecContext) {
		bound := placed(ctx)
		for _, key := range []string{"berth.dev/policy", "berth.dev/cluster", "berth.dev/seat"} {
			Expect(annotate(ctx, controllers, bound, "", key, "after")).To(Succeed())
			Expect(annotate(ctx, controllers, bound, "", key, nil)).To(Succeed())
		}
		for _, key := range []string{"berth.dev/placed-by", "berth.dev/charged"} {
			Expect(annotate(ctx, controllers, bound, "", key, "after")).To(refused(why + key))
		}
		for _, key := range requests {
			Expect(annotate(ctx, controllers, bound, "", key, "1")).To(Succeed())
		}
	})

	It("is completed by Berth's controllers on bound pods of its schedulers that carry none", func(ctx SpecContext) {
		for name, tc := range map[string]struct {
			pod  *corev1.Pod
			mark func(*corev1.Pod) string
			want bool
		}{
			"the mark that fits":     {pod(scheduledBy(berthScheduler), onNode), fitting, true},
			"a mark of another node": {pod(scheduledBy(berthScheduler), onNode), func(p *corev1.Pod) string { return string(p.UID) + "/other" }, false},
			"of another pod":         {pod(scheduledBy(berthScheduler), onNode), func(*corev1.Pod) string { return "uid/" + nodeName }, false},
			"before it is bound":     {pod(scheduledBy(berthScheduler)), fitting, false},
			"of another scheduler":   {pod(scheduledBy("another"), onNode), fitting, false},
		} {
			made := mustCreate(ctx, tc.pod)
			Expect(annotate(ctx, tenant, made, "", "berth.dev/placed-by", tc.mark(made))).To(refused(why+"berth.dev/placed-by"), name)
			err := annotate(ctx, controllers, made, "", "berth.dev/placed-by", tc.mark(made))
			if tc.want {
				Expect(err).NotTo(HaveOccurred(), name)
				Expect(annotate(ctx, controllers, made, "", "berth.dev/placed-by", nil)).To(refused(why+"berth.dev/placed-by"), name)
			} else {
				Expect(err).To(refused(why+"berth.dev/placed-by"), name)
			}
		}
		bound := placed(ctx) // with charges, under a mark that does not fit
		Expect(annotate(ctx, controllers, bound, "", "berth.dev/placed-by", fitting(bound))).To(refused(why + "berth.dev/placed-by"))
	})

	It("is a label, too, that only Berth writes", func(ctx SpecContext) {
		const key, refusal = "berth.dev/cluster", "only Berth writes the label berth.dev/cluster"
		label := func(p *corev1.Pod) { metav1.SetMetaDataLabel(&p.ObjectMeta, key, "a") }
		_, err := create(ctx, pod(label))
		Expect(err).To(refused(refusal + "; leave them out of pods and pod templates"))

		waiting := mustCreate(ctx, pod(scheduledBy(berthScheduler)))
		b := binding(waiting)
		metav1.SetMetaDataLabel(&b.ObjectMeta, key, "a")
		Expect(bindPod(ctx, tenant, b)).To(refused(refusal))
		Expect(bindOld(ctx, tenant, b)).To(refused(refusal))
		Expect(bindPod(ctx, scheduler, b)).To(Succeed())
		bound, err := tenant.CoreV1().Pods(waiting.Namespace).Get(ctx, waiting.Name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(bound.Labels).To(HaveKeyWithValue(key, "a"))
		for _, subresource := range []string{"", "status"} {
			Expect(relabel(ctx, tenant, bound, subresource, key, "b")).To(refused(refusal))
			Expect(relabel(ctx, tenant, bound, subresource, key, nil)).To(refused(refusal))
			Expect(relabel(ctx, tenant, bound, subresource, "example.com/own", "b")).To(Succeed())
		}
		Expect(relabel(ctx, scheduler, bound, "status", key, "b")).To(refused(refusal))
		Expect(relabel(ctx, controllers, bound, "", key, "b")).To(Succeed())
		Expect(relabel(ctx, controllers, bound, "", key, nil)).To(Succeed())
	})

	It("does not keep users from what is theirs", func(ctx SpecContext) {
		bound := placed(ctx)
		for _, key := range append(requests, "example.com/own", "berth.dev.example.com/seat") {
			mustCreate(ctx, pod(annotated(key, "1")))
			for _, subresource := range []string{"", "status"} {
				Expect(annotate(ctx, tenant, bound, subresource, key, "1")).To(Succeed())
				Expect(annotate(ctx, tenant, bound, subresource, key, nil)).To(Succeed())
			}
		}
		mustCreate(ctx, pod(onNode))
	})
})
