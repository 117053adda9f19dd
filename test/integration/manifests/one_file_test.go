// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

// oneFile writes the file that users apply, and returns its path.
func oneFile(ctx SpecContext, args ...string) string {
	GinkgoHelper()
	command := exec.CommandContext(ctx, "go", append([]string{"run", "./hack/onefile"}, args...)...)
	command.Dir = installation.Path()
	var errs bytes.Buffer
	command.Stderr = &errs
	content, err := command.Output()
	Expect(err).NotTo(HaveOccurred(), errs.String())
	path := filepath.Join(GinkgoT().TempDir(), "berth.yaml")
	Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
	return path
}

var _ = Describe("The one file", func() {
	It("is accepted by an API server, from top to bottom", func(ctx SpecContext) {
		Expect(localplane.ApplyManifests(ctx, plane.Config(), oneFile(ctx))).To(Succeed())
	})
})
