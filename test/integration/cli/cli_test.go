// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/stamp"
)

var _ = Describe("get placement", func() {
	It("tells where the replicas are", func(ctx SpecContext) {
		s := newSite(ctx, 5)
		pods := s.untilPods(ctx, 5)
		s.place(ctx, pods[0], s.hangzhou, 0)
		s.place(ctx, pods[1], s.beijing, 1)
		s.place(ctx, pods[2], s.hangzhou, 2)
		Expect(s.generic(run(ctx, "get", "placement", "-n", s.namespace))).To(Equal(`WORKLOAD CLUSTER DESIRED CURRENT SHORT PENDING NODES
deployment/nginx beijing 2 1 1 2 1
deployment/nginx hangzhou 3 2 1 2 1
`))
		Expect(s.generic(run(ctx, "get", "placement", "deploy/nginx", "-n", s.namespace, "-o", "wide"))).To(ContainSubstring(
			"deployment/nginx hangzhou 3 2 1 2 1 0 2 2 0 spread\n"))
		Expect(run(ctx, "get", "placement", "-A", "-o", "json")).To(ContainSubstring(
			fmt.Sprintf(`{"namespace":%q,"ref":{"apiVersion":"apps/v1","kind":"Deployment","name":"nginx"},"policy":"spread",`+
				`"replicas":5,"pending":2,"misplaced":0,"clusters":[{"name":%q,"desired":2,"current":1,`, s.namespace, s.beijing)))
	})

	It("prints again after changes, and outlives the API server", Serial, func(ctx SpecContext) {
		s := newSite(ctx, 1)
		pods := s.untilPods(ctx, 1)
		session := start(ctx, "kubectl-berth", "get", "placement", "nginx", "-n", s.namespace, "--watch")
		Eventually(session.Out).WithTimeout(timeout).Should(gbytes.Say(`-hz +1 +0 +1 +1 +0\n`))

		s.place(ctx, pods[0], s.hangzhou, 0)
		Eventually(session.Out).WithTimeout(timeout).Should(gbytes.Say(`\nWORKLOAD.*\n.*-bj +0 +0 +0 +0 +0\n.*-hz +1 +1 +0 +0 +1\n`))

		Expect(plane.RestartAPIServer(ctx)).To(Succeed())
		scale(ctx, s.namespace, 5)
		Eventually(session.Out).WithTimeout(timeout).Should(gbytes.Say(`-bj +2 +0 +2 +4 +0\n.*-hz +3 +1 +2 +4 +1\n`))

		session.Signal(syscall.SIGINT)
		Eventually(session).WithTimeout(timeout).Should(gexec.Exit(0))
	})

	It("counts the newest revision during a rollout", func(ctx SpecContext) {
		s := newSite(ctx, 2)
		pods := s.untilPods(ctx, 2)
		s.place(ctx, pods[0], s.hangzhou, 0)
		s.place(ctx, pods[1], s.beijing, 1)
		patch := []byte(`{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},` +
			`"template":{"spec":{"containers":[{"name":"main","image":"registry.invalid/nginx:2"}]}}}}`)
		_, err := client.AppsV1().Deployments(s.namespace).Patch(ctx, "nginx", types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.untilPods(ctx, 3)
		Expect(s.generic(run(ctx, "get", "placement", "-n", s.namespace, "-o", "wide"))).To(Equal(
			`WORKLOAD CLUSTER DESIRED CURRENT SHORT PENDING NODES OLD CLUSTER-NODES READY-NODES MISPLACED POLICY
deployment/nginx beijing 1 0 1 1 0 1 2 2 0 spread
deployment/nginx hangzhou 1 0 1 1 0 1 2 2 0 spread
`))
	})

	It("says in one line what is wrong", func(ctx SpecContext) {
		s := newSite(ctx, 1)
		expectFailure(ctx, `workload "apache" not found in namespace "`+s.namespace+`"`, "get", "placement", "apache", "-n", s.namespace)
		expectFailure(ctx, `User "eve" cannot list resource "propagationpolicies"`, "get", "placement", "-n", s.namespace, "--as", "eve")
		expectFailure(ctx, "cannot reach the API server", "get", "placement", "--server", "https://127.0.0.1:1")
		expectFailure(ctx, "certificate signed by unknown authority", "get", "placement", "--kubeconfig", "/dev/null",
			"--server", plane.URL())
		expectFailure(ctx, "the API server does not accept these credentials", "get", "placement", "--kubeconfig", "/dev/null",
			"--server", plane.URL(), "--certificate-authority", filepath.Join(plane.StateDir(), "ca.crt"), "--token", "wrong")
	})
})

var _ = Describe("explain pod", func() {
	It("tells why a pod waits, and where it is placed", func(ctx SpecContext) {
		s := newSite(ctx, 5)
		pods := s.untilPods(ctx, 5)
		s.place(ctx, pods[0], s.hangzhou, 0)
		s.place(ctx, pods[1], s.beijing, 1)
		s.place(ctx, pods[2], s.hangzhou, 2)
		s.place(ctx, pods[3], s.beijing, 3)
		for _, node := range []string{s.hangzhou + "-0", s.hangzhou + "-1"} {
			_, err := client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`),
				metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		waiting := s.generic(run(ctx, "explain", "pod", pods[4], "-n", s.namespace))
		Expect(waiting).To(And(
			ContainSubstring("State: Waiting\nWorkload: deployment/nginx, replicas: 5\nPolicy: spread, because it names the workload\n"),
			ContainSubstring("- the policy lets it into hangzhou only, and no node there can take it\n"),
			ContainSubstring("beijing 2 2 0 2 2 0 0 0 0 has its share\n"),
			ContainSubstring("hangzhou 3 2 1 2 0 0 2 0 0 has 1 free seat, but none of its nodes can take the pod\n"),
		))
		Expect(s.generic(run(ctx, "explain", "pod", pods[2], "-n", s.namespace))).To(And(
			ContainSubstring("State: Placed on node hangzhou-0 in cluster hangzhou, seat 2\n"),
			ContainSubstring(`- policy "spread" placed it`+"\n"),
		))
	})

	It("does not trust a reference to an owner", func(ctx SpecContext) {
		s := newSite(ctx, 1)
		forged := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "forged", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "example.com/v1", Kind: "Ring", Name: "a", UID: "a", Controller: new(true),
			}}},
			Spec: corev1.PodSpec{SchedulerName: "berth-scheduler", Containers: []corev1.Container{{Name: "main", Image: "registry.invalid/a"}}},
		}
		_, err := client.CoreV1().Pods(s.namespace).Create(ctx, forged, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(s.generic(run(ctx, "explain", "pod", forged.Name, "-n", s.namespace))).To(And(
			ContainSubstring("Workload: pod/forged"),
			ContainSubstring("- policies on ring/a and what is above it do not count for the pod: Ring of example.com/v1 is not served"),
		))
		Expect(run(ctx, "room", "pod/"+forged.Name, "-n", s.namespace)).To(ContainSubstring(s.hangzhou))
	})

	It("does not trust a stamp that was made for another pod", func(ctx SpecContext) {
		s := newSite(ctx, 1)
		pods := s.untilPods(ctx, 1)
		s.bindWithForeignStamp(ctx, pods[0])
		Expect(s.generic(run(ctx, "explain", "pod", pods[0], "-n", s.namespace))).To(And(
			ContainSubstring("State: Bound on node hangzhou-0 in cluster hangzhou\n"),
			ContainSubstring("- no policy placed it"),
		))
	})
})

var _ = Describe("kubectl", func() {
	It("finds the plugin under its name", func(ctx SpecContext) {
		session := start(ctx, "kubectl-berth", "preview", "division", "--help")
		Eventually(session).WithTimeout(timeout).Should(gexec.Exit(0))
		Expect(session.Out).To(gbytes.Say("Usage:\n  kubectl berth preview division"))
	})
})

func scale(ctx context.Context, namespace string, replicas int32) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	_, err := client.AppsV1().Deployments(namespace).Patch(ctx, "nginx", types.MergePatchType, patch, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// bindWithForeignStamp binds a pod with a stamp that names another pod, as one copied by a user
// does.
func (s site) bindWithForeignStamp(ctx context.Context, name string) {
	GinkgoHelper()
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "another"}}
	node := s.hangzhou + "-0"
	Expect(client.CoreV1().Pods(s.namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: stamp.Stamp{Policy: "spread", Cluster: s.hangzhou}.Annotations(other, node),
		},
		Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})).To(Succeed())
}
