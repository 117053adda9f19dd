// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

// byName returns objects by their names, without what must differ: kustomize writes the hash of
// a ConfigMap behind its name, the chart writes one among the annotations of the pods that read it.
func byName(objects []*unstructured.Unstructured) map[string]map[string]any {
	GinkgoHelper()
	found := map[string]map[string]any{}
	for _, o := range objects {
		if o.GetKind() == "Namespace" && o.GetName() == systemNamespace {
			continue // Helm keeps the release in it
		}
		if o.GetKind() == "ConfigMap" {
			o.SetName("scheduler-config")
		}
		if o.GetKind() == "Deployment" {
			template := []string{"spec", "template", "metadata", "annotations"}
			unstructured.RemoveNestedField(o.Object, append(template, "berth.dev/config-checksum")...)
			if left, _, _ := unstructured.NestedMap(o.Object, template...); len(left) == 0 {
				unstructured.RemoveNestedField(o.Object, template...)
			}
			path := []string{"spec", "template", "spec", "volumes"}
			volumes, _, err := unstructured.NestedSlice(o.Object, path...)
			Expect(err).NotTo(HaveOccurred())
			for _, v := range volumes {
				Expect(unstructured.SetNestedField(v.(map[string]any), "scheduler-config", "configMap", "name")).To(Succeed())
			}
			if len(volumes) > 0 {
				Expect(unstructured.SetNestedSlice(o.Object, volumes, path...)).To(Succeed())
			}
		}
		annotations := o.GetAnnotations()
		delete(annotations, "helm.sh/resource-policy")
		if len(annotations) == 0 {
			annotations = nil
		}
		o.SetAnnotations(annotations)
		key := strings.Join([]string{o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()}, " ")
		Expect(found).NotTo(HaveKey(key))
		found[key] = o.Object
	}
	return found
}

func oneFile(ctx SpecContext) []*unstructured.Unstructured {
	GinkgoHelper()
	command := exec.CommandContext(ctx, "go", "run", "./hack/onefile")
	command.Dir = installation.Path()
	var errs bytes.Buffer
	command.Stderr = &errs
	content, err := command.Output()
	Expect(err).NotTo(HaveOccurred(), errs.String())
	return decode(string(content))
}

// ownTemplates leaves out what is generated from the base or copied, which other specs compare with
// where it comes from.
func ownTemplates(rendered string) string {
	var kept []string
	for document := range strings.SplitSeq(rendered, "---\n") {
		copied := strings.Contains(document, "kind: PrometheusRule") || strings.Contains(document, "name: berth-dashboard")
		if !copied && !strings.HasPrefix(document, "# Source: berth/templates/base/") {
			kept = append(kept, document)
		}
	}
	return strings.Join(kept, "---\n")
}

// digest returns one of a single digit.
func digest(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

var _ = Describe("The chart", func() {
	It("passes helm's linter, strictly", func(ctx SpecContext) {
		linted := run(ctx, "lint", chart(), "--strict", "--namespace", systemNamespace)
		Expect(linted.failed).To(BeFalse(), linted.out+linted.err)
	})

	It("has the objects of the base and of the one file", func(ctx SpecContext) {
		rendered := byName(decode(render(ctx, "--no-hooks")))
		file := byName(oneFile(ctx))
		Expect(cmp.Diff(file, rendered)).To(BeEmpty())

		base, err := localplane.BuildKustomization(installation.Path("manifests", "base"))
		Expect(err).NotTo(HaveOccurred())
		maps.DeleteFunc(file, func(key string, _ map[string]any) bool { return strings.Contains(key, "CustomResourceDefinition") })
		Expect(cmp.Diff(byName(base), file)).To(BeEmpty())
	})

	It("has the configuration of the component with profile AddsOnly", func(ctx SpecContext) {
		want, err := os.ReadFile(installation.Path("manifests", "components", "adds-only", "scheduler-config.yaml"))
		Expect(err).NotTo(HaveOccurred())
		for _, object := range decode(render(ctx, "--set", "scheduler.profile=AddsOnly", "-s", "templates/scheduler-config.yaml")) {
			text, _, err := unstructured.NestedString(object.Object, "data", "scheduler-config.yaml")
			Expect(err).NotTo(HaveOccurred())
			Expect(strings.TrimSpace(text)).To(Equal(strings.TrimSpace(string(want))))
		}
	})

	DescribeTable("renders to what its golden file has", func(ctx SpecContext, name string, args ...string) {
		got := ownTemplates(render(ctx, append([]string{"--set", "crds.install=false"}, args...)...))
		path := filepath.Join("testdata", name+".yaml")
		if *update {
			Expect(os.WriteFile(path, []byte(got), 0o644)).To(Succeed())
			return
		}
		want, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(cmp.Diff(string(want), got)).To(BeEmpty(), "run this suite with -update if that is what you want")
	},
		Entry("beside the default scheduler", "beside"),
		Entry("instead of it", "instead", "--set", "mode=Instead", "--set", "scheduler.nodeName=control-plane-1"),
		Entry("several schedulers", "named", "--set", "mode=Named", "--set", "schedulers[0].name=a",
			"--set", "schedulers[1].name=b", "--set", "schedulers[1].replicas=1", "--set", "schedulers[1].extraArgs={--v=4}"),
		Entry("with injection", "inject", "--kube-version", "1.36.0",
			"--set", "inject.namespaceSelector.matchLabels.berth\\.dev/inject=true"),
		Entry("with all values set", "everything", "--values", filepath.Join("testdata", "everything.values.yaml")),
	)

	DescribeTable("names images that are compiled for the cluster", func(ctx SpecContext, version, suffix string, args ...string) {
		images := map[string]string{}
		args = append([]string{"--kube-version", version, "--set", "image.tag=v0.1.0"}, args...)
		for _, object := range decode(render(ctx, args...)) {
			containers, found, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			if found {
				images[object.GetName()] = containers[0].(map[string]any)["image"].(string)
			}
		}
		Expect(images).To(Equal(map[string]string{
			"berth-scheduler": "berth-scheduler:v0.1.0" + suffix, "berth-controller-manager": "berth-controller-manager:v0.1.0" + suffix,
			"berth-gateway": "berth-gateway:v0.1.0",
		}))
	},
		Entry("1.35", "1.35.8", ""),
		Entry("1.36", "1.36.4", ""),
		Entry("1.36, which is to become 1.37", "1.36.4", "-kubernetes-1.36", "--set-string", "image.kubernetes=1.36"),
		Entry("1.37", "1.37.1", "-kubernetes-1.37"),
		Entry("1.37 with a number for a minor", "1.37.1", "-kubernetes-1.36", "--set-json", "image.kubernetes=1.36"),
		Entry("by digest", "1.37.1", "-kubernetes-1.37@"+digest("2"),
			"--set", "scheduler.image.digest="+digest("1"), "--set", `scheduler.image.digests.1\.37=`+digest("2"),
			"--set", "controllerManager.image.digest="+digest("1"), "--set", `controllerManager.image.digests.1\.37=`+digest("2")),
		Entry("by digest, on the oldest", "1.35.8", "@"+digest("1"),
			"--set", "scheduler.image.digest="+digest("1"), "--set", `scheduler.image.digests.1\.37=`+digest("2"),
			"--set", "controllerManager.image.digest="+digest("1")),
	)

	It("has rules and dashboard as they are in manifests/monitoring", func(ctx SpecContext) {
		read := func(name string) []byte {
			content, err := os.ReadFile(installation.Path("manifests", "monitoring", name))
			Expect(err).NotTo(HaveOccurred())
			return content
		}
		objects := map[string]*unstructured.Unstructured{}
		for _, object := range decode(render(ctx, "--set", "monitoring.serviceMonitor.enabled=true", "--set", "monitoring.prometheusRule.enabled=true",
			"--set", "monitoring.dashboards.enabled=true", "-s", "templates/monitoring.yaml")) {
			objects[object.GetKind()] = object
		}
		Expect(objects).To(HaveLen(3))
		rules, err := utilyaml.ToJSON(read("rules.yaml"))
		Expect(err).NotTo(HaveOccurred())
		spec, err := json.Marshal(objects["PrometheusRule"].Object["spec"])
		Expect(err).NotTo(HaveOccurred())
		Expect(spec).To(MatchJSON(rules))
		dashboard, _, err := unstructured.NestedString(objects["ConfigMap"].Object, "data", "berth.json")
		Expect(err).NotTo(HaveOccurred())
		Expect(dashboard).To(MatchJSON(read("dashboard.json")))
		Expect(objects["ConfigMap"].GetLabels()).To(HaveKeyWithValue("grafana_dashboard", "1"))
	})

	DescribeTable("has a budget", func(ctx SpecContext, want map[string]any, arg string) {
		budgets := map[string]any{}
		for _, object := range decode(render(ctx, "--set", arg)) {
			if object.GetKind() == "PodDisruptionBudget" {
				spec, _, err := unstructured.NestedMap(object.Object, "spec")
				Expect(err).NotTo(HaveOccurred())
				delete(spec, "selector")
				delete(spec, "unhealthyPodEvictionPolicy")
				budgets[object.GetName()] = spec
			}
		}
		Expect(budgets).To(HaveLen(2 + min(1, len(want))))
		if len(want) > 0 {
			Expect(budgets).To(HaveKeyWithValue("berth-gateway", want))
		}
	},
		Entry("of what may be missing", map[string]any{"maxUnavailable": int64(1)}, "gateway.podDisruptionBudget.maxUnavailable=1"),
		Entry("of what must be left", map[string]any{"minAvailable": "50%"}, "gateway.podDisruptionBudget.minAvailable=50%"),
		Entry("but not where it is taken away", nil, "gateway.podDisruptionBudget=null"),
	)

	It("has no monitoring unless asked for", func(ctx SpecContext) {
		Expect(render(ctx)).NotTo(Or(ContainSubstring("monitoring.coreos.com"), ContainSubstring("berth-dashboard")))
	})

	It("marks all definitions to be kept, unless told otherwise", func(ctx SpecContext) {
		for want, args := range map[bool][]string{true: nil, false: {"--set", "crds.keep=false"}} {
			definitions := 0
			for _, object := range decode(render(ctx, args...)) {
				if object.GetKind() == "CustomResourceDefinition" {
					definitions++
					_, kept := object.GetAnnotations()["helm.sh/resource-policy"]
					Expect(kept).To(Equal(want), object.GetName())
				}
			}
			Expect(definitions).To(BeNumerically(">", 10))
		}
	})

	DescribeTable("refuses", func(ctx SpecContext, want string, args ...string) {
		refused := run(ctx, inSystem("template", "berth", args...)...)
		Expect(refused.failed).To(BeTrue())
		Expect(refused.out).To(BeEmpty())
		Expect(refused.err).To(ContainSubstring(want))
	},
		Entry("an unknown key", "additional properties 'replica' not allowed", "--set", "scheduler.replica=2"),
		Entry("an unknown key at the top", "additional properties 'schedular' not allowed", "--set", "schedular.replicas=2"),
		Entry("a value of a wrong type", "at '/scheduler/replicas': got string, want integer", "--set", "scheduler.replicas=two"),
		Entry("memory that is none", "at '/scheduler/resources/limits/memory'", "--set", "scheduler.resources.limits.memory=lots"),
		Entry("a processor that is less than none", "at '/gateway/resources/requests/cpu'", "--set", "gateway.resources.requests.cpu=-1"),
		Entry("an address for a registry", "at '/image/registry'", "--set", "image.registry=https://registry.example.com"),
		Entry("a tag that is none", "at '/image/tag'", "--set", "image.tag=a/b"),
		Entry("a toleration of no operator", "at '/scheduler/tolerations/0/operator'", "--set", "scheduler.tolerations[0].key=a,scheduler.tolerations[0].operator=In"),
		Entry("a label that is none", "at '/controllerManager/nodeSelector/zone'", "--set", "controllerManager.nodeSelector.zone=a b"),
		Entry("a variable that is a number", "at '/gateway/extraEnv/0/value'", "--set", "gateway.extraEnv[0].name=A,gateway.extraEnv[0].value=1"),
		Entry("injection by an expression without values", "at '/inject/namespaceSelector/matchExpressions/0'", "--kube-version", "1.36.0",
			"--set", "inject.namespaceSelector.matchExpressions[0].key=a,inject.namespaceSelector.matchExpressions[0].operator=In"),
		Entry("an object of no kind", "at '/extraObjects/0'", "--set", "extraObjects[0].apiVersion=v1"),
		Entry("a configuration that is none", "scheduler.config is no KubeSchedulerConfiguration", "--set", "scheduler.config=leaderElect"),
		Entry("an unknown mode", "at '/mode': value must be one of 'Beside', 'Instead', 'Named'", "--set", "mode=Above"),
		Entry("a digest that is none", "at '/gateway/image/digest'", "--set", "gateway.image.digest=latest"),
		Entry("a budget of no kind", "at '/scheduler/podDisruptionBudget': minProperties",
			"--set", "scheduler.podDisruptionBudget.minAvailable=null"),
		Entry("no scheduler", "missing property 'scheduler'", "--set", "scheduler=null"),
		Entry("no section for the gateway", "missing property 'gateway'", "--set", "gateway=null"),
		Entry("no section for images", "missing property 'image'", "--set", "image=null"),
		Entry("no image of the scheduler", "at '/scheduler': missing property 'image'", "--set", "scheduler.image=null"),
		Entry("an image of no name", "at '/gateway/image': missing property 'repository'", "--set", "gateway.image.repository=null"),
		Entry("no section for definitions", "missing property 'crds'", "--set", "crds=null"),
		Entry("no section for injection", "missing property 'inject'", "--set", "inject=null"),
		Entry("no section for monitoring", "missing property 'monitoring'", "--set", "monitoring=null"),
		Entry("no section for dashboards", "at '/monitoring': missing property 'dashboards'", "--set", "monitoring.dashboards=null"),
		Entry("no section for network policies", "missing property 'networkPolicy'", "--set", "networkPolicy=null"),
		Entry("a word for an object", "extraObjects[0] is no object: it has no kind", "--set", "extraObjects[0]=foo"),
		Entry("an interval that is none", "at '/monitoring/serviceMonitor/interval'", "--set", "monitoring.serviceMonitor.interval=often"),
		Entry("a cluster that is too old", "incompatible with Kubernetes v1.34.3", "--kube-version", "1.34.3"),
		Entry("a cluster that is too new", "incompatible with Kubernetes v1.38.0", "--kube-version", "1.38.0"),
		Entry("a scheduler that is too new", "image.kubernetes is 1.37, and this is Kubernetes v1.36.0", "--kube-version", "1.36.0",
			"--set-string", "image.kubernetes=1.37"),
		Entry("a scheduler that is too old", "image.kubernetes is 1.35, and this is Kubernetes v1.37.1", "--kube-version", "1.37.1",
			"--set-string", "image.kubernetes=1.35"),
		Entry("a minor that it is not made for", "at '/image/kubernetes'", "--set-string", "image.kubernetes=1.34"),
		Entry("images that were not made for the cluster", "no digest of berth-scheduler compiled with Kubernetes 1.37", "--kube-version", "1.37.1",
			"--set", "scheduler.image.digest="+digest("1")),
		Entry("another namespace", "use --namespace berth-system", "--namespace", "elsewhere"),
		Entry("Named without names", "mode Named needs schedulers", "--set", "mode=Named"),
		Entry("a name twice", "schedulers lists a twice", "--set", "mode=Named",
			"--set", "schedulers[0].name=a", "--set", "schedulers[1].name=a"),
		Entry("names in another mode", "schedulers are for mode Named", "--set", "schedulers[0].name=a"),
		Entry("injection without the API", "needs MutatingAdmissionPolicy, which this API server does not serve",
			"--set", "inject.namespaceSelector.matchLabels.a=b"),
		Entry("injection where it has no use", "has no use in mode Instead", "--set", "mode=Instead",
			"--set", "inject.namespaceSelector.matchLabels.a=b", "--kube-version", "1.36.0"),
	)
})
