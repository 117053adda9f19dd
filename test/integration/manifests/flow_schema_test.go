// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/installation"
)

// schemaOf returns the UID of the FlowSchema by which the API server treats a request.
func schemaOf(ctx context.Context, config *rest.Config, path string) string {
	GinkgoHelper()
	caller, err := rest.HTTPClientFor(config)
	Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+path, http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	response, err := caller.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	return response.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID)
}

var _ = Describe("The flow schema", func() {
	It("lets leases pass the requests for pods", func(ctx SpecContext) {
		schema, err := client.FlowcontrolV1().FlowSchemas().Get(ctx, "berth-leader-election", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		leases := func(namespace string) string {
			return "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases/berth-scheduler"
		}
		for account, namespace := range map[string]string{
			"berth-scheduler":          berthv1alpha1.DefaultLeaseNamespace,
			"berth-controller-manager": systemNamespace,
		} {
			Eventually(schemaOf).WithContext(ctx).WithArguments(installation.ConfigOf(plane, account), leases(namespace)).WithTimeout(timeout).WithPolling(poll).
				Should(BeEquivalentTo(schema.UID), account)
		}
		Expect(schemaOf(ctx, installation.ConfigOf(plane, "berth-scheduler"), "/api/v1/pods?limit=1")).NotTo(BeEquivalentTo(schema.UID))
		Expect(schemaOf(ctx, installation.ConfigOf(plane, "berth-gateway"), leases(systemNamespace))).NotTo(BeEquivalentTo(schema.UID))
	})
})
