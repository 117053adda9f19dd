// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package operations_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/promserver"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// certificate writes a certificate for this machine with its key, and returns the flags with which
// a program serves by it.
func certificate(path string, expires time.Time) []string {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(expires.Unix()), Subject: pkix.Name{CommonName: "berth-scheduler"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: expires.Add(-24 * time.Hour), NotAfter: expires, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	Expect(err).NotTo(HaveOccurred())
	private, err := x509.MarshalPKCS8PrivateKey(key)
	Expect(err).NotTo(HaveOccurred())
	for suffix, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: signed}, ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		Expect(os.WriteFile(path+suffix, pem.EncodeToMemory(block), 0o600)).To(Succeed())
	}
	return []string{"--tls-cert-file=" + path + ".crt", "--tls-private-key-file=" + path + ".key"}
}

// ending is a program of a spec that may end and come again at its port.
type ending struct {
	start func(args ...string) *localplane.Process
	*localplane.Process
	port int
}

// again starts the program anew with further flags.
func (e *ending) again(args ...string) {
	GinkgoHelper()
	e.kill()
	e.Process = e.start(args...)
}

// kill ends the program without a word to anybody.
func (e *ending) kill() {
	GinkgoHelper()
	e.ExpectEnd()
	Expect(e.Kill(syscall.SIGKILL)).To(Succeed())
	<-e.Done()
}

// run starts a program that may end, and kills it after the spec.
func run(start func(port int, args ...string) *localplane.Process, args ...string) *ending {
	GinkgoHelper()
	port, err := localplane.FreePort()
	Expect(err).NotTo(HaveOccurred())
	e := &ending{port: port, start: func(args ...string) *localplane.Process { return start(port, args...) }}
	e.Process = e.start(args...)
	DeferCleanup(func() { e.kill() })
	return e
}

// scheduler returns what starts a scheduler at a port.
func scheduler(ctx context.Context, name string) func(port int, args ...string) *localplane.Process {
	return func(port int, args ...string) *localplane.Process {
		GinkgoHelper()
		return schedulerproc.Start(ctx, plane.ControlPlane, schedulerproc.Options{Name: name, Args: append(append([]string{
			"--secure-port=" + strconv.Itoa(port)}, schedulerproc.QuickElection...), args...)}).Process
	}
}

func gateway(ctx context.Context) func(port int, args ...string) *localplane.Process {
	return func(port int, args ...string) *localplane.Process {
		GinkgoHelper()
		process, _, err := plane.StartGateway(ctx, localplane.Component{Args: append([]string{"--secure-port=" + strconv.Itoa(port)}, args...)})
		Expect(err).NotTo(HaveOccurred())
		return process
	}
}

func controllerManager(ctx context.Context) func(port int, args ...string) *localplane.Process {
	return func(port int, args ...string) *localplane.Process {
		GinkgoHelper()
		return schedulerproc.StartControllers(ctx, plane.ControlPlane, append([]string{"--metrics-bind-address=127.0.0.1:" + strconv.Itoa(port)}, args...)...)
	}
}

var _ = Describe("Faults of programs", func() {
	It("raise their alerts and no others, and can be found", func(ctx SpecContext) {
		begins(ctx)
		folder := GinkgoT().TempDir()
		valid := certificate(filepath.Join(folder, "valid"), time.Now().Add(time.Hour))
		expired := certificate(filepath.Join(folder, "expired"), time.Now().Add(-time.Hour))
		before := schedulerproc.Leader(ctx, plane.Client)
		first := run(scheduler(ctx, "berth-scheduler"))
		// The one that is not heard of any more is to be the standby.
		Eventually(schedulerproc.Leader).WithContext(ctx).WithArguments(plane.Client).WithTimeout(timeout).WithPolling(poll).
			ShouldNot(Or(BeEmpty(), Equal(before)))
		second := run(scheduler(ctx, "berth-scheduler-b"), valid...)
		manager, door := run(controllerManager(ctx)), run(gateway(ctx))
		settle(ctx)
		// This one is only believed by its certificate.
		trusting := map[string]any{
			"job_name": "checked", "scheme": "https", "tls_config": map[string]any{"ca_file": filepath.Join(folder, "valid.crt")},
			"authorization":   map[string]any{"credentials_file": token},
			"static_configs":  []any{map[string]any{"targets": []string{"127.0.0.1:" + strconv.Itoa(second.port)}}},
			"relabel_configs": []any{map[string]any{"target_label": "job", "replacement": "berth-scheduler"}},
		}
		server := promserver.StartWith(ctx, GinkgoT(), scrape(map[string][]int{
			"berth-scheduler": {first.port}, "berth-controller-manager": {manager.port}, "berth-gateway": {door.port},
		}, trusting))
		inTurn(ctx, server, []planted{
			{
				name: "the certificate of one instance has expired", alert: "BerthInstanceDown",
				plant: func(context.Context) { second.again(expired...) },
				names: []string{"JOB", "berth-scheduler"}, cause: `expired.crt.* to .*now=`,
			},
			{
				name: "the gateway is dead", alert: "BerthGatewayDown", plant: func(context.Context) { door.kill() },
				cause: "No resources found in berth-system",
			},
			{
				name: "nobody gets the lease", alert: "BerthNoLeader",
				plant: func(ctx context.Context) {
					second.kill()
					first.kill()
					kubectl(ctx, `-n berth-system patch lease berth-scheduler --type=merge -p `+
						`'{"spec":{"holderIdentity":"impostor","leaseDurationSeconds":3600}}'`)
					first.again()
				},
				cause: `berth-scheduler +impostor`,
			},
			{
				name: "all schedulers are dead", alert: "BerthSchedulerDown", ends: []string{"BerthInstanceDown", "BerthNoLeader"},
				plant: func(ctx context.Context) {
					first.kill()
					kubectl(ctx, "scale deployment web --replicas=3")
				},
				cause: "No resources found in berth-system", page: "waiting", shows: "no scheduler has said anything about it yet",
			},
			{
				name: "the controller manager is dead", alert: "BerthControllerManagerDown",
				plant: func(ctx context.Context) {
					manager.kill()
					apply(ctx, "creek")
				},
				cause: "No resources found in berth-system", page: "clusters/creek", shows: "unknown",
			},
		})
	})
})
