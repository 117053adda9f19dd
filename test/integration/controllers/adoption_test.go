// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/util/workqueue"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// alreadyBound makes a Deployment "web" whose pods all run on one node before there is a policy. By
// says what their Bindings carry.
func alreadyBound(
	ctx context.Context, namespace, node string, replicas int32, by func(*corev1.Pod) map[string]string,
	changes ...func(*appsv1.DeploymentSpec),
) {
	GinkgoHelper()
	binder.hold(namespace)
	defer binder.release(namespace)
	newDeployment(ctx, namespace, "web", replicas, changes...)
	Eventually(podsOf).WithContext(ctx).WithArguments(namespace).WithTimeout(timeout).WithPolling(poll).Should(HaveLen(int(replicas)))
	pods, err := podsOf(ctx, namespace)
	Expect(err).NotTo(HaveOccurred())
	for i := range pods {
		Expect(client.CoreV1().Pods(namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pods[i].Name, UID: pods[i].UID, Annotations: by(&pods[i])},
			Target:     corev1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{})).To(Succeed())
	}
	untilSpread(ctx, namespace, map[string]int{clusterOfNode(node): int(replicas)})
}

// byBerth and byAnother are how a Binding of Berth to a node differs from one of the stock
// scheduler.
func byBerth(node string) func(*corev1.Pod) map[string]string {
	return func(pod *corev1.Pod) map[string]string { return stamp.Mark(pod, node) }
}

func byAnother(*corev1.Pod) map[string]string { return nil }

// adopted is how many pods one policy takes over at a time; the environment variable BERTH_ADOPTED
// can set another number, for measurements.
func adopted() int {
	GinkgoHelper()
	text, set := os.LookupEnv("BERTH_ADOPTED")
	if !set {
		return 40
	}
	n, err := strconv.Atoi(text)
	Expect(err).NotTo(HaveOccurred(), "BERTH_ADOPTED")
	return n
}

// stampedPods returns what counts the pods of a namespace that have a stamp. It follows them by an
// informer: to list thousands again and again would keep the API server from the work.
func stampedPods(ctx context.Context, namespace string) func() int {
	GinkgoHelper()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	lister := factory.Core().V1().Pods().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return func() int {
		pods, err := lister.List(labels.Everything())
		Expect(err).NotTo(HaveOccurred())
		stamped := 0
		for _, pod := range pods {
			if _, has := stamp.Of(pod); has {
				stamped++
			}
		}
		return stamped
	}
}

// patchAll writes an annotation of each pod of a namespace, as many at a time as the controller
// does, and returns how long that took.
func patchAll(ctx context.Context, namespace string) time.Duration {
	GinkgoHelper()
	pods, err := podsOf(ctx, namespace)
	Expect(err).NotTo(HaveOccurred())
	began, errs := time.Now(), make([]error, len(pods))
	workqueue.ParallelizeUntil(ctx, 16, len(pods), func(i int) {
		_, errs[i] = client.CoreV1().Pods(namespace).Patch(ctx, pods[i].Name, types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"example.com/measured":"true"}}}`), metav1.PatchOptions{})
	})
	took := time.Since(began)
	Expect(errors.Join(errs...)).NotTo(HaveOccurred())
	return took
}

// podPatches returns how many patches of pods, their status aside, the API server has carried out.
func podPatches(ctx context.Context) float64 {
	GinkgoHelper()
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	return schedulerproc.Sum(text, "apiserver_request_total", `resource="pods"`, `subresource=""`, `verb="PATCH"`, `code="200"`)
}

var _ = Describe("Pods that were there before their policy", func() {
	var namespace, bj, hz string

	BeforeEach(func(ctx SpecContext) {
		namespace = newNamespace(ctx)
		bj, hz = twoClusters(ctx, namespace, 2)
	})

	quick := func(spec *berthv1alpha1.PropagationPolicySpec) {
		spec.Rebalance.MaxUnavailable = new(intstr.FromInt32(10))
	}
	never := func(spec *berthv1alpha1.PropagationPolicySpec) { spec.Rebalance.Mode = berthv1alpha1.RebalanceNever }

	DescribeTable("are taken over, and moved as far as they are misplaced", func(ctx SpecContext, berths bool) {
		by := byAnother
		if berths {
			by = byBerth(hz + "-0")
		}
		alreadyBound(ctx, namespace, hz+"-0", 10, by)
		before := uids(ctx, namespace)
		newPolicy(ctx, namespace, "policy", "web", weights{bj: 2, hz: 3}, quick)
		untilSpread(ctx, namespace, map[string]int{bj: 4, hz: 6})
		untilCondition(ctx, namespace, "policy", berthv1alpha1.PolicyPlaced, "True AsDesired")
		expectStayed(ctx, namespace, before, 6)
		untilSeats(ctx, namespace, 10)

		scale(ctx, namespace, "web", 5)
		untilSpread(ctx, namespace, map[string]int{bj: 2, hz: 3})
	},
		Entry("bound by Berth", true),
		Entry("bound by the scheduler that had its name before", false),
	)

	It("are taken over with one write for each", func(ctx SpecContext) {
		number := adopted()
		alreadyBound(ctx, namespace, hz+"-0", int32(number), byAnother)
		stamped := stampedPods(ctx, namespace)
		before, began := podPatches(ctx), time.Now()
		newPolicy(ctx, namespace, "policy", "web", weights{bj: 2, hz: 3}, never)
		Eventually(stamped).WithTimeout(timeout).WithPolling(poll).Should(Equal(number))
		took := time.Since(began)
		Consistently(podPatches).WithContext(ctx).WithTimeout(settle).WithPolling(poll).Should(BeEquivalentTo(before + float64(number)))
		bare := patchAll(ctx, namespace)
		AddReportEntry("adoption", fmt.Sprintf("%d pods in %v; the API server takes %v for as many patches of an annotation, 16 at a time: %.2f x",
			number, took.Round(time.Millisecond), bare.Round(time.Millisecond), took.Seconds()/bare.Seconds()))
	})

	It("keep their places with mode Never, and those that are misplaced go first when the workload shrinks", func(ctx SpecContext) {
		alreadyBound(ctx, namespace, hz+"-0", 10, byBerth(hz+"-0"))
		before := uids(ctx, namespace)
		newPolicy(ctx, namespace, "policy", "web", weights{bj: 2, hz: 3}, never)
		untilSeats(ctx, namespace, 6)
		expectStayed(ctx, namespace, before, 10)
		seated := map[string]bool{}
		pods, err := podsOf(ctx, namespace)
		Expect(err).NotTo(HaveOccurred())
		for i := range pods {
			if given, _ := stamp.Of(&pods[i]); given.Seat != stamp.NoSeat {
				seated[string(pods[i].UID)] = true
			}
		}
		scale(ctx, namespace, "web", 6)
		Eventually(uids).WithContext(ctx).WithArguments(namespace).WithTimeout(timeout).WithPolling(poll).Should(Equal(seated))
	})

	It("are given back when the policy goes, and taken over again by the next", func(ctx SpecContext) {
		alreadyBound(ctx, namespace, hz+"-0", 3, byAnother)
		before := uids(ctx, namespace)
		newPolicy(ctx, namespace, "policy", "web", weights{bj: 2, hz: 3}, never)
		untilSeats(ctx, namespace, 2)
		Expect(berth.BerthV1alpha1().PropagationPolicies(namespace).Delete(ctx, "policy", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) {
			pods, err := podsOf(ctx, namespace)
			g.Expect(err).NotTo(HaveOccurred())
			for i := range pods {
				g.Expect(pods[i].Annotations).To(Equal(stamp.Mark(&pods[i], pods[i].Spec.NodeName)))
			}
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		newPolicy(ctx, namespace, "next", "web", weights{bj: 1, hz: 2}, never)
		untilSeats(ctx, namespace, 2)
		expectStayed(ctx, namespace, before, 3)
	})

	It("are left alone if they are another scheduler's", func(ctx SpecContext) {
		alreadyBound(ctx, namespace, hz+"-0", 3, byAnother, func(spec *appsv1.DeploymentSpec) {
			spec.Template.Spec.SchedulerName = "another-scheduler"
		})
		before := uids(ctx, namespace)
		newPolicy(ctx, namespace, "policy", "web", weights{bj: 1})
		Eventually(message).WithContext(ctx).WithArguments(namespace, "policy", berthv1alpha1.PolicyPlaced).
			WithTimeout(timeout).WithPolling(poll).
			Should(ContainSubstring("these selected workloads do not use Berth's scheduler: Deployment web"))
		Consistently(func(g Gomega) {
			pods, err := podsOf(ctx, namespace)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pods).To(HaveEach(HaveField("Annotations", BeEmpty())))
		}).WithTimeout(settle).WithPolling(poll).Should(Succeed())
		expectStayed(ctx, namespace, before, 3)
	})
})
