// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/internal/serving"
)

// Users that the schedulers are for the API server.
const (
	stockUser  = "system:kube-scheduler"
	claimsUser = "system:serviceaccount:kube-system:resource-claim-controller"
)

// stopGrace is how long a program may take to end.
const stopGrace = 10 * time.Second

// program is a scheduler to be measured.
type program struct {
	// configuration is a KubeSchedulerConfiguration; empty for the stock scheduler without one.
	configuration string
	// stockLimits leaves the limits of the API client as they are in Kubernetes.
	stockLimits bool
	args, env   []string
	// elects lets it lead by a lease, which it takes from the one before that has ended. The others do
	// not: they would wait until the lease of the one before has run out.
	elects bool
}

// shipped is berth-scheduler as it is shipped.
func (w *world) shipped() program { return program{configuration: w.Shipped, env: w.Env, elects: true} }

// stock reports whether the program is the scheduler of Kubernetes.
func (p *program) stock() bool { return p.configuration == "" }

// schedulerName is what pods ask for that the program is to place.
func (p *program) schedulerName() string {
	if p.stock() {
		return "default-scheduler"
	}
	return "berth-scheduler"
}

// user is who the program is for the API server.
func (p *program) user() string {
	if p.stock() {
		return stockUser
	}
	user, _ := localplane.ServiceAccountIdentity(localplane.BerthNamespace, localplane.BerthScheduler)
	return user
}

// stockConfiguration is the configuration of Kubernetes, which any configuration without profiles
// has.
const stockConfiguration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
`

// Limits of the API client, those that Berth ships. With the ones of Kubernetes, 50 and 100,
// nothing else would be measured.
const qps, burst = 500, 1000

// run starts the program. There is one scheduler at a time.
func (w *world) run(ctx context.Context, p *program) (*localplane.Process, error) {
	w.started++
	name := fmt.Sprintf("%s-%d", p.schedulerName(), w.started)
	args := append([]string{"--leader-elect=" + strconv.FormatBool(p.elects), "--v=0"}, p.args...)
	if !p.stock() {
		configuration, err := limited(p.configuration, p.stockLimits, "")
		if err != nil {
			return nil, err
		}
		process, address, err := w.plane.StartScheduler(ctx, configuration, localplane.Component{Name: name, Args: args, Env: p.env})
		w.address = address
		return process, err
	}
	kubeconfig, err := w.plane.Kubeconfig(stockUser)
	if err != nil {
		return nil, err
	}
	configuration, err := limited(stockConfiguration, p.stockLimits, kubeconfig)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(w.plane.StateDir(), name+"-config.yaml")
	if err := os.WriteFile(path, configuration, 0o600); err != nil {
		return nil, fmt.Errorf("writing the configuration of %s: %w", name, err)
	}
	port, err := localplane.FreePort()
	if err != nil {
		return nil, err
	}
	w.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	binaries, err := localplane.FindBinDir()
	if err != nil {
		return nil, err
	}
	return w.plane.StartProcess(ctx, name, filepath.Join(binaries, "kube-scheduler"), append([]string{
		"--config=" + path,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
	}, args...)...)
}

// limited sets the limits of the API client in a configuration, and its kubeconfig if one is given.
func limited(configuration string, stockLimits bool, kubeconfig string) ([]byte, error) {
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(configuration), &fields); err != nil {
		return nil, fmt.Errorf("reading a configuration: %w", err)
	}
	connection := map[string]any{}
	if !stockLimits {
		connection["qps"], connection["burst"] = qps, burst
	}
	if kubeconfig != "" {
		connection["kubeconfig"] = kubeconfig
	}
	fields["clientConnection"] = connection
	return yaml.Marshal(fields)
}

// attempts returns how often the scheduler that was started last has decided on a pod.
func (w *world) attempts(ctx context.Context) (total float64, err error) {
	text, err := serving.Get(ctx, w.plane.Config(), w.address, "/metrics")
	if err != nil {
		return 0, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return 0, fmt.Errorf("reading the metrics of the scheduler: %w", err)
	}
	for _, sample := range families["scheduler_schedule_attempts_total"].GetMetric() {
		total += sample.GetCounter().GetValue()
	}
	return total, nil
}
