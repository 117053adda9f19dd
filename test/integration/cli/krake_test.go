// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

var _ = Describe("The commands of Krake", func() {
	It("take an Application through its life", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		path := filepath.Join(GinkgoT().TempDir(), "shop.yaml")
		content := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\ndata: {a: b}\n"
		Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
		inNamespace := func(args ...string) []string { return append([]string{"app", "-n", namespace}, args...) }

		expectFailure(ctx, "--cluster-label-constraint: column 10: ", inNamespace("create", "shop", "-f", path, "-L", "location si DE")...)
		Expect(run(ctx, inNamespace("create", "shop", "-f", path, "-L", "location is DE", "-L", "tier in (gold,silver,)",
			"-M", "load<5", "-M", "price less than or equal -0.5", "-R", "crontabs.stable.example.com",
			"--reschedule-after", "90s")...)).To(Equal("application shop created\n"))
		expectFailure(ctx, `creating application "shop": it exists already`, inNamespace("create", "shop", "-f", path)...)

		applications := berth.BerthV1alpha1().Applications(namespace)
		app, err := applications.Get(ctx, "shop", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(app.Spec.Constraints.ClusterLabels).To(HaveExactElements("location is DE", "tier in (gold,silver,)"))
		Expect(app.Spec.Constraints.ClusterMetrics).To(HaveExactElements("load<5", "price less than or equal -0.5"))
		Expect(string(app.Spec.Manifests[0].Raw)).To(MatchJSON(
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"shop"},"data":{"a":"b"}}`))

		Expect(run(ctx, inNamespace("update", "shop", "--disable-migration", "--remove-existing-metric-constraints")...)).
			To(Equal("application shop updated\n"))
		app, err = applications.Get(ctx, "shop", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(app.Spec.Migration).To(Equal(berthv1alpha1.MigrationNever))
		Expect(app.Spec.Constraints.ClusterMetrics).To(BeEmpty())

		Expect(strings.Fields(run(ctx, inNamespace("list", "-o", "wide")...))).To(HaveExactElements(
			"NAME", "CLUSTER", "SCORE", "SCHEDULED", "READY", "REASON", "MIGRATION", "OBJECTS",
			"shop", "<none>", "<none>", "<none>", "Unknown", "<none>", "Never", "1"))
		Expect(run(ctx, inNamespace("get", "shop")...)).To(MatchRegexp(`\nobjects +configmap/shop\n`))
		Expect(run(ctx, inNamespace("delete", "shop")...)).To(Equal("application shop deleted\n"))
		_, err = applications.Get(ctx, "shop", metav1.GetOptions{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue())
		expectFailure(ctx, `application "shop" not found`, inNamespace("get", "shop")...)
		expectFailure(ctx, `namespaces "nowhere" not found`, "app", "create", "shop", "-f", path, "-n", "nowhere")
	})

	It("create clusters, clouds and projects that the API server takes", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		for _, kind := range []string{"cluster", "cloud", "globalcloud", "os project", "os cluster"} {
			args := append(strings.Fields(kind), "create", namespace, "-n", namespace, "--global-metric", "heat_demand_zone_1", "0.45")
			switch kind {
			case "cluster":
				args = append(args, "-m", "load", "54", "-R", "crontabs.stable.example.com", "-L", "location is DE", "-M", "load = 5")
			case "os project":
				args = append(args, "--user-id", "u", "--template", "t")
			case "os cluster":
				args = append(args, "--master-count", "1", "--node-count", "3", "-L", "location is DE", "-M", "load = 5")
			}
			Expect(run(ctx, args...)).To(HaveSuffix(namespace+" created\n"), kind)
		}
		kinds := berth.BerthV1alpha1()
		DeferCleanup(func(ctx SpecContext) {
			Expect(kinds.Clusters().Delete(ctx, namespace, metav1.DeleteOptions{})).To(Succeed())
			Expect(kinds.GlobalClouds().Delete(ctx, namespace, metav1.DeleteOptions{})).To(Succeed())
		})
		cluster, err := kinds.Clusters().Get(ctx, namespace, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(cluster.Spec.Metrics).To(HaveExactElements(
			berthv1alpha1.MetricReference{Name: "load", Namespace: namespace, Weight: 54},
			berthv1alpha1.MetricReference{Name: "heat_demand_zone_1", Weight: 0.45}))
		Expect(cluster.Spec.Provision.CloudMetrics).To(HaveExactElements("load = 5"))
		project, err := kinds.OpenStackProjects(namespace).Get(ctx, namespace, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(project.Spec.Template).To(Equal("t"))
	})
})
