// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

const systemNamespace = "berth-system"

// kustomize builds the base together with components, as a user's own kustomization would.
func kustomize(components ...string) []*unstructured.Unstructured {
	GinkgoHelper()
	root, err := filepath.Abs(installation.Path())
	Expect(err).NotTo(HaveOccurred())
	dir := GinkgoT().TempDir()
	// kustomize takes no absolute paths.
	toRoot, err := filepath.Rel(dir, root)
	Expect(err).NotTo(HaveOccurred())
	text := "resources: [" + filepath.Join(toRoot, "manifests", "base") + "]\n"
	for i, name := range components {
		components[i] = filepath.Join(toRoot, "manifests", "components", name)
	}
	text += "components: [" + strings.Join(components, ", ") + "]\n"
	Expect(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600)).To(Succeed())
	built, err := localplane.BuildKustomization(dir)
	Expect(err).NotTo(HaveOccurred())
	return built
}

// only returns the objects of a kind.
func only(kind string, all []*unstructured.Unstructured) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, object := range all {
		if object.GetKind() == kind {
			found = append(found, object)
		}
	}
	return found
}

// schedulerConfig returns the name and the content of the scheduler's configuration.
func schedulerConfig(all []*unstructured.Unstructured) (name, content string) {
	GinkgoHelper()
	maps := only("ConfigMap", all)
	Expect(maps).To(HaveLen(1))
	return maps[0].GetName(), into[corev1.ConfigMap](maps[0]).Data["scheduler-config.yaml"]
}

var _ = Describe("The base", func() {
	var base []*unstructured.Unstructured
	BeforeEach(func() {
		base = kustomize()
	})

	It("is refused with a field that does not exist", func(ctx SpecContext) {
		deployment := only("Deployment", base)[0]
		Expect(unstructured.SetNestedField(deployment.Object, int64(1), "spec", "replica")).To(Succeed())
		err := localplane.ApplyObjects(ctx, plane.Config(), []*unstructured.Unstructured{deployment})
		Expect(err).To(MatchError(ContainSubstring(".spec.replica: field not declared in schema")))
	})

	It("names no registry", func() {
		for _, object := range only("Deployment", base) {
			for _, container := range into[appsv1.Deployment](object).Spec.Template.Spec.Containers {
				Expect(container.Image).To(Equal(object.GetName() + ":latest"))
			}
		}
	})

	It("runs pods that the restricted pod security standard admits", func(ctx SpecContext) {
		namespace, err := client.CoreV1().Namespaces().Get(ctx, systemNamespace, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(namespace.Labels).To(HaveKeyWithValue("pod-security.kubernetes.io/enforce", "restricted"))
		for _, object := range only("Deployment", base) {
			deployment := into[appsv1.Deployment](object)
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "admitted-", Labels: deployment.Spec.Template.Labels},
				Spec:       deployment.Spec.Template.Spec,
			}
			create := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
			_, err := client.CoreV1().Pods(systemNamespace).Create(ctx, pod.DeepCopy(), create)
			Expect(err).NotTo(HaveOccurred(), deployment.Name)
			Expect(*pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem).To(BeTrue(), deployment.Name)

			pod.Spec.Containers[0].SecurityContext = nil
			_, err = client.CoreV1().Pods(systemNamespace).Create(ctx, pod, create)
			Expect(err).To(MatchError(ContainSubstring(`violates PodSecurity "restricted:latest"`)))
		}
	})

	It("keeps one pod of each program through every voluntary disruption", func() {
		budgets := only("PodDisruptionBudget", base)
		for _, object := range only("Deployment", base) {
			deployment := into[appsv1.Deployment](object)
			Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(2), deployment.Name)
			var matching []string
			for _, budget := range budgets {
				pdb := into[policyv1.PodDisruptionBudget](budget)
				selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
				Expect(err).NotTo(HaveOccurred())
				if selector.Matches(labels.Set(deployment.Spec.Template.Labels)) {
					matching = append(matching, pdb.Name)
					Expect(pdb.Spec.MinAvailable.IntValue()).To(Equal(1))
				}
			}
			Expect(matching).To(HaveLen(1), deployment.Name)
		}
	})

	It("points its Services and probes at ports that exist", func() {
		ports := map[string]map[string]bool{}
		for _, object := range only("Deployment", base) {
			template := into[appsv1.Deployment](object).Spec.Template
			named := map[string]bool{}
			for _, port := range template.Spec.Containers[0].Ports {
				named[port.Name] = true
			}
			ports[template.Labels["app.kubernetes.io/name"]] = named
			container := template.Spec.Containers[0]
			for _, probe := range []*corev1.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
				Expect(named).To(HaveKey(probe.HTTPGet.Port.StrVal), object.GetName())
			}
		}
		services := only("Service", base)
		Expect(services).To(HaveLen(len(ports)))
		for _, object := range services {
			service := into[corev1.Service](object)
			Expect(ports[service.Spec.Selector["app.kubernetes.io/name"]]).To(HaveKey(service.Spec.Ports[0].TargetPort.StrVal))
		}
	})

	It("rolls the scheduler out anew when its configuration changes", func() {
		name, _ := schedulerConfig(base)
		for _, object := range only("Deployment", base) {
			if object.GetName() == "berth-scheduler" {
				volumes := into[appsv1.Deployment](object).Spec.Template.Spec.Volumes
				Expect(volumes[0].ConfigMap.Name).To(Equal(name))
			}
		}
		other, _ := schedulerConfig(kustomize("adds-only"))
		Expect(other).NotTo(Equal(name))
	})

	It("carries the configurations that are shipped, and the component replaces nothing else", func() {
		shipped, err := os.ReadFile(installation.Path("manifests", "base", "scheduler-config.yaml"))
		Expect(err).NotTo(HaveOccurred())
		_, content := schedulerConfig(base)
		Expect(content).To(Equal(string(shipped)))

		replacing, err := os.ReadFile(installation.Path("manifests", "components", "adds-only", "scheduler-config.yaml"))
		Expect(err).NotTo(HaveOccurred())
		changed := kustomize("adds-only")
		_, content = schedulerConfig(changed)
		Expect(content).To(Equal(string(replacing)))
		Expect(changed).To(HaveLen(len(base)))
	})

	It("is accepted with the component too", func(ctx SpecContext) {
		Expect(localplane.ApplyObjects(ctx, plane.Config(), kustomize("adds-only"))).To(Succeed())
	})
})
