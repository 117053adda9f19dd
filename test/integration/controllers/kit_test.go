// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
)

// clusterLabel says on a node to which cluster of these tests it belongs.
const clusterLabel = "test.berth.dev/cluster"

// twoClusters makes two clusters of n nodes each. Their names begin with the name of the namespace,
// so specs do not meet.
func twoClusters(ctx context.Context, namespace string, n int) (beijing, hangzhou string) {
	GinkgoHelper()
	beijing, hangzhou = namespace+"-bj", namespace+"-hz"
	newCluster(ctx, beijing, n)
	newCluster(ctx, hangzhou, n)
	return beijing, hangzhou
}

// newCluster makes a cluster by label, with n nodes CLUSTER-N.
func newCluster(ctx context.Context, name string, n int) {
	GinkgoHelper()
	Expect(localplane.CreateNodes(ctx, client, name, n, map[string]string{clusterLabel: name}, nil)).To(Succeed())
	_, err := berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{clusterLabel: name}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.CoreV1().Nodes().DeleteCollection(ctx, metav1.DeleteOptions{},
			metav1.ListOptions{LabelSelector: clusterLabel + "=" + name})).To(Succeed())
		Expect(berth.BerthV1alpha1().Clusters().DeleteCollection(ctx, metav1.DeleteOptions{},
			metav1.ListOptions{FieldSelector: "metadata.name=" + name})).To(Succeed())
	})
}

// clusterOfNode is the cluster of a node made by newCluster.
func clusterOfNode(node string) string {
	return node[:max(0, strings.LastIndexByte(node, '-'))]
}

type weights map[string]int64

// newPolicy makes a policy for a Deployment that moves pods as fast as it may.
func newPolicy(
	ctx context.Context, namespace, name, deployment string, w weights, changes ...func(*berthv1alpha1.PropagationPolicySpec),
) *berthv1alpha1.PropagationPolicy {
	GinkgoHelper()
	policy := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: deployment}},
			Placement:         berthv1alpha1.Placement{StaticWeightList: w.list()},
			Rebalance: berthv1alpha1.Rebalance{
				Mode: berthv1alpha1.RebalanceEvict, MaxUnavailable: new(intstr.FromInt32(1)),
				Cooldown: &metav1.Duration{}, MinPodAge: &metav1.Duration{},
			},
		},
	}
	for _, change := range changes {
		change(&policy.Spec)
	}
	created, err := berth.BerthV1alpha1().PropagationPolicies(namespace).Create(ctx, policy, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return created
}

func (w weights) list() []berthv1alpha1.StaticClusterWeight {
	var list []berthv1alpha1.StaticClusterWeight
	for name, weight := range w {
		list = append(list, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{name}, Weight: weight})
	}
	return list
}

// changePolicy changes the spec of a policy.
func changePolicy(ctx context.Context, namespace, name string, change func(*berthv1alpha1.PropagationPolicySpec)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		policies := berth.BerthV1alpha1().PropagationPolicies(namespace)
		policy, err := policies.Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		change(&policy.Spec)
		_, err = policies.Update(ctx, policy, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

func reweigh(ctx context.Context, namespace, name string, w weights) {
	GinkgoHelper()
	changePolicy(ctx, namespace, name, func(spec *berthv1alpha1.PropagationPolicySpec) {
		spec.Placement.StaticWeightList = w.list()
	})
}

// template is a pod that a node of these tests has room for.
func template(app string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			SchedulerName:                 schedulerName,
			TerminationGracePeriodSeconds: new(int64(0)),
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.invalid/app:1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("100m"),
				}},
			}},
		},
	}
}

func newDeployment(
	ctx context.Context, namespace, name string, replicas int32, changes ...func(*appsv1.DeploymentSpec),
) *appsv1.Deployment {
	GinkgoHelper()
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: template(name),
		},
	}
	for _, change := range changes {
		change(&deployment.Spec)
	}
	created, err := client.AppsV1().Deployments(namespace).Create(ctx, deployment, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return created
}

func scale(ctx context.Context, namespace, name string, replicas int32) {
	GinkgoHelper()
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
	_, err := client.AppsV1().Deployments(namespace).Patch(ctx, name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// podsOf returns the pods of a namespace that are neither terminating nor finished.
func podsOf(ctx context.Context, namespace string) ([]corev1.Pod, error) {
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var alive []corev1.Pod
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			alive = append(alive, pod)
		}
	}
	return alive, nil
}

// spread counts the ready pods of a namespace by cluster.
func spread(ctx context.Context, namespace string) (map[string]int, error) {
	pods, err := podsOf(ctx, namespace)
	counts := map[string]int{}
	for _, pod := range pods {
		if ready(&pod) {
			counts[clusterOfNode(pod.Spec.NodeName)]++
		}
	}
	return counts, err
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// untilSpread waits until the ready pods of a namespace are spread as given.
func untilSpread(ctx context.Context, namespace string, want map[string]int) {
	GinkgoHelper()
	Eventually(spread).WithContext(ctx).WithArguments(namespace).WithTimeout(timeout).WithPolling(poll).Should(Equal(want))
}

// uids are the UIDs of the pods of a namespace.
func uids(ctx context.Context, namespace string) map[string]bool {
	GinkgoHelper()
	pods, err := podsOf(ctx, namespace)
	Expect(err).NotTo(HaveOccurred())
	found := map[string]bool{}
	for _, pod := range pods {
		found[string(pod.UID)] = true
	}
	return found
}

// condition returns "Status Reason" of a condition of a policy, "" if it is not there or speaks of
// an older spec.
func condition(ctx context.Context, namespace, policy, conditionType string) string {
	found, err := berth.BerthV1alpha1().PropagationPolicies(namespace).Get(ctx, policy, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	c := apimeta.FindStatusCondition(found.Status.Conditions, conditionType)
	if c == nil || c.ObservedGeneration != found.Generation {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

func untilCondition(ctx context.Context, namespace, policy, conditionType, want string) {
	GinkgoHelper()
	Eventually(condition).WithContext(ctx).WithArguments(namespace, policy, conditionType).
		WithTimeout(timeout).WithPolling(poll).Should(Equal(want))
}

// message returns the message of a condition of a policy.
func message(ctx context.Context, namespace, policy, conditionType string) (string, error) {
	found, err := berth.BerthV1alpha1().PropagationPolicies(namespace).Get(ctx, policy, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	c := apimeta.FindStatusCondition(found.Status.Conditions, conditionType)
	if c == nil {
		return "", nil
	}
	return c.Message, nil
}

// during runs check again and again until stop is called, and fails the spec if it ever fails.
func during(ctx context.Context, check func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	failure := make(chan error, 1)
	go func() {
		defer close(failure)
		ticker := time.NewTicker(poll / 5)
		defer ticker.Stop()
		for {
			if err := check(ctx); err != nil && ctx.Err() == nil {
				failure <- err
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return func() {
		GinkgoHelper()
		cancel()
		Expect(<-failure).NotTo(HaveOccurred())
	}
}

// expectStayed expects that so many of the pods are still there.
func expectStayed(ctx context.Context, namespace string, before map[string]bool, want int) {
	GinkgoHelper()
	n, err := stayed(ctx, namespace, before)
	Expect(err).NotTo(HaveOccurred())
	Expect(n).To(Equal(want), "pods that were not moved")
}

// atLeast is a check for during: so many pods of the namespace are ready.
func atLeast(namespace string, want int) func(context.Context) error {
	return func(ctx context.Context) error {
		counts, err := spread(ctx, namespace)
		total := 0
		for _, n := range counts {
			total += n
		}
		if err == nil && total < want {
			err = fmt.Errorf("only %d replicas are ready, not %d", total, want)
		}
		return err
	}
}
