// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli_test checks berthctl as its users run it: as a process with a kubeconfig, against a
// real control plane. Nothing of Berth runs there: the tests bind pods by hand, and berthctl has to
// tell the truth from the live objects.
package cli_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

const (
	// timeout is for what takes a second or two on an idle machine.
	timeout = 150 * time.Second
	poll    = 50 * time.Millisecond
)

var (
	binDir string
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
)

func TestCLI(t *testing.T) {
	installation.Suite{Title: "berthctl", Begin: begin, End: end}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	var err error
	binDir, err = localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	plane, client, berth = started.ControlPlane, started.Client, started.Berth

	By("asking before the CRDs are there")
	expectFailure(ctx, "the Berth API is not installed in this cluster: kubectl apply -k manifests/base", "get", "placement")
	expectFailure(ctx, "the Berth API is not installed in this cluster", "explain", "pod", "nginx")

	installation.ApplyCRDs(ctx, plane)
}

func end(_ SpecContext) {
	gexec.KillAndWait(timeout)
}

// start runs berthctl as the administrator, under the name of one of its links.
func start(ctx context.Context, program string, args ...string) *gexec.Session {
	GinkgoHelper()
	command := exec.CommandContext(ctx, filepath.Join(binDir, program), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+plane.AdminKubeconfig())
	session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	return session
}

// run runs berthctl to its end and returns what it printed on standard output. It must neither fail
// nor complain.
func run(ctx context.Context, args ...string) string {
	GinkgoHelper()
	session := start(ctx, "berthctl", args...)
	Eventually(session).WithContext(ctx).WithTimeout(timeout).Should(gexec.Exit(0))
	Expect(string(session.Err.Contents())).To(BeEmpty())
	return string(session.Out.Contents())
}

// expectFailure runs berthctl, which must fail with one line on standard error that contains the
// text, and nothing else.
func expectFailure(ctx context.Context, text string, args ...string) {
	GinkgoHelper()
	session := start(ctx, "berthctl", args...)
	Eventually(session).WithContext(ctx).WithTimeout(timeout).Should(gexec.Exit(1))
	Expect(string(session.Out.Contents())).To(BeEmpty())
	Expect(string(session.Err.Contents())).To(And(
		HavePrefix("error: "), ContainSubstring(text), MatchRegexp(`\A[^\n]{1,1000}\n\z`)))
}

// newNamespace makes a namespace for one spec.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	namespace, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "cli-"},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.CoreV1().Namespaces().Delete(ctx, namespace.Name, metav1.DeleteOptions{})).To(Succeed())
	})
	return namespace.Name
}
