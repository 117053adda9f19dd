// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package runbook runs the commands of docs/tasks/runbooks as they stand there. A function that
// meets with something unexpected fails the spec that called it.
package runbook

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

// command is a line of a runbook.
var command = regexp.MustCompile(`(?m)^    ((?:kubectl|berthctl) .*)$`)

// All returns the commands of each runbook, by the name of its alert.
func All() map[string][]string {
	ginkgo.GinkgoHelper()
	pages, err := filepath.Glob(installation.Path("docs", "tasks", "runbooks", "Berth*.md"))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	gomega.Expect(len(pages)).To(gomega.BeNumerically(">", 25))
	found := map[string][]string{}
	for _, page := range pages {
		alert := strings.TrimSuffix(filepath.Base(page), ".md")
		found[alert] = Of(alert)
	}
	return found
}

// Of returns the commands of the runbook of an alert.
func Of(alert string) []string {
	ginkgo.GinkgoHelper()
	text, err := os.ReadFile(installation.Path("docs", "tasks", "runbooks", alert+".md"))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	found := command.FindAllStringSubmatch(string(text), -1)
	lines := make([]string, 0, len(found))
	for _, match := range found {
		lines = append(lines, match[1])
	}
	gomega.Expect(lines).NotTo(gomega.BeEmpty(), alert)
	return lines
}

// Shell runs a line as a user would, with the programs that were built and a kubeconfig, and
// returns what it prints.
func Shell(ctx context.Context, kubeconfig, line string) (string, error) {
	ginkgo.GinkgoHelper()
	programs, err := localplane.FindBinDir()
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	c := exec.CommandContext(ctx, "bash", "-c", "set -o pipefail; "+line)
	c.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "PATH="+programs+":"+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	return string(out), err
}
