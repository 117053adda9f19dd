// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscriptions_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// cpus sets what each pod asks for.
func cpus(amount string) func(*corev1.PodTemplateSpec) {
	return func(template *corev1.PodTemplateSpec) {
		template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
	}
}

func bundled(spec *berthv1alpha1.SubscriptionSpec) {
	spec.DividingScheduling.Admission = berthv1alpha1.BundleAdmission
}

// byWeight divides by weight, of which each named Cluster has one.
func (s *site) byWeight(weights map[string]int32) func(*berthv1alpha1.SubscriptionSpec) {
	return func(spec *berthv1alpha1.SubscriptionSpec) {
		spec.DividingScheduling.Type = berthv1alpha1.StaticDividingType
		spec.Subscribers = nil
		for name, weight := range weights {
			spec.Subscribers = append(spec.Subscribers, s.subscriber(name, weight))
		}
	}
}

// deploy makes a Deployment whose pods ask for one CPU each.
func (s *site) deploy(ctx context.Context, name string, replicas int32) {
	GinkgoHelper()
	s.deployWith(ctx, name, replicas, func(*corev1.PodTemplateSpec) {})
}

// deployWith is deploy with another template of the pods.
func (s *site) deployWith(ctx context.Context, name string, replicas int32, change func(*corev1.PodTemplateSpec)) {
	GinkgoHelper()
	deployment := newDeployment(name, replicas)
	change(&deployment.Spec.Template)
	_, err := client.AppsV1().Deployments(s.namespace).Create(ctx, deployment, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func newDeployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{SchedulerName: "berth-scheduler", Containers: []corev1.Container{{
					Name: "a", Image: "a", Resources: corev1.ResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
					},
				}}},
			},
		},
	}
}

func (s *site) scale(ctx context.Context, name string, replicas int32) {
	GinkgoHelper()
	_, err := client.AppsV1().Deployments(s.namespace).Patch(ctx, name, types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// subscribe makes a Subscription to Deployments, with room deciding unless the change says
// something else.
func (s *site) subscribe(ctx context.Context, name string, feeds []string, change func(*berthv1alpha1.SubscriptionSpec)) {
	GinkgoHelper()
	subscription := &berthv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: berthv1alpha1.SubscriptionSpec{
			SchedulingStrategy: berthv1alpha1.DividingStrategy,
			DividingScheduling: &berthv1alpha1.DividingScheduling{Type: berthv1alpha1.DynamicDividingType},
			Subscribers:        []berthv1alpha1.Subscriber{{ClusterAffinity: metav1.LabelSelector{MatchLabels: map[string]string{siteLabel: s.suffix}}}},
		},
	}
	for _, feed := range feeds {
		subscription.Spec.Feeds = append(subscription.Spec.Feeds, berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "Deployment", Name: feed})
	}
	if change != nil {
		change(&subscription.Spec)
	}
	_, err := berth.BerthV1alpha1().Subscriptions(s.namespace).Create(ctx, subscription, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	main.UntilKnows(ctx, berth)
}

// subscriber gives one Cluster a weight.
func (s *site) subscriber(name string, weight int32) berthv1alpha1.Subscriber {
	return berthv1alpha1.Subscriber{
		ClusterAffinity: metav1.LabelSelector{MatchLabels: map[string]string{siteLabel: s.suffix, nameLabel: name}}, Weight: weight,
	}
}

func (s *site) pods(ctx context.Context, app string) []corev1.Pod {
	GinkgoHelper()
	list, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	Expect(err).NotTo(HaveOccurred())
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// where tells where the pods of a Deployment run, "a=2 b=3" for instance, with those that wait
// under "-".
func (s *site) where(app string) func(context.Context) string {
	return func(ctx context.Context) string {
		counts := map[string]int{}
		for _, pod := range s.pods(ctx, app) {
			name := strings.TrimSuffix(pod.Spec.NodeName, "-"+s.suffix)
			if name == "" {
				name = "-"
			}
			counts[name]++
		}
		var parts []string
		for name, n := range counts {
			parts = append(parts, fmt.Sprintf("%s=%d", name, n))
		}
		slices.Sort(parts)
		return strings.Join(parts, " ")
	}
}

// status tells something of the status of a Subscription.
func (s *site) status(name string, tell func(*berthv1alpha1.SubscriptionStatus) string) func(context.Context) string {
	return func(ctx context.Context) string {
		found, err := berth.BerthV1alpha1().Subscriptions(s.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return tell(&found.Status)
	}
}

// reason tells the reason of a condition of a Subscription.
func (s *site) reason(name, kind string) func(context.Context) string {
	return s.status(name, func(status *berthv1alpha1.SubscriptionStatus) string { return condition(status, kind).Reason })
}

// told tells status, reason and message of a condition of a Subscription.
func (s *site) told(name, kind string) func(context.Context) string {
	return s.status(name, func(status *berthv1alpha1.SubscriptionStatus) string {
		c := condition(status, kind)
		return string(c.Status) + " " + c.Reason + ": " + c.Message
	})
}

// condition returns a condition, one with the reason "none" if there is none.
func condition(status *berthv1alpha1.SubscriptionStatus, kind string) *metav1.Condition {
	if c := apimeta.FindStatusCondition(status.Conditions, kind); c != nil {
		return c
	}
	return &metav1.Condition{Reason: "none"}
}

// placement tells what the status of a Subscription says of its feeds, "web a=2 b=3" for instance.
func (s *site) placement(name string) func(context.Context) string {
	return s.status(name, func(status *berthv1alpha1.SubscriptionStatus) string {
		var feeds []string
		for _, feed := range status.Feeds {
			words := []string{feed.Name}
			for _, c := range feed.Clusters {
				words = append(words, fmt.Sprintf("%s=%d", strings.TrimSuffix(c.Name, "-"+s.suffix), c.Replicas))
			}
			feeds = append(feeds, strings.Join(words, " "))
		}
		return strings.Join(feeds, ", ")
	})
}

// limitedBy tells why the first feed gets no more in a Cluster.
func (s *site) limitedBy(name, cluster string) func(context.Context) string {
	return s.status(name, func(status *berthv1alpha1.SubscriptionStatus) string {
		for _, c := range status.Feeds[0].Clusters {
			if c.Name == cluster+"-"+s.suffix {
				return c.LimitedBy
			}
		}
		return "none"
	})
}

func until(ctx context.Context, what func(context.Context) string, want string) {
	GinkgoHelper()
	Eventually(ctx, what).WithTimeout(timeout).WithPolling(poll).Should(Equal(want))
}
