// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/model/stamp"
)

// clusterLabel says on a node to which cluster of these tests it belongs.
const clusterLabel = "test.berth.dev/cluster"

// site is a namespace with two clusters of two nodes each, whose names begin with that of the
// namespace, and a Deployment nginx that a policy spreads at 2:3.
type site struct{ namespace, beijing, hangzhou string }

func newSite(ctx context.Context, replicas int32) site {
	GinkgoHelper()
	namespace := newNamespace(ctx)
	s := site{namespace: namespace, beijing: namespace + "-bj", hangzhou: namespace + "-hz"}
	newCluster(ctx, s.beijing)
	newCluster(ctx, s.hangzhou)
	_, err := berth.BerthV1alpha1().PropagationPolicies(namespace).Create(ctx, &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "spread"},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "nginx"}},
			Placement: berthv1alpha1.Placement{StaticWeightList: []berthv1alpha1.StaticClusterWeight{
				{ClusterNames: []string{s.beijing}, Weight: 2}, {ClusterNames: []string{s.hangzhou}, Weight: 3},
			}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	s.newDeployment(ctx, replicas)
	return s
}

func newCluster(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(localplane.CreateNodes(ctx, client, name, 2, map[string]string{clusterLabel: name}, nil)).To(Succeed())
	_, err := berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{clusterLabel: name}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.CoreV1().Nodes().DeleteCollection(ctx, metav1.DeleteOptions{},
			metav1.ListOptions{LabelSelector: clusterLabel + "=" + name})).To(Succeed())
		Expect(berth.BerthV1alpha1().Clusters().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	})
}

func (s site) newDeployment(ctx context.Context, replicas int32) {
	GinkgoHelper()
	labels := map[string]string{"app": "nginx"}
	_, err := client.AppsV1().Deployments(s.namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "nginx"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					SchedulerName: "berth-scheduler", TerminationGracePeriodSeconds: new(int64),
					Containers: []corev1.Container{{Name: "main", Image: "registry.invalid/nginx:1"}},
				},
			},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	s.untilPods(ctx, int(replicas))
}

// untilPods waits until the Deployment has so many pods, and returns their names.
func (s site) untilPods(ctx context.Context, n int) []string {
	GinkgoHelper()
	var names []string
	Eventually(func(g Gomega) {
		pods, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pods.Items).To(HaveLen(n))
		names = names[:0]
		for i := range pods.Items {
			names = append(names, pods.Items[i].Name)
		}
	}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	slices.Sort(names)
	return names
}

// bind binds a pod as the scheduler does: node and stamp in one write.
func (s site) bind(ctx context.Context, name, node string, given stamp.Stamp) {
	GinkgoHelper()
	pods := client.CoreV1().Pods(s.namespace)
	pod, err := pods.Get(ctx, name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(pods.Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: pod.UID, Annotations: given.Annotations(pod, node)},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})).To(Succeed())
}

// place binds a pod to the first node of a cluster.
func (s site) place(ctx context.Context, name, cluster string, seat int32) {
	GinkgoHelper()
	s.bind(ctx, name, cluster+"-0", stamp.Stamp{Policy: "spread", Cluster: cluster, Seat: seat})
}

// generic replaces the generated names of a spec in an output by plain ones, and runs of spaces by
// one.
func (s site) generic(text string) string {
	text = strings.NewReplacer(s.beijing, "beijing", s.hangzhou, "hangzhou", s.namespace, "NAMESPACE").Replace(text)
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	return strings.Join(lines, "\n")
}
