// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// pods returns the pods of an app that are not being deleted, of all apps if it is empty.
func (s *site) pods(ctx context.Context, app string) []corev1.Pod {
	GinkgoHelper()
	options := metav1.ListOptions{}
	if app != "" {
		options.LabelSelector = "app=" + app
	}
	list, err := client.CoreV1().Pods(s.namespace).List(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// place returns the short name of the cluster whose label the pod's node carries: not what the
// stamp says. Pods that wait are in "", pods on nodes of other sites in "elsewhere".
func (s *site) place(pod *corev1.Pod) string {
	node := pod.Spec.NodeName
	if node == "" {
		return ""
	}
	cluster, found := strings.CutSuffix(node[:strings.LastIndexByte(node, '-')], "-"+s.suffix)
	if !found {
		return "elsewhere"
	}
	return cluster
}

// shares counts the running pods of an app by cluster, and those that do not run under "waiting".
func (s *site) shares(ctx context.Context, app string) map[string]int {
	GinkgoHelper()
	shares := map[string]int{}
	for _, pod := range s.pods(ctx, app) {
		if pod.Status.Phase != corev1.PodRunning {
			shares["waiting"]++
			continue
		}
		shares[s.place(&pod)]++
	}
	return shares
}

// expectShares waits until the running pods of an app are shared out exactly so, and none waits.
func (s *site) expectShares(ctx context.Context, app string, want map[string]int) {
	GinkgoHelper()
	Eventually(func() map[string]int { return s.shares(ctx, app) }, timeout, poll).Should(Equal(want))
}

// expectRunning waits until so many pods of an app run, wherever that is, and none waits.
func (s *site) expectRunning(ctx context.Context, app string, count int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pods := s.pods(ctx, app)
		g.Expect(pods).To(HaveLen(count))
		g.Expect(pods).To(HaveEach(HaveField("Status.Phase", corev1.PodRunning)))
	}, timeout, poll).Should(Succeed())
}

// seats returns the seats of the bound pods of an app by cluster, in order. It fails the spec if a
// stamp is not what the node, the pod and the seat make it.
func (s *site) seats(ctx context.Context, app, policy string) map[string][]int {
	GinkgoHelper()
	seats := map[string][]int{}
	for _, pod := range s.pods(ctx, app) {
		place := s.place(&pod)
		if place == "" {
			continue
		}
		seat, err := strconv.Atoi(pod.Annotations[berthv1alpha1.SeatAnnotation])
		Expect(err).NotTo(HaveOccurred(), "the seat of pod %s on %s with %v", pod.Name, pod.Spec.NodeName, pod.Annotations)
		Expect(pod.Annotations).To(And(
			HaveKeyWithValue("berth.dev/placed-by", string(pod.UID)+"/"+pod.Spec.NodeName),
			HaveKeyWithValue("berth.dev/policy", policy),
			HaveKeyWithValue("groupingpolicy.kubeedge.io", policy),
			HaveKeyWithValue("berth.dev/cluster", s.full(place)),
			HaveKeyWithValue("controller.kubernetes.io/pod-deletion-cost", strconv.Itoa(-seat)),
		))
		seats[place] = append(seats[place], seat)
	}
	for _, list := range seats {
		slices.Sort(list)
	}
	return seats
}

// placements returns where each bound pod of an app runs, by its name.
func (s *site) placements(ctx context.Context, app string) map[string]string {
	GinkgoHelper()
	placements := map[string]string{}
	for _, pod := range s.pods(ctx, app) {
		placements[pod.Name] = pod.Spec.NodeName
	}
	return placements
}
