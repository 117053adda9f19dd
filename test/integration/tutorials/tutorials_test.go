// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tutorials_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/test/integration/internal/installation"
)

// registry is what the reader writes for YOUR-REGISTRY. Nothing is read from it.
const registry = "registry.example.com/berth"

// making begins the lines that make a release or a cluster, or find it.
var making = []string{
	"make release", "kind create cluster", "kind delete cluster", "tar -xzf", "berth-playground up", "export PATH=", "export KUBECONFIG=",
}

// typed is what a reader types who has followed the page.
func typed(script string) string {
	var lines []string
	for line := range strings.Lines(script) {
		if slices.ContainsFunc(making, func(begin string) bool { return strings.HasPrefix(line, begin) }) {
			line = ":\n"
		}
		lines = append(lines, line)
	}
	return strings.NewReplacer("YOUR-REGISTRY", registry, "berth-CHARTVERSION", "berth-0.1.0", "TAG", "v0.1.0").Replace(strings.Join(lines, ""))
}

func page(path ...string) string {
	GinkgoHelper()
	content, err := os.ReadFile(installation.Path(append([]string{"docs"}, path...)...))
	Expect(err).NotTo(HaveOccurred())
	return "\n" + string(content)
}

// block finds the shell blocks of a tutorial, and what is printed.
var block = regexp.MustCompile("(?s)```(sh|text)\n(.*?)```")

// follow runs all blocks of a tutorial. What each prints has the lines that the page shows, in
// their order; how wide columns are does not matter, and there may be others between them.
func (r *reader) follow(ctx context.Context, text string) {
	GinkgoHelper()
	said := ""
	for _, found := range block.FindAllStringSubmatch(text, -1) {
		if found[1] == "sh" {
			said = r.run(ctx, typed(found[2]))
			continue
		}
		rest := strings.Split(said, "\n")
		for want := range strings.Lines(found[2]) {
			words := strings.Join(strings.Fields(want), " ")
			at := slices.IndexFunc(rest, func(line string) bool { return strings.Contains(strings.Join(strings.Fields(line), " "), words) })
			Expect(at).To(BeNumerically(">=", 0), "the page says that %q is printed, but it was:\n%s", words, said)
			rest = rest[at+1:]
		}
	}
}

// commands returns the indented lines below a heading that begin with one of kubectl, helm and
// berthctl, with those that continue them.
func commands(text, heading string) string {
	GinkgoHelper()
	_, section, found := strings.Cut(text, "\n"+heading+"\n")
	Expect(found).To(BeTrue(), heading)
	section, _, _ = strings.Cut(section, "\n#")
	lines := regexp.MustCompile(`(?m)^    ((kubectl|helm|berthctl) (.*\\\n)*.*)$`).FindAllStringSubmatch(section, -1)
	Expect(lines).NotTo(BeEmpty(), heading)
	all := make([]string, 0, len(lines))
	for _, line := range lines {
		all = append(all, line[1])
	}
	return strings.Join(all, "\n")
}

// only returns the commands of a script that begin with one of the texts.
func only(script string, begins ...string) string {
	GinkgoHelper()
	var kept []string
	for _, command := range regexp.MustCompile(`(?m)^\S(.*\\\n)*.*$`).FindAllString(script, -1) {
		if slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(command, begin) }) {
			kept = append(kept, command)
		}
	}
	Expect(len(kept)).To(BeNumerically(">=", len(begins)), script)
	return strings.Join(kept, "\n")
}

var _ = Describe("The tutorial", func() {
	for _, name := range []string{"kind.md", "without-docker.md"} {
		It(name+" does what it says", func(ctx SpecContext) {
			newReader(ctx).follow(ctx, page("tutorials", name))
		})
	}
	for _, name := range []string{"sites.md", "licences.md", "bundles.md", "applications.md"} {
		It(name+" does what it says in a playground that has Berth", func(ctx SpecContext) {
			newVisitor().follow(ctx, page("tutorials", name))
		})
	}
	It("is followed, whichever there is", func() {
		pages, err := filepath.Glob(installation.Path("docs", "tutorials", "*.md"))
		Expect(err).NotTo(HaveOccurred())
		Expect(pages).To(HaveLen(6))
	})
})

var _ = Describe("The pages about installing", func() {
	It("install in every way, go from one to another, upgrade, and go back", func(ctx SpecContext) {
		r := newReader(ctx)
		install, upgrade, uninstall := page("tasks", "install.md"), page("tasks", "upgrade.md"), page("tasks", "uninstall.md")
		step := func(script string) string {
			GinkgoHelper()
			return r.run(ctx, typed(script))
		}
		const well = "Status check results are √"
		step(commands(install, "### With one file"))
		Expect(step(only(commands(install, "## 3. Check"), "berthctl check --wait"))).To(ContainSubstring(well))
		step(commands(upgrade, "## Before"))
		Expect(step(commands(upgrade, "## With the one file"))).To(ContainSubstring(well))
		step(commands(upgrade, "## From one way to another"))
		Expect(strings.Count(step(commands(upgrade, "## With Helm")), well)).To(Equal(2))
		step(only(commands(uninstall, "# Uninstall Berth"), "helm uninstall"))

		_, kustomization, _ := strings.Cut(install, "`berth/kustomization.yaml`:\n")
		kustomization, _, _ = strings.Cut(strings.TrimSpace(kustomization), "\n\n")
		Expect(os.Mkdir(filepath.Join(r.dir, "berth"), 0o700)).To(Succeed())
		text := typed(strings.ReplaceAll("\n"+kustomization, "\n    ", "\n"))
		Expect(os.WriteFile(filepath.Join(r.dir, "berth", "kustomization.yaml"), []byte(text), 0o600)).To(Succeed())
		step(commands(install, "### With kustomize"))
		Expect(step(commands(upgrade, "## With kustomize"))).To(ContainSubstring(well))

		step(only(commands(uninstall, "# Uninstall Berth"), "kubectl delete deployments", "kubectl delete roles",
			"kubectl delete clusterroles", "berthctl purge", "kubectl delete -f manifests/crds"))
		Expect(step("kubectl get deployments --namespace berth-system")).To(ContainSubstring("No resources found"))
	})
})
