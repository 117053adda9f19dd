// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package installation runs a suite of integration tests against a control plane and installs in it
// what is shipped. A function that meets with something unexpected fails the suite that called it.
// Tests must run in a folder below test/integration, as go test does.
package installation

import (
	"context"
	"path/filepath"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"berth.dev/berth/pkg/localplane"
)

// Path returns a path below the root of the repository.
func Path(elements ...string) string {
	return filepath.Join(append([]string{"..", "..", ".."}, elements...)...)
}

// ConfigOf returns how a client speaks to the API server as one of Berth's ServiceAccounts.
func ConfigOf(plane *localplane.ControlPlane, serviceAccount string) *rest.Config {
	ginkgo.GinkgoHelper()
	user, groups := localplane.ServiceAccountIdentity(localplane.BerthNamespace, serviceAccount)
	path, err := plane.Kubeconfig(user, groups...)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	config, err := clientcmd.BuildConfigFromFlags("", path)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return config
}

// ApplyCRDs applies the definitions of Berth's kinds.
func ApplyCRDs(ctx context.Context, plane *localplane.ControlPlane) {
	ginkgo.GinkgoHelper()
	gomega.Expect(localplane.ApplyCRDs(ctx, plane.Config(), Path("manifests", "crds"))).To(gomega.Succeed())
}

// ApplyBase applies all else in manifests/base but the Deployments, since no kubelet would run
// them.
func ApplyBase(ctx context.Context, plane *localplane.ControlPlane) {
	ginkgo.GinkgoHelper()
	objects, err := localplane.BuildKustomization(Path("manifests", "base"))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	gomega.Expect(localplane.ApplyObjects(ctx, plane.Config(), localplane.WithoutWorkloads(objects))).To(gomega.Succeed())
}

// Apply applies everything: the definitions, then the base.
func Apply(ctx context.Context, plane *localplane.ControlPlane) {
	ginkgo.GinkgoHelper()
	ApplyCRDs(ctx, plane)
	ApplyBase(ctx, plane)
}
