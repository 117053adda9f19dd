// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/promserver"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// scraping is the configuration of a Prometheus beside Berth's programs: token file, rule file,
// then the port of the scheduler and that of the controller manager.
const scraping = `
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [%[2]q]
scrape_configs:
- job_name: berth-scheduler
  scheme: https
  tls_config: {insecure_skip_verify: true}
  authorization: {credentials_file: %[1]q}
  static_configs: [{targets: ["127.0.0.1:%[3]d"]}]
- job_name: berth-controller-manager
  scheme: https
  tls_config: {insecure_skip_verify: true}
  authorization: {credentials_file: %[1]q}
  static_configs: [{targets: ["127.0.0.1:%[4]d"]}]
`

var plane installation.Plane

func TestDashboard(t *testing.T) {
	promserver.Promtool(t) // skips where there is no Prometheus, before a control plane is started
	installation.Suite{Title: "dashboard and rules", Begin: func(ctx SpecContext, started installation.Plane) {
		plane = started
		installation.Apply(ctx, plane.ControlPlane)
	}}.Run(t)
}

// scraperToken returns a file with a token of a ServiceAccount that may read metrics and no more.
func scraperToken(ctx context.Context) string {
	GinkgoHelper()
	token, err := localplane.NewToken(ctx, plane.Client, "prometheus", "system:monitoring")
	Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(GinkgoT().TempDir(), "token")
	Expect(os.WriteFile(path, []byte(token), 0o600)).To(Succeed())
	return path
}

// populate makes a site with a node, one without, a policy for both, and a pool of which two pods
// want the one unit that there is.
func populate(ctx context.Context) {
	GinkgoHelper()
	kinds := plane.Berth.BerthV1alpha1()
	_, err := plane.Client.CoreV1().Nodes().Create(ctx, localplane.FakeNode("quay", nil, localplane.DefaultCapacity()), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	for name, nodes := range map[string][]string{"harbour": {"quay"}, "island": {"nowhere"}} {
		cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		cluster.Spec.Nodes = nodes
		_, err := kinds.Clusters().Create(ctx, cluster, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	pool := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "matlab"}}
	pool.Spec.Capacity = []berthv1alpha1.ClusterResourceQuantity{{Name: "default", Quantity: resource.MustParse("1")}}
	_, err = kinds.ClusterResources().Create(ctx, pool, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	for name, sites := range map[string][]string{"web": {"harbour"}, "lost": {"island"}, "solver": nil} {
		if sites != nil {
			policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
			policy.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: name}}
			policy.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: sites, Weight: 1}}
			_, err := kinds.PropagationPolicies("default").Create(ctx, policy, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		labels := map[string]string{"app": name}
		workload := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
		workload.Spec.Replicas, workload.Spec.Selector = ptr.To[int32](2), &metav1.LabelSelector{MatchLabels: labels}
		workload.Spec.Template.Labels = labels
		workload.Spec.Template.Spec = corev1.PodSpec{SchedulerName: "berth-scheduler", Containers: []corev1.Container{{Name: "main", Image: "image"}}}
		if name == "solver" {
			limit := corev1.ResourceList{"cluster-resource.berth.dev/matlab": resource.MustParse("1")}
			workload.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: limit, Requests: limit}
		}
		_, err := plane.Client.AppsV1().Deployments("default").Create(ctx, workload, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}

// dashboardQueries returns the expressions of the dashboard.
func dashboardQueries() []string {
	GinkgoHelper()
	content, err := os.ReadFile(installation.Path("manifests", "monitoring", "dashboard.json"))
	Expect(err).NotTo(HaveOccurred())
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	Expect(json.Unmarshal(content, &dashboard)).To(Succeed())
	var found []string
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			found = append(found, target.Expr)
		}
	}
	Expect(len(found)).To(BeNumerically(">", 20))
	return found
}

var _ = Describe("A Prometheus beside Berth", func() {
	It("has an answer to every query of the dashboard, and evaluates every rule", func(ctx SpecContext) {
		port, err := localplane.FreePort()
		Expect(err).NotTo(HaveOccurred())
		scheduler := schedulerproc.Start(ctx, plane.ControlPlane, schedulerproc.Options{Args: schedulerproc.Patient}).EndAfterwards()
		controllers := schedulerproc.StartControllers(ctx, plane.ControlPlane, "--metrics-bind-address=127.0.0.1:"+strconv.Itoa(port))
		DeferCleanup(func() { Expect(controllers.Stop(patience)).To(Succeed()) })
		rules, err := filepath.Abs(installation.Path("manifests", "monitoring", "rules.yaml"))
		Expect(err).NotTo(HaveOccurred())
		server := promserver.StartWith(ctx, GinkgoT(), fmt.Sprintf(scraping, scraperToken(ctx), rules, scheduler.Port(), port))
		up := func(g Gomega) {
			var answer struct{ Result []any }
			g.Expect(server.Ask(ctx, "query?query="+url.QueryEscape(`up == 1`), &answer)).To(Succeed())
			g.Expect(answer.Result).To(HaveLen(2))
		}
		Eventually(up).WithTimeout(patience).WithPolling(poll).Should(Succeed())
		populate(ctx)

		By("asking what the dashboard asks")
		for _, query := range dashboardQueries() {
			Eventually(func(g Gomega) {
				var answer struct{ Result []any }
				g.Expect(server.Ask(ctx, "query?query="+url.QueryEscape(query), &answer)).To(Succeed())
				g.Expect(answer.Result).NotTo(BeEmpty(), query)
			}).WithTimeout(patience).WithPolling(poll).Should(Succeed())
		}

		By("evaluating the rules")
		Eventually(func(g Gomega) {
			var answer struct {
				Groups []struct {
					Rules []struct{ Name, Health, LastError string }
				}
			}
			g.Expect(server.Ask(ctx, "rules", &answer)).To(Succeed())
			evaluated := 0
			for _, group := range answer.Groups {
				for _, rule := range group.Rules {
					evaluated++
					g.Expect(rule.Health).To(Equal("ok"), "%s: %s", rule.Name, rule.LastError)
				}
			}
			g.Expect(evaluated).To(BeNumerically(">", 35))
		}).WithTimeout(patience).WithPolling(poll).Should(Succeed())
	})
})
