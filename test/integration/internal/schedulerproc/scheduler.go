// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schedulerproc runs berth-scheduler as a process of its own in integration tests. A
// function that meets with something unexpected fails the spec that called it.
package schedulerproc

import (
	"bytes"
	"context"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/internal/serving"
)

// Name is the name of the profile that is shipped, and of its lease.
const Name = "berth-scheduler"

// stopTimeout is how long a scheduler may take to end when it is asked to.
const stopTimeout = 30 * time.Second

// Patient lets a leader, of schedulers or of the controller manager, live through an outage of the
// API server, or a busy machine.
var Patient = []string{"--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=50s"}

// QuickElection makes a process that has died count as dead within seconds. A live one has time
// enough to renew its lease on a machine that is busy with all of them.
var QuickElection = []string{
	"--leader-elect-lease-duration=20s", "--leader-elect-renew-deadline=17s", "--leader-elect-retry-period=500ms",
}

// Scheduler is a running berth-scheduler.
type Scheduler struct {
	*localplane.Process
	plane   *localplane.ControlPlane
	address string // where it serves its metrics
}

// Options says what differs from the scheduler that is shipped.
type Options struct {
	// Name of the process, for its log; empty for the usual one.
	Name string
	// Configuration replaces the one in manifests/base.
	Configuration []byte
	// Args are further flags.
	Args []string
}

// Start starts a scheduler.
func Start(ctx context.Context, plane *localplane.ControlPlane, options Options) *Scheduler {
	ginkgo.GinkgoHelper()
	if options.Configuration == nil {
		options.Configuration = ShippedConfiguration()
	}
	process, address, err := plane.StartScheduler(ctx, options.Configuration, localplane.Component{
		Name: options.Name, Args: append([]string{"--v=2"}, options.Args...),
	})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return &Scheduler{Process: process, plane: plane, address: address}
}

// ShippedConfiguration returns the configuration in manifests/base.
func ShippedConfiguration() []byte {
	ginkgo.GinkgoHelper()
	shipped, err := os.ReadFile(installation.Path("manifests", "base", "scheduler-config.yaml"))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return shipped
}

// SlowConfiguration is the shipped one with so few requests a second that a spec can strike while
// pods are being bound.
func SlowConfiguration() []byte {
	ginkgo.GinkgoHelper()
	shipped := ShippedConfiguration()
	slow := bytes.Replace(shipped, []byte("qps: 500\n  burst: 1000"), []byte("qps: 100\n  burst: 50"), 1)
	gomega.Expect(slow).NotTo(gomega.Equal(shipped))
	return slow
}

// Crash ends the scheduler without a word to anybody.
func (s *Scheduler) Crash() {
	ginkgo.GinkgoHelper()
	gomega.Expect(s.Kill(syscall.SIGKILL)).To(gomega.Succeed())
	gomega.Expect(s.Wait()).To(gomega.Or(gomega.Succeed(), haveLostLease))
}

// haveLostLease matches the end of a scheduler that a busy machine kept from renewing its lease
// before it could be killed.
var haveLostLease = gomega.MatchError(gomega.ContainSubstring("Leaderelection lost"))

// End ends the scheduler as a rolling update would.
func (s *Scheduler) End() {
	ginkgo.GinkgoHelper()
	gomega.Expect(s.Stop(stopTimeout)).To(gomega.Succeed())
}

// EndAfterwards ends the scheduler when the spec is over, and returns it.
func (s *Scheduler) EndAfterwards() *Scheduler {
	ginkgo.DeferCleanup(s.End)
	return s
}

// Port is where the scheduler serves its metrics on loopback, over TLS.
func (s *Scheduler) Port() int {
	ginkgo.GinkgoHelper()
	_, text, err := net.SplitHostPort(s.address)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	port, err := strconv.Atoi(text)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return port
}

// Leader returns who holds the lease of unnamed schedulers, empty if nobody does.
func Leader(ctx context.Context, client kubernetes.Interface) string {
	lease, err := client.CoordinationV1().Leases(localplane.BerthNamespace).Get(ctx, Name, metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// Metrics returns the metrics of the scheduler as text, asked for as the administrator.
func (s *Scheduler) Metrics(ctx context.Context) []byte {
	ginkgo.GinkgoHelper()
	text, err := s.metrics(ctx)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return text
}

// metrics is Metrics for a scheduler that may have begun a moment ago.
func (s *Scheduler) metrics(ctx context.Context) ([]byte, error) {
	return serving.Get(ctx, s.plane.Config(), s.address, "/metrics")
}

// Attempts returns how often the scheduler has tried to place a pod.
func (s *Scheduler) Attempts(ctx context.Context) float64 {
	ginkgo.GinkgoHelper()
	return Sum(s.Metrics(ctx), "scheduler_schedule_attempts_total")
}
