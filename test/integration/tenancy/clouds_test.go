// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tenancy_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// operator makes an object of Berth's kinds as the operator of the cluster does, in a namespace or
// in none, from YAML without apiVersion. What can be asked for again is what is told about it.
func operator(ctx context.Context, namespace, text string) (told func(context.Context) (string, error)) {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(strings.ReplaceAll(text, "\t", " ")), &object.Object)).To(Succeed())
	object.SetAPIVersion(berthv1alpha1.SchemeGroupVersion.String())
	all, err := dynamic.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	objects := dynamic.ResourceInterface(all.Resource(resourceOf(object.GetKind())))
	if namespace != "" {
		objects = all.Resource(resourceOf(object.GetKind())).Namespace(namespace)
	}
	_, err = objects.Create(ctx, object, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(objects.Delete(ctx, object.GetName(), metav1.DeleteOptions{})).To(Succeed())
	})
	return toldBy(objects, object.GetName())
}

var _ = Describe("A hostile tenant with clouds", func() {
	It("has none of his chosen for another", func(ctx SpecContext) {
		writes(ctx, `{kind: Cloud, metadata: {name: bait}, spec: {}}`)
		writes(ctx, `{kind: OpenStackProject, metadata: {name: bait}, spec: {template: bait}}`)
		cluster := operator(ctx, "", `{kind: Cluster, metadata: {name: to-be-made-`+own+`}, spec: {provision: {}}}`)
		elsewhere := operator(ctx, "", `{kind: Cluster, metadata: {name: to-be-made-there-`+own+`}, spec: {provision: {cloudNamespace: `+foreign+`}}}`)
		magnum := operator(ctx, foreign, `{kind: MagnumCluster, metadata: {name: magnum}, spec: {}}`)
		for _, told := range []func(context.Context) (string, error){cluster, elsewhere, magnum} {
			Eventually(ctx, told).WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring("there is none to choose from"))
		}
	})

	It("chooses none of another's", func(ctx SpecContext) {
		operator(ctx, foreign, `{kind: OpenStackProject, metadata: {name: vault}, spec: {template: vault}}`)
		magnum := writes(ctx, `{kind: MagnumCluster, metadata: {generateName: takes-}, spec: {constraints: {projectLabels: ["a not in (b)"]}}}`)
		Eventually(ctx, answered(magnum)).WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring("NoCloudMatches"))
		now, err := malloryObjects.Resource(resourceOf("MagnumCluster")).Namespace(own).Get(ctx, magnum.GetName(), metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(fmt.Sprint(now.Object["status"])).NotTo(ContainSubstring("vault"))
	})
})

var _ = Describe("Credentials of providers", func() {
	It("are not sent over plain HTTP without the consent of the provider", func(ctx SpecContext) {
		secrets := admin.CoreV1().Secrets("berth-credentials")
		_, err := secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "prometheus"}, Data: map[string][]byte{"token": []byte("secret")},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { Expect(secrets.Delete(ctx, "prometheus", metav1.DeleteOptions{})).To(Succeed()) })
		operator(ctx, "", `{kind: GlobalMetricsProvider, metadata: {name: plain}, spec: {type: prometheus, credentialsSecret: prometheus,
			prometheus: {url: "http://metrics.example.com"}}}`)
		told := operator(ctx, "", `{kind: GlobalMetric, metadata: {name: plain}, spec: {min: 0, max: 1, provider: {name: plain}}}`)
		Eventually(ctx, told).WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring(berthv1alpha1.ReasonTLSRequired))
	})

	It("are none of a tenant's provider", func(ctx SpecContext) {
		made := writes(ctx, `{kind: MetricsProvider, metadata: {name: credulous}, spec: {type: prometheus, credentialsSecret: prometheus,
			prometheus: {url: "https://metrics.example.com"}}}`)
		Expect(made.Object["spec"]).NotTo(HaveKey("credentialsSecret"))
	})
})
