// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tenancy_test

import (
	"context"
	"fmt"
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/rights"
)

// resourceOf returns the resource of a kind of Berth's.
func resourceOf(kind string) schema.GroupVersionResource {
	plural := strings.ToLower(kind) + "s"
	if stem, found := strings.CutSuffix(plural, "ys"); found {
		plural = stem + "ies"
	}
	return berthv1alpha1.SchemeGroupVersion.WithResource(plural)
}

// writes lets the hostile tenant make an object of Berth's kinds in his namespace, from YAML
// without apiVersion.
func writes(ctx context.Context, text string) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(strings.ReplaceAll(text, "\t", " ")), &object.Object)).To(Succeed())
	object.SetAPIVersion(berthv1alpha1.SchemeGroupVersion.String())
	made, err := malloryObjects.Resource(resourceOf(object.GetKind())).Namespace(own).Create(ctx, object, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return made
}

// answered returns what is told about an object: the reasons and messages of its conditions.
func answered(object *unstructured.Unstructured) func(context.Context) (string, error) {
	return toldBy(malloryObjects.Resource(resourceOf(object.GetKind())).Namespace(own), object.GetName())
}

// toldBy is answered for one of some objects.
func toldBy(objects dynamic.ResourceInterface, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		now, err := objects.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		conditions, _, err := unstructured.NestedSlice(now.Object, "status", "conditions")
		return fmt.Sprint(conditions), err
	}
}

// victimsWorkload returns what makes the victim's pods.
func victimsWorkload(ctx context.Context) *metav1.OwnerReference {
	GinkgoHelper()
	owner := metav1.GetControllerOf(victim)
	Expect(owner).NotTo(BeNil())
	return owner.DeepCopy()
}

var _ = Describe("A hostile tenant", func() {
	It("takes no seat of another by a forged owner", func(ctx SpecContext) {
		set := victimsWorkload(ctx)
		above, err := admin.AppsV1().Deployments(foreign).Get(ctx, "web", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		kinds := map[string]metav1.OwnerReference{
			"ReplicaSet": *set,
			"Deployment": {APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: above.UID, Controller: set.Controller},
		}
		// Of versions and groups that are not served the garbage collector cannot resolve the owner, so
		// the pods stay.
		for kind, owner := range kinds {
			for i, version := range []string{"apps/v1", "apps/v9", "v1", "example.com/v1"} {
				for j, uid := range []types.UID{owner.UID, "forged", victim.UID} {
					forged := owner
					forged.APIVersion, forged.UID = version, uid
					p := pod(strings.ToLower(fmt.Sprintf("forged-%s-%d-%d", kind, i, j)))
					p.OwnerReferences = []metav1.OwnerReference{forged}
					p.Labels, p.Spec.NodeName = maps.Clone(victim.Labels), "east-0"
					delete(p.Labels, "berth.dev/cluster")
					_, err := mallory.CoreV1().Pods(own).Create(ctx, p, metav1.CreateOptions{})
					Expect(err).NotTo(HaveOccurred())
				}
			}
		}
		before := uidsOf(placed(ctx))
		patch := []byte(`{"spec":{"template":{"metadata":{"annotations":{"example.com/rolled":"out"}}}}}`)
		_, err = admin.AppsV1().Deployments(foreign).Patch(ctx, "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			for _, p := range placed(ctx) {
				g.Expect(before).NotTo(HaveKey(p.UID))
			}
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		victim = &placed(ctx)[0]
	})

	It("selects no workload of another by a policy", func(ctx SpecContext) {
		policy := writes(ctx, `{kind: PropagationPolicy, metadata: {name: steals}, spec: {placement: {staticWeightList: [
			{clusterNames: [east], weight: 1}]}, rebalance: {mode: Evict}, resourceSelectors: [
			{apiVersion: apps/v1, kind: Deployment, namespace: `+foreign+`, name: web}]}}`)
		Eventually(ctx, answered(policy)).WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring(berthv1alpha1.ReasonForeignNamespace))
		placed(ctx)
	})

	It("divides and copies nothing of another by a Subscription", func(ctx SpecContext) {
		subscription := writes(ctx, `{kind: Subscription, metadata: {name: steals}, spec: {
			subscribers: [{clusterAffinity: {}}], feeds: [
			{apiVersion: apps/v1, kind: Deployment, namespace: `+foreign+`, name: web}]}}`)
		Eventually(ctx, answered(subscription)).WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring("of its own namespace only"))
		placed(ctx)
		deployments, err := admin.AppsV1().Deployments(foreign).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(deployments.Items).To(HaveLen(1))
	})

	DescribeTable("has no Application make", func(ctx SpecContext, reason, manifest string) {
		manifest = strings.ReplaceAll(manifest, "VICTIM", foreign)
		application := writes(ctx, `{kind: Application, metadata: {generateName: steals-}, spec: {manifests: [`+manifest+`]}}`)
		Eventually(ctx, answered(application)).WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring(reason))
		placed(ctx)
	},
		Entry("an object of another namespace", berthv1alpha1.ReasonInvalidManifests,
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: VICTIM}, spec: {replicas: 0}}`),
		Entry("one without a namespace", berthv1alpha1.ReasonInvalidManifests,
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: steals}}`),
		Entry("one of Berth's", berthv1alpha1.ReasonInvalidManifests,
			`{apiVersion: berth.dev/v1alpha1, kind: PropagationPolicy, metadata: {name: steals}}`),
		Entry("one with rights", berthv1alpha1.ReasonNotAllowed,
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: steals}, roleRef: {
			apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}}`),
		Entry("a Secret", berthv1alpha1.ReasonNotAllowed, `{apiVersion: v1, kind: Secret, metadata: {name: steals}}`),
		Entry("a pod", berthv1alpha1.ReasonNotAllowed,
			`{apiVersion: v1, kind: Pod, metadata: {name: steals}, spec: {containers: [{name: a, image: a}]}}`),
	)

	It("has no Application act as an account that his namespace has not, or has not allowed", func(ctx SpecContext) {
		manifest := `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}`
		for _, account := range []string{"berth-controller-manager", "mallory"} {
			if account == "mallory" {
				_, err := mallory.CoreV1().ServiceAccounts(own).Create(ctx,
					&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{})
				Expect(err).NotTo(HaveOccurred())
			}
			application := writes(ctx, `{kind: Application, metadata: {generateName: acts-}, spec: {serviceAccountName: `+account+
				`, manifests: [`+manifest+`]}}`)
			Eventually(ctx, answered(application)).WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring(berthv1alpha1.ReasonNotAllowed))
		}
		_, err := admin.CoreV1().ConfigMaps(own).Get(ctx, "settings", metav1.GetOptions{})
		Expect(err).To(Satisfy(apierrors.IsNotFound))
	})

	It("may not give Berth rights in another namespace, nor take them", func(ctx SpecContext) {
		role, bindings := rights.Objects(foreign, "mallory")
		_, err := mallory.RbacV1().Roles(foreign).Create(ctx, role, metav1.CreateOptions{})
		Expect(err).To(Satisfy(apierrors.IsForbidden))
		for _, binding := range bindings {
			_, err := mallory.RbacV1().RoleBindings(foreign).Create(ctx, binding, metav1.CreateOptions{})
			Expect(err).To(Satisfy(apierrors.IsForbidden))
		}
		_, bindings = rights.Objects(foreign, "default")
		err = mallory.RbacV1().RoleBindings(foreign).Delete(ctx, bindings[0].Name, metav1.DeleteOptions{})
		Expect(err).To(Satisfy(apierrors.IsForbidden))
		_, err = mallory.RbacV1().RoleBindings(own).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "steals"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		}, metav1.CreateOptions{})
		Expect(err).To(Satisfy(apierrors.IsForbidden))
	})

	It("has no metrics read from the metadata service", func(ctx SpecContext) {
		writes(ctx, `{kind: MetricsProvider, metadata: {name: metadata}, spec: {type: prometheus, prometheus: {
			url: "https://169.254.169.254"}}}`)
		metric := writes(ctx, `{kind: Metric, metadata: {name: load}, spec: {min: 0, max: 1, provider: {name: metadata}}}`)
		Eventually(ctx, answered(metric)).WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring(berthv1alpha1.ReasonAddressNotAllowed))
	})

	It("writes nothing that concerns all namespaces", func(ctx SpecContext) {
		for _, kind := range []string{
			"Cluster", "ClusterPropagationPolicy", "ClusterResource", "Scheduler", "FeedParser", "GlobalMetric", "GlobalMetricsProvider", "GlobalCloud",
		} {
			object := &unstructured.Unstructured{}
			object.SetAPIVersion(berthv1alpha1.SchemeGroupVersion.String())
			object.SetKind(kind)
			object.SetName("steals")
			_, err := malloryObjects.Resource(resourceOf(kind)).Create(ctx, object, metav1.CreateOptions{})
			Expect(err).To(Satisfy(apierrors.IsForbidden), kind)
		}
		for _, kind := range []string{"Application", "Subscription", "PropagationPolicy", "Metric", "FeedInventory"} {
			_, err := malloryObjects.Resource(resourceOf(kind)).Namespace(foreign).List(ctx, metav1.ListOptions{})
			Expect(err).To(Satisfy(apierrors.IsForbidden), kind)
		}
	})

	It("holds up nobody by finalizers and names as Berth gives them", func(ctx SpecContext) {
		application := writes(ctx, `{kind: Application, metadata: {name: web, finalizers: ["berth.dev/held"]}, spec: {
			manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}]}}`)
		writes(ctx, `{kind: PropagationPolicy, metadata: {name: web-deployment-web, finalizers: ["berth.dev/held"]}, spec: {placement: {
			staticWeightList: [{clusterNames: [east], weight: 1}]}, resourceSelectors: [
			{apiVersion: apps/v1, kind: Deployment, name: web}]}}`)
		Expect(malloryObjects.Resource(resourceOf("Application")).Namespace(own).Delete(ctx, application.GetName(), metav1.DeleteOptions{})).To(Succeed())
		Expect(admin.AppsV1().Deployments(foreign).Delete(ctx, "web", metav1.DeleteOptions{})).To(Succeed())
		_, err := admin.AppsV1().Deployments(foreign).Create(ctx, deployment("web"), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		victim = &placed(ctx)[0]
	})
})
