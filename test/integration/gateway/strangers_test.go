// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/gateway"
	"berth.dev/berth/test/integration/internal/testsize"
)

var _ = Describe("Clients that know nothing of Berth", func() {
	It("register, list, change and unregister many clusters with Python's standard library", func(ctx SpecContext) {
		python, err := exec.LookPath("python3")
		if err != nil {
			Skip("there is no python3")
		}
		DeferCleanup(func(ctx SpecContext) {
			Expect(berth.BerthV1alpha1().Clusters().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
		})
		token := newToken(ctx, "stranger", "berth-cluster-editor")
		script := filepath.Join("testdata", "stranger.py")
		output, err := exec.CommandContext(ctx, python, script, gateways[0], token, strconv.Itoa(testsize.Of(1011, 311)), "stranger-node").CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
		AddReportEntry("seconds", string(output))
	})

	It("change a cluster of kubectl's with curl", func(ctx SpecContext) {
		curl, err := exec.LookPath("curl")
		if err != nil {
			Skip("there is no curl")
		}
		unregisterAfterwards("by-kubectl")
		made, err := berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: "by-kubectl"},
			Spec: berthv1alpha1.ClusterSpec{
				Nodes: []string{"n1"}, MatchLabels: map[string]string{"site": "a"},
				Provision: &berthv1alpha1.ClusterProvision{CloudLabels: []string{"location is DE"}},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		token := newToken(ctx, "curl", "berth-cluster-editor")
		run := func(args ...string) string {
			GinkgoHelper()
			args = append([]string{
				"--silent", "--show-error", "--insecure", "--include", "--http1.1",
				"--header", "Authorization: Bearer " + token, "--header", "Content-Type: application/json",
				gateways[0] + clusters + "/name/by-kubectl",
			}, args...)
			output, err := exec.CommandContext(ctx, curl, args...).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(output))
			return string(output)
		}
		shown := run()
		_, body, _ := strings.Cut(shown, "\r\n\r\n")

		By("putting back what was read")
		Expect(run("--request", "PUT", "--data", body)).To(And(ContainSubstring("200 OK"), HaveSuffix(body), Not(ContainSubstring("Warning:"))))

		By("putting a body in the published form")
		Expect(run("--request", "PUT", "--data", small("by-kubectl"))).To(And(
			ContainSubstring("nodes are kept"), ContainSubstring("matchLabels are kept"), ContainSubstring(`"nodes":["n1"],"matchLabels":{"site":"a"}`)))

		By("renaming")
		Expect(run("--request", "PATCH", "--data", `{"cluster_profile":{"cluster_name":"other"}}`)).To(And(
			ContainSubstring("400 Bad Request"), ContainSubstring(`line 1, column 36: cluster_name must be`)))

		By("taking the nodes away")
		emptied := strings.Replace(small("by-kubectl"), `"Region"`, `"nodes":[],"matchLables":{},"Region"`, 1)
		Expect(run("--request", "PUT", "--data", emptied)).NotTo(ContainSubstring("Warning:"))
		now, err := berth.BerthV1alpha1().Clusters().Get(ctx, made.Name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(now.UID).To(Equal(made.UID))
		Expect(now.Spec).To(Equal(berthv1alpha1.ClusterSpec{
			ClusterProfile: berthv1alpha1.ClusterProfile{Region: &berthv1alpha1.Region{Region: "r"}}, Provision: made.Spec.Provision,
		}))
	})

	It("list one moment while clusters come and go", func(ctx SpecContext) {
		unregisterAfterwards("moment")
		before := send(ctx, registrar, http.MethodGet, clusters+"?limit=1", "")
		profileOf(send(ctx, registrar, http.MethodPost, clusters, small("moment")), http.StatusCreated)
		after := send(ctx, registrar, http.MethodGet, clusters, "")
		Expect(before.body).To(ContainSubstring(`"resourceVersion":"`))
		Expect(after.body).To(ContainSubstring(`"cluster_name":"moment"`))
		expectProblem(send(ctx, registrar, http.MethodGet, clusters+"?labelSelector=%3D", ""), 400, gateway.CodeInvalidParameter, "labelSelector")
	})
})
