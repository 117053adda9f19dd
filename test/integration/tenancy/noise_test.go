// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tenancy_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/testsize"
)

// Rounds alone and rounds with noise take turns, so that what else the machine does counts for
// both. In full size there are enough pods of each for the slowest hundredth to be more than one.
var rounds = testsize.Of(4, 2)

const (
	podsPerRound = 30
	// noises is how many objects of each sort the tenant makes.
	noises = 60
	// slower is what would show that the victim waits for the tenant. It leaves room for the machine,
	// which has the tenant's requests to answer too. The slowest pods are told and not judged: some
	// wait because the machine does something else.
	slower = 3.0
)

// latencies returns how long pods of the victim, one after the other, take from their creation to a
// node.
func latencies(ctx context.Context) []time.Duration {
	GinkgoHelper()
	pods := admin.CoreV1().Pods(foreign)
	var found []time.Duration
	for range podsPerRound {
		p := pod("timed")
		p.Name, p.GenerateName = "", "timed-"
		p.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: berthv1alpha1.PolicyNone}
		p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0)
		begin := time.Now()
		made, err := pods.Create(ctx, p, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		stream, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: made.ResourceVersion, FieldSelector: "metadata.name=" + made.Name})
		Expect(err).NotTo(HaveOccurred())
		Eventually(ctx, stream.ResultChan()).WithTimeout(timeout).Should(Receive(HaveField("Object.Spec.NodeName", Not(BeEmpty()))))
		found = append(found, time.Since(begin))
		stream.Stop()
		Expect(pods.Delete(ctx, made.Name, metav1.DeleteOptions{})).To(Succeed())
	}
	return found
}

// percentile returns the latency below which so many of a hundred are, the nearest rank.
func percentile(sorted []time.Duration, hundredths int) time.Duration {
	return sorted[(len(sorted)*hundredths+99)/100-1]
}

// noise makes what gives schedulers and controllers work for nothing: pods that fit nowhere, each
// for a reason of its own, pods of a hundred unknown owners, and bundles that cannot be carried
// out.
func noise(ctx context.Context, round int) {
	GinkgoHelper()
	for i := range noises {
		name := fmt.Sprintf("noise-%d-%d", round, i)
		p := pod(name)
		p.Labels = map[string]string{"noise": "true"}
		switch i % 4 {
		case 0:
			p.Annotations = map[string]string{berthv1alpha1.ClusterLabelConstraintAnnotation: "nowhere is here"}
		case 1:
			p.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "absent"}
		case 2:
			p.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: fmt.Sprintf("unknown-%d.example.com/v1", i), Kind: "Unknown", Name: name, UID: "forged", Controller: ptr.To(true),
			}}
		default:
			p.Spec.NodeSelector = map[string]string{name: "nowhere"}
			p.Annotations = map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + "absent": "1"}
		}
		_, err := mallory.CoreV1().Pods(own).Create(ctx, p, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		writes(ctx, `{kind: Subscription, metadata: {name: `+name+`, labels: {noise: "true"}}, spec: {subscribers: [{clusterAffinity: {}}],
			feeds: [{apiVersion: apps/v1, kind: Deployment, namespace: `+own+`, name: absent}]}}`)
		writes(ctx, `{kind: PropagationPolicy, metadata: {name: `+name+`, labels: {noise: "true"}}, spec: {placement: {staticWeightList: [
			{clusterNames: [absent], weight: 1}]}, resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]}}`)
	}
}

// quiet removes it.
func quiet(ctx context.Context) {
	GinkgoHelper()
	all := metav1.ListOptions{LabelSelector: noisy}
	Expect(mallory.CoreV1().Pods(own).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, all)).To(Succeed())
	for _, kind := range []string{"Subscription", "PropagationPolicy"} {
		remove(ctx, malloryObjects.Resource(resourceOf(kind)).Namespace(own))
	}
	Eventually(ctx, func(ctx context.Context) ([]corev1.Pod, error) {
		list, err := admin.CoreV1().Pods(own).List(ctx, all)
		return list.Items, err
	}).WithTimeout(timeout).WithPolling(poll).Should(BeEmpty())
}

// noisy selects what the tenant has made for noise.
const noisy = "noise=true"

// remove deletes the tenant's noise of a kind, some at a time: to delete ten thousand objects takes
// longer than a request may.
func remove(ctx context.Context, objects dynamic.ResourceInterface) {
	GinkgoHelper()
	for {
		Expect(objects.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: noisy, Limit: 500})).To(Succeed())
		left, err := objects.List(ctx, metav1.ListOptions{LabelSelector: noisy, Limit: 1})
		Expect(err).NotTo(HaveOccurred())
		if len(left.Items) == 0 {
			return
		}
	}
}

var _ = Describe("A noisy tenant", func() {
	It("holds up no pod of another", func(ctx SpecContext) {
		latencies(ctx)
		var alone, noisy []time.Duration
		for round := range rounds {
			alone = append(alone, latencies(ctx)...)
			noise(ctx, round)
			noisy = append(noisy, latencies(ctx)...)
			quiet(ctx)
		}
		expectNoSlower("with noise", alone, noisy)
		placed(ctx)
	})

	It("holds up no pod of another by thousands of Subscriptions", func(ctx SpecContext) {
		latencies(ctx)
		count := subscriptions()
		alone := manyLatencies(ctx)
		configMaps := malloryObjects.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(own)
		DeferCleanup(remove, configMaps)
		fill(ctx, count)
		floor := manyLatencies(ctx)
		remove(ctx, configMaps)
		DeferCleanup(quiet)
		subscribe(ctx, count)
		beside := manyLatencies(ctx)
		placed(ctx)
		quiet(ctx)
		// Whatever else the machine does may have begun meanwhile, and counts for both.
		alone = slowerOf(alone, manyLatencies(ctx))
		// What the API server takes for so many objects of any kind is none of Berth's.
		expectNoSlower(fmt.Sprintf("beside %d ConfigMaps", count), alone, floor)
		expectNoSlower(fmt.Sprintf("beside %d Subscriptions", count), alone, beside)
	})
})

// manyLatencies returns those of all rounds.
func manyLatencies(ctx context.Context) (found []time.Duration) {
	GinkgoHelper()
	for range rounds {
		found = append(found, latencies(ctx)...)
	}
	return found
}

// slowerOf returns those latencies of two whose median is the higher one.
func slowerOf(x, y []time.Duration) []time.Duration {
	slices.Sort(x)
	slices.Sort(y)
	if percentile(x, 50) > percentile(y, 50) {
		return x
	}
	return y
}

// expectNoSlower tells how much slower the victim's pods are with something else, and fails if that
// is much.
func expectNoSlower(with string, alone, beside []time.Duration) {
	GinkgoHelper()
	slices.Sort(alone)
	slices.Sort(beside)
	for _, hundredths := range []int{50, 99} {
		before, after := percentile(alone, hundredths), percentile(beside, hundredths)
		ratio := float64(after) / float64(before)
		text := fmt.Sprintf("p%d: alone %v, %s %v, %.2f x (%d pods each)", hundredths, before, with, after, ratio, len(alone))
		AddReportEntry("latency of the victim's pods", text, ReportEntryVisibilityAlways)
		if hundredths == 50 {
			Expect(ratio).To(BeNumerically("<", slower), text)
		}
	}
}

// subscriptionsVariable says how many Subscriptions the tenant makes. The usual number takes
// seconds.
const subscriptionsVariable = "BERTH_SUBSCRIPTIONS"

func subscriptions() int {
	GinkgoHelper()
	text, set := os.LookupEnv(subscriptionsVariable)
	if !set {
		return 500
	}
	count, err := strconv.Atoi(text)
	Expect(err).NotTo(HaveOccurred(), subscriptionsVariable)
	return count
}

// many makes so many objects of the tenant's.
func many(ctx context.Context, count int, create func(i int)) {
	const workers = 8
	workqueue.ParallelizeUntil(ctx, workers, count, func(i int) {
		defer GinkgoRecover()
		create(i)
	})
}

// subscribe makes so many Subscriptions, which divide nothing yet.
func subscribe(ctx context.Context, count int) {
	many(ctx, count, func(i int) {
		writes(ctx, fmt.Sprintf(`{kind: Subscription, metadata: {name: many-%d, labels: {noise: "true"}}, spec: {subscribers: [{clusterAffinity: {}}],
			feeds: [{apiVersion: apps/v1, kind: Deployment, namespace: %s, name: absent-%d}]}}`, i, own, i))
	})
}

// fill makes so many ConfigMaps, of which Berth knows nothing.
func fill(ctx context.Context, count int) {
	many(ctx, count, func(i int) {
		_, err := mallory.CoreV1().ConfigMaps(own).Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("many-", i), Labels: map[string]string{"noise": "true"}},
			Data:       map[string]string{"text": strings.Repeat("x", 300)},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	})
}
