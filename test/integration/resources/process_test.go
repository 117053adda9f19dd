// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/pkg/controlplane"
)

// schedulerName is the profile that is shipped.
const schedulerName = "berth-scheduler"

// patientElection lets a leader live through a busy machine.
var patientElection = []string{"--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=50s"}

// quickElection makes another process take over within seconds after a crash.
var quickElection = []string{
	"--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=500ms",
}

// scheduler is a running berth-scheduler.
type scheduler struct {
	*controlplane.Process
	// address is where it serves its metrics.
	address string
}

// schedulerOptions says what differs from the scheduler that is shipped.
type schedulerOptions struct {
	name string
	// configuration replaces the one in manifests/base.
	configuration []byte
	args          []string
}

// main is the scheduler that all specs use but those that stop it.
var main *scheduler

func startScheduler(ctx context.Context, options schedulerOptions) *scheduler {
	GinkgoHelper()
	if options.configuration == nil {
		options.configuration = shippedConfiguration()
	}
	process, address, err := plane.StartScheduler(ctx, options.configuration, controlplane.Component{
		Name: options.name, Args: append([]string{"--v=2"}, options.args...),
	})
	Expect(err).NotTo(HaveOccurred())
	return &scheduler{Process: process, address: address}
}

func shippedConfiguration() []byte {
	GinkgoHelper()
	shipped, err := os.ReadFile(root("manifests", "base", "scheduler-config.yaml"))
	Expect(err).NotTo(HaveOccurred())
	return shipped
}

// configured returns the shipped configuration after a change of its profiles, of which there is one.
func configured(change func(profile map[string]any) (profiles []any)) []byte {
	GinkgoHelper()
	var fields map[string]any
	Expect(yaml.Unmarshal(shippedConfiguration(), &fields)).To(Succeed())
	profiles, ok := fields["profiles"].([]any)
	Expect(ok).To(BeTrue())
	Expect(profiles).To(HaveLen(1))
	profile, ok := profiles[0].(map[string]any)
	Expect(ok).To(BeTrue())
	fields["profiles"] = change(profile)
	text, err := yaml.Marshal(fields)
	Expect(err).NotTo(HaveOccurred())
	return text
}

// crash ends the scheduler without a word to anybody.
func (s *scheduler) crash() {
	GinkgoHelper()
	Expect(s.Kill(syscall.SIGKILL)).To(Succeed())
	Expect(s.Wait()).To(Succeed())
}

// end ends the scheduler as a rolling update would.
func (s *scheduler) end() {
	GinkgoHelper()
	Expect(s.Stop(10 * time.Second)).To(Succeed())
}

// endAfterwards ends the scheduler when the spec is over.
func (s *scheduler) endAfterwards() *scheduler {
	DeferCleanup(s.end)
	return s
}

// replaceMain ends the main scheduler until the spec, which starts its own, is over.
func replaceMain() {
	GinkgoHelper()
	main.end()
	DeferCleanup(func(ctx SpecContext) {
		main = startScheduler(ctx, schedulerOptions{args: patientElection})
		Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
	})
}

// leader returns who holds the lease, empty if nobody does.
func leader(ctx context.Context) string {
	lease, err := client.CoordinationV1().Leases(controlplane.BerthNamespace).Get(ctx, schedulerName, metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// metrics returns the metrics of the scheduler as text, asked for as the administrator.
func (s *scheduler) metrics(ctx context.Context) []byte {
	GinkgoHelper()
	config := plane.Config()
	// The certificate is one that the scheduler signed itself at its start.
	config.CAData, config.Insecure = nil, true
	administrator, err := rest.HTTPClientFor(config)
	Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.address+"/metrics", http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	response, err := administrator.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	Expect(response).To(HaveHTTPStatus(http.StatusOK))
	text, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return text
}

// attempts returns how often the scheduler has tried to place a pod.
func (s *scheduler) attempts(ctx context.Context) float64 {
	GinkgoHelper()
	return sum(s.metrics(ctx), "scheduler_schedule_attempts_total")
}

// sum adds up the samples, in the text format of Prometheus, of one metric.
func sum(text []byte, metric string) float64 {
	GinkgoHelper()
	total := 0.0
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if bare, _, _ := strings.Cut(name, "{"); bare != metric {
			continue
		}
		sample, err := strconv.ParseFloat(value, 64)
		Expect(err).NotTo(HaveOccurred())
		total += sample
	}
	Expect(lines.Err()).NotTo(HaveOccurred())
	return total
}
