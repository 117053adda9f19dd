// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package installation starts a control plane for an integration test and installs in it what is shipped. A function that meets
// with something unexpected fails the suite that called it. Tests must run in a folder below test/integration, as go test does.
package installation

import (
	"context"
	"os"
	"path/filepath"
	"regexp"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
)

// Path returns a path below the root of the repository.
func Path(elements ...string) string {
	return filepath.Join(append([]string{"..", "..", ".."}, elements...)...)
}

// Start starts a control plane without Berth. The clients are those of its administrator. Logs are kept in the folder that the
// environment variable BERTH_TEST_LOGS names, if it does.
func Start(ctx context.Context, changes ...func(*localplane.Options)) (*localplane.ControlPlane, kubernetes.Interface, versioned.Interface) {
	ginkgo.GinkgoHelper()
	binDir, err := localplane.FindBinDir()
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	options := localplane.Options{BinDir: binDir, LogDir: os.Getenv("BERTH_TEST_LOGS")}
	for _, change := range changes {
		change(&options)
	}
	plane, err := localplane.Start(ctx, options)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	client, err := kubernetes.NewForConfig(plane.Config())
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	berth, err := versioned.NewForConfig(plane.Config())
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return plane, client, berth
}

// Stop stops a control plane, nil included, after it has looked for panics in the logs of all programs.
func Stop(plane *localplane.ControlPlane) {
	ginkgo.GinkgoHelper()
	if plane == nil {
		return // the start failed, and said why
	}
	ginkgo.DeferCleanup(func() { gomega.Expect(plane.Stop()).To(gomega.Succeed()) })
	logs, err := filepath.Glob(filepath.Join(plane.LogDir(), "*.log"))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	for _, path := range logs {
		text, err := os.ReadFile(path)
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		gomega.Expect(string(crash.Find(text))).To(gomega.BeEmpty(), path)
	}
}

// crash finds a panic in a log, whether it ended the process or was survived. The word alone is not one: the API server writes
// "panicked: false" of every request whose client has gone, and specs kill clients.
var crash = regexp.MustCompile(`(?m)^panic: .*|^.*Observed a panic.*`)

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

// ApplyBase applies all else in manifests/base but the Deployments, since no kubelet would run them.
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
