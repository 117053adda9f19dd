// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
)

// newResource makes a ClusterResource of the name of the namespace.
func newResource(ctx context.Context, name string, spec berthv1alpha1.ClusterResourceSpec) *berthv1alpha1.ClusterResource {
	GinkgoHelper()
	created, err := berth.BerthV1alpha1().ClusterResources().Create(ctx, &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec,
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		// A spec may have deleted it.
		_ = berth.BerthV1alpha1().ClusterResources().Delete(ctx, name, metav1.DeleteOptions{})
	})
	return created
}

// pools returns pools, given as names and quantities in turn.
func pools(pairs ...string) []berthv1alpha1.ClusterResourceQuantity {
	var list []berthv1alpha1.ClusterResourceQuantity
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, berthv1alpha1.ClusterResourceQuantity{Name: pairs[i], Quantity: resource.MustParse(pairs[i+1])})
	}
	return list
}

// holder makes a pod that asks for the ClusterResource and binds it as berth-scheduler does, or
// without a charge.
func holder(ctx context.Context, namespace, name, resourceName string, charged bool) *corev1.Pod {
	GinkgoHelper()
	pod, err := client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
			berthv1alpha1.ClusterResourceAnnotationPrefix + resourceName: "2",
		}},
		Spec: corev1.PodSpec{SchedulerName: "nobody", Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	node := resourceName + "-0"
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}
	if charged {
		binding.Annotations = stamp.ChargeAnnotations(pod, node, []pool.Charge{
			{Resource: resourceName, Pool: "default", Quantity: resource.MustParse("2")},
		})
	}
	Expect(client.CoreV1().Pods(namespace).Bind(ctx, binding, metav1.CreateOptions{})).To(Succeed())
	return pod
}

// told is what the status of a ClusterResource says: the pools as "POOL held/holders free", the
// pods that wait, and the reasons of the conditions that are true.
func told(ctx context.Context, name string) (string, error) {
	object, err := berth.BerthV1alpha1().ClusterResources().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	var parts []string
	for _, p := range object.Status.Allocated {
		parts = append(parts, fmt.Sprintf("%s %s/%d %s", p.Name, p.Quantity.String(), p.Holders, p.Free.String()))
	}
	parts = append(parts, strconv.Itoa(int(object.Status.Waiting)))
	for _, conditionType := range []string{"Ready", "Overcommitted", "InUse"} {
		if c := apimeta.FindStatusCondition(object.Status.Conditions, conditionType); c != nil && c.Status == metav1.ConditionTrue {
			parts = append(parts, c.Reason)
		}
	}
	return strings.Join(parts, ", "), nil
}

func untilTold(ctx context.Context, name, want string) {
	GinkgoHelper()
	Eventually(told).WithContext(ctx).WithArguments(name).WithTimeout(timeout).WithPolling(poll).Should(Equal(want))
}

var _ = Describe("The status of a ClusterResource", func() {
	It("follows its pods, and is kept until they are gone", func(ctx SpecContext) {
		name := newNamespace(ctx)
		newCluster(ctx, name, 1)
		newResource(ctx, name, berthv1alpha1.ClusterResourceSpec{Capacity: pools("default", "5")})
		untilTold(ctx, name, "default 0/0 5, 0, Published")

		ours := holder(ctx, name, "ours", name, true)
		others := holder(ctx, name, "others", name, false)
		untilTold(ctx, name, "default 4/2 1, 0, Published")
		_, err := client.CoreV1().Pods(name).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "waiting", Annotations: map[string]string{
				berthv1alpha1.ClusterResourceAnnotationPrefix + name: "2",
			}},
			Spec: corev1.PodSpec{SchedulerName: "nobody", Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		untilTold(ctx, name, "default 4/2 1, 1, Published")

		By("ending a pod")
		ended := holder(ctx, name, "ended", name, true)
		untilTold(ctx, name, "default 6/3 0, 1, Published, AboveAllocatable")
		// What plays the kubelet says Running without a look at what is there.
		Eventually(func() (corev1.PodPhase, error) {
			pod, err := client.CoreV1().Pods(name).Get(ctx, ended.Name, metav1.GetOptions{})
			return pod.Status.Phase, err
		}).WithTimeout(timeout).WithPolling(poll).Should(Equal(corev1.PodRunning))
		_, err = client.CoreV1().Pods(name).Patch(ctx, ended.Name, types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`),
			metav1.PatchOptions{}, "status")
		Expect(err).NotTo(HaveOccurred())
		untilTold(ctx, name, "default 4/2 1, 1, Published")

		By("lowering the capacity")
		Eventually(func(ctx context.Context) error {
			object, err := berth.BerthV1alpha1().ClusterResources().Get(ctx, name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			object.Spec.Capacity = pools("default", "3")
			_, err = berth.BerthV1alpha1().ClusterResources().Update(ctx, object, metav1.UpdateOptions{})
			return err
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		untilTold(ctx, name, "default 4/2 0, 1, Published, AboveAllocatable")

		By("deleting it while it is in use")
		Expect(berth.BerthV1alpha1().ClusterResources().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		untilTold(ctx, name, "default 4/2 0, 1, Published, AboveAllocatable, HeldByPods")
		now := int64(0)
		for _, pod := range []*corev1.Pod{ours, others} {
			Expect(client.CoreV1().Pods(name).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})).To(Succeed())
		}
		Eventually(func(ctx context.Context) bool {
			_, err := told(ctx, name)
			return apierrors.IsNotFound(err)
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(BeTrue())
	})

	It("leaves pools that another program reports alone", func(ctx SpecContext) {
		name := newNamespace(ctx)
		newCluster(ctx, name, 1)
		newResource(ctx, name, berthv1alpha1.ClusterResourceSpec{})
		untilTold(ctx, name, "0")
		Eventually(func(ctx context.Context) error {
			object, err := berth.BerthV1alpha1().ClusterResources().Get(ctx, name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			object.Status.Capacity, object.Status.Allocatable = pools("default", "9"), pools("default", "8")
			_, err = berth.BerthV1alpha1().ClusterResources().UpdateStatus(ctx, object, metav1.UpdateOptions{})
			return err
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		untilTold(ctx, name, "default 0/0 8, 0, Reported")
		holder(ctx, name, "ours", name, true)
		untilTold(ctx, name, "default 2/1 6, 0, Reported")
		object, err := berth.BerthV1alpha1().ClusterResources().Get(ctx, name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(object.Status.Capacity[0].Quantity.String()).To(Equal("9"))
	})

	It("is not written again when nothing has changed", func(ctx SpecContext) {
		name := newNamespace(ctx)
		newCluster(ctx, name, 1)
		newResource(ctx, name, berthv1alpha1.ClusterResourceSpec{Capacity: pools("default", "5")})
		holder(ctx, name, "ours", name, true)
		untilTold(ctx, name, "default 2/1 3, 0, Published")
		version := func(ctx context.Context) string {
			object, err := berth.BerthV1alpha1().ClusterResources().Get(ctx, name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			return object.ResourceVersion
		}
		before := version(ctx)
		patchNode(ctx, name+"-0", `{"metadata":{"labels":{"example.com/moved":"yes"}}}`)
		Consistently(version).WithContext(ctx).WithTimeout(2 * time.Second).WithPolling(poll).Should(Equal(before))
	})
})
