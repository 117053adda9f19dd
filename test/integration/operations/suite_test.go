// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package operations_test plants faults of operation in Berth's real programs, which a real
// Prometheus scrapes: each raises its alert and no other, the commands of the alert's runbook find
// the cause, and the pages show it.
package operations_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/promserver"
	"berth.dev/berth/test/integration/internal/runbook"
	"berth.dev/berth/test/internal/visitor"
)

const (
	// timeout is for what takes seconds on an idle machine.
	timeout = 150 * time.Second
	poll    = 100 * time.Millisecond
)

// plane is the control plane, token a file with a token that may read metrics.
var (
	plane installation.Plane
	token string
)

func TestOperations(t *testing.T) {
	promserver.Promtool(t) // skips where there is no Prometheus, before a control plane is started
	installation.Suite{Title: "faults of operation", Begin: begin, Provoked: []string{
		"list propagationpolicies.berth.dev", "watch propagationpolicies.berth.dev",
	}}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane = started
	installation.Apply(ctx, plane.ControlPlane)
	installation.Allow(ctx, plane.Client, "default")
	text, err := localplane.NewToken(ctx, plane.Client, "prometheus", "system:monitoring")
	Expect(err).NotTo(HaveOccurred())
	token = filepath.Join(plane.StateDir(), "prometheus-token")
	Expect(os.WriteFile(token, []byte(text), 0o600)).To(Succeed())
}

// look serves the pages of berthctl ui for a spec, with the alerts of a Prometheus.
func look(ctx context.Context, server *promserver.Server) *visitor.Visitor {
	GinkgoHelper()
	port, err := localplane.FreePort()
	Expect(err).NotTo(HaveOccurred())
	programs, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	process, err := plane.StartProcess(ctx, "ui", filepath.Join(programs, "berthctl"), "ui", fmt.Sprint("--port=", port),
		"--kubeconfig="+plane.AdminKubeconfig(), "--prometheus="+server.URL)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(process.Stop(timeout)).To(Succeed()) })
	return &visitor.Visitor{Client: &http.Client{Timeout: timeout}, Site: fmt.Sprintf("http://127.0.0.1:%d/ui/", port)}
}

// apply applies objects of testdata.
func apply(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(localplane.ApplyManifests(ctx, plane.Config(), filepath.Join("testdata", name+".yaml"))).To(Succeed())
}

// kubectl runs kubectl as the administrator, and returns what it prints.
func kubectl(ctx context.Context, args string) string {
	GinkgoHelper()
	out, err := runbook.Shell(ctx, plane.AdminKubeconfig(), "kubectl "+args)
	Expect(err).NotTo(HaveOccurred(), "%s\n%s", args, out)
	return strings.TrimSpace(out)
}

// until waits until kubectl prints something.
func until(ctx context.Context, args, want string) {
	GinkgoHelper()
	// What it asks for may not be there yet.
	asked := func() (string, error) { return runbook.Shell(ctx, plane.AdminKubeconfig(), "kubectl "+args) }
	Eventually(asked).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(MatchRegexp(want))
}

// begins takes the leases away of programs that were killed in another spec.
func begins(ctx context.Context) {
	GinkgoHelper()
	kubectl(ctx, "-n berth-system delete leases --all")
	kubectl(ctx, "-n berth-schedulers delete leases --all")
}
