// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"context"
	"fmt"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const name = "bundle"

// feed names an object of the kinds that the specs use.
func feed(kind, name string) berthv1alpha1.Feed {
	versions := map[string]string{
		"Deployment": "apps/v1", "StatefulSet": "apps/v1", "ConfigMap": "v1", "Secret": "v1", "Namespace": "v1",
	}
	version, ok := versions[kind]
	if !ok {
		version = "feeds.test/v1"
	}
	return berthv1alpha1.Feed{APIVersion: version, Kind: kind, Name: name}
}

// subscribe makes a Subscription that divides dynamically.
func subscribe(ctx context.Context, namespace string, feeds ...berthv1alpha1.Feed) *berthv1alpha1.Subscription {
	GinkgoHelper()
	created, err := berth.BerthV1alpha1().Subscriptions(namespace).Create(ctx, &berthv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: berthv1alpha1.SubscriptionSpec{
			SchedulingStrategy: berthv1alpha1.DynamicDividingStrategy,
			Subscribers:        []berthv1alpha1.Subscriber{{}}, Feeds: feeds,
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return created
}

// changeSpec changes the spec of the Subscription.
func changeSpec(ctx context.Context, namespace string, change func(*berthv1alpha1.SubscriptionSpec)) {
	GinkgoHelper()
	Eventually(ctx, func(ctx context.Context) error {
		s, err := berth.BerthV1alpha1().Subscriptions(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&s.Spec)
		_, err = berth.BerthV1alpha1().Subscriptions(namespace).Update(ctx, s, metav1.UpdateOptions{})
		return err
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// deploy makes a Deployment that starts no pods.
func deploy(ctx context.Context, namespace, name string, replicas int32) {
	GinkgoHelper()
	labels := map[string]string{"app": name}
	_, err := client.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Paused: true, Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "a", Image: "a", Resources: corev1.ResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")},
					},
				}}},
			},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func scale(ctx context.Context, namespace, name string, replicas int32) {
	GinkgoHelper()
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
	_, err := client.AppsV1().Deployments(namespace).Patch(ctx, name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func inventory(ctx context.Context, namespace string) (*berthv1alpha1.FeedInventory, error) {
	return berth.BerthV1alpha1().FeedInventories(namespace).Get(ctx, name, metav1.GetOptions{})
}

// lines tells of each feed in an inventory what is known, "Deployment a 3 Parsed" for instance.
func lines(namespace string) func(context.Context) []string {
	return func(ctx context.Context) []string {
		found, err := inventory(ctx, namespace)
		if err != nil {
			return []string{err.Error()}
		}
		var list []string
		for i, order := range found.Spec.Feeds {
			replicas, reason := "-", "?"
			if order.DesiredReplicas != nil {
				replicas = strconv.Itoa(int(*order.DesiredReplicas))
			}
			if i < len(found.Status.Feeds) {
				if c := apimeta.FindStatusCondition(found.Status.Feeds[i].Conditions, berthv1alpha1.FeedParsed); c != nil {
					reason = c.Reason
				}
			}
			list = append(list, fmt.Sprintf("%s %s %s %s", order.Kind, order.Name, replicas, reason))
		}
		return list
	}
}

func untilLines(ctx context.Context, namespace string, want ...string) {
	GinkgoHelper()
	Eventually(ctx, lines(namespace)).WithTimeout(timeout).WithPolling(poll).Should(Equal(want))
}

func untilGone(ctx context.Context, namespace string) {
	GinkgoHelper()
	Eventually(ctx, func(ctx context.Context) bool {
		_, err := inventory(ctx, namespace)
		return apierrors.IsNotFound(err)
	}).WithTimeout(timeout).WithPolling(poll).Should(BeTrue())
}

// parsedCondition tells the condition Parsed of the Subscription, "True AllParsed" for instance.
func parsedCondition(namespace string) func(context.Context) string {
	return func(ctx context.Context) string {
		s, err := berth.BerthV1alpha1().Subscriptions(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if c := apimeta.FindStatusCondition(s.Status.Conditions, berthv1alpha1.SubscriptionParsed); c != nil {
			return fmt.Sprintf("%s %s", c.Status, c.Reason)
		}
		return "none"
	}
}

// countWrites returns a function that tells how often inventories of a namespace have been written
// since.
func countWrites(ctx context.Context, namespace string) func() int {
	GinkgoHelper()
	list, err := berth.BerthV1alpha1().FeedInventories(namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	events, err := berth.BerthV1alpha1().FeedInventories(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(events.Stop)
	writes := 0
	return func() int {
		for {
			select {
			case event := <-events.ResultChan():
				if event.Type == watch.Added || event.Type == watch.Modified {
					writes++
				}
			default:
				return writes
			}
		}
	}
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// define makes a kind in the group feeds.test. Its scale subresource, if it has one, points to
// .spec.nodes.
func define(ctx context.Context, kind, plural string, scaled bool) {
	GinkgoHelper()
	subresources := "{}"
	if scaled {
		subresources = "{scale: {specReplicasPath: .spec.nodes, statusReplicasPath: .status.nodes}}"
	}
	create(ctx, definitions, "", fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.feeds.test}
spec:
  group: feeds.test
  scope: Namespaced
  names: {kind: %[1]s, plural: %[2]s}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: %[3]s
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, kind, plural, subresources))
	DeferCleanup(func(ctx SpecContext) { undefine(ctx, plural) })
}

func undefine(ctx context.Context, plural string) {
	GinkgoHelper()
	err := objects.Resource(definitions).Delete(ctx, plural+".feeds.test", metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		Expect(err).NotTo(HaveOccurred())
	}
}

// allowReading lets Berth read a kind of the group feeds.test, as a platform engineer does without
// the aggregation of roles.
func allowReading(ctx context.Context, plural string) {
	GinkgoHelper()
	rules := schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	create(ctx, rules, "", fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: read-%[1]s}
rules: [{apiGroups: [feeds.test], resources: [%[1]s], verbs: [get, list, watch]}]
`, plural))
	rules.Resource = "clusterrolebindings"
	create(ctx, rules, "", fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: read-%[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: read-%[1]s}
subjects: [{kind: ServiceAccount, namespace: berth-system, name: berth-controller-manager}]
`, plural))
}

// create makes an object that is written as YAML. It tries for a while: a kind may have been
// defined a moment ago.
func create(ctx context.Context, resource schema.GroupVersionResource, namespace, text string) {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(text), &object.Object)).To(Succeed())
	Eventually(ctx, func(ctx context.Context) error {
		var err error
		if namespace == "" {
			_, err = objects.Resource(resource).Create(ctx, object, metav1.CreateOptions{})
		} else {
			_, err = objects.Resource(resource).Namespace(namespace).Create(ctx, object, metav1.CreateOptions{})
		}
		return err
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

func ringResource(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "feeds.test", Version: "v1", Resource: plural}
}

// createRing makes a custom resource with four nodes, and one pod template.
func createRing(ctx context.Context, namespace, kind, plural, name string) {
	GinkgoHelper()
	create(ctx, ringResource(plural), namespace, fmt.Sprintf(`
apiVersion: feeds.test/v1
kind: %s
metadata: {name: %s}
spec: {nodes: 4, pods: {spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}]}}}
`, kind, name))
}

// teach makes a FeedParser for a kind of the group feeds.test.
func teach(ctx context.Context, name, kind, path string) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().FeedParsers().Create(ctx, &berthv1alpha1.FeedParser{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: berthv1alpha1.FeedParserSpec{
			Group: "feeds.test", Kind: kind, Replicas: &berthv1alpha1.ReplicasRule{Path: path, Default: ptr.To[int32](7)},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) { unteach(ctx, name) })
}

func unteach(ctx context.Context, name string) {
	GinkgoHelper()
	err := berth.BerthV1alpha1().FeedParsers().Delete(ctx, name, metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		Expect(err).NotTo(HaveOccurred())
	}
}

// accepted tells the condition Accepted of a FeedParser.
func accepted(name string) func(context.Context) string {
	return func(ctx context.Context) string {
		rule, err := berth.BerthV1alpha1().FeedParsers().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if c := apimeta.FindStatusCondition(rule.Status.Conditions, berthv1alpha1.FeedParserAccepted); c != nil {
			return fmt.Sprintf("%s %s", c.Status, c.Reason)
		}
		return "none"
	}
}
