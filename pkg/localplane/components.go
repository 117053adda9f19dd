// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	// BerthNamespace is the namespace of Berth's ServiceAccounts and leases.
	BerthNamespace = berthv1alpha1.SystemNamespace

	// BerthScheduler is the name of Berth's scheduler and of its ServiceAccount.
	BerthScheduler = "berth-scheduler"

	// BerthControllerManager is the name of Berth's controllers and of their
	// ServiceAccount.
	BerthControllerManager = "berth-controller-manager"

	// BerthGateway is the name of the registration API and of its
	// ServiceAccount.
	BerthGateway = "berth-gateway"
)

// Component says how one of Berth's programs is started.
type Component struct {
	// Name is the name of the process, its log and its configuration. Empty
	// means the name of the program; two at a time need different names.
	Name string
	// Args are appended to the flags; a repeated flag overrides.
	Args []string
	// Env are further variables of its environment, as NAME=VALUE.
	Env []string
	// MayEnd is set for a program that somebody starts again when it ends:
	// Exited does not deliver that.
	MayEnd bool
}

// StartScheduler starts berth-scheduler as it runs in production: with the
// KubeSchedulerConfiguration that is given and the permissions of its
// ServiceAccount. Only where it finds the API server and where it listens
// differ. It returns the process, which is not ready yet, and its address.
func (cp *ControlPlane) StartScheduler(ctx context.Context, configuration []byte, c Component) (*Process, string, error) {
	name := c.nameOr(BerthScheduler)
	kubeconfig, err := cp.componentKubeconfig(BerthScheduler)
	if err != nil {
		return nil, "", err
	}
	configuration, err = withKubeconfig(configuration, kubeconfig)
	if err != nil {
		return nil, "", fmt.Errorf("starting %s: %w", name, err)
	}
	path := filepath.Join(cp.opts.StateDir, fileName(name)+"-config.yaml")
	if err := os.WriteFile(path, configuration, 0o600); err != nil {
		return nil, "", fmt.Errorf("starting %s: %w", name, err)
	}
	port, err := FreePort()
	if err != nil {
		return nil, "", fmt.Errorf("starting %s: %w", name, err)
	}
	c.Name, c.Args = name, append([]string{
		"--config=" + path,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port),
	}, c.Args...)
	p, err := cp.startChild(ctx, c, cp.binary(BerthScheduler))
	return p, address(port), err
}

// StartControllerManager starts berth-controller-manager with the permissions
// of its ServiceAccount. It returns the process, which is not ready yet.
func (cp *ControlPlane) StartControllerManager(ctx context.Context, c Component) (*Process, error) {
	kubeconfig, err := cp.componentKubeconfig(BerthControllerManager)
	if err != nil {
		return nil, err
	}
	c.Name, c.Args = c.nameOr(BerthControllerManager), append([]string{
		"--kubeconfig=" + kubeconfig,
		"--metrics-bind-address=" + loopback + ":0",
		"--health-probe-bind-address=" + loopback + ":0",
		// Here everything is on one machine, providers of metrics too.
		"--metrics-allow-loopback", "--metrics-allow-plain-http",
	}, c.Args...)
	return cp.startChild(ctx, c, cp.binary(BerthControllerManager))
}

// StartGateway starts berth-gateway with the permissions of its
// ServiceAccount. It returns the process, which is not ready yet, and where it
// serves over TLS.
func (cp *ControlPlane) StartGateway(ctx context.Context, c Component) (*Process, string, error) {
	name := c.nameOr(BerthGateway)
	kubeconfig, err := cp.componentKubeconfig(BerthGateway)
	if err != nil {
		return nil, "", err
	}
	port, err := FreePort()
	if err != nil {
		return nil, "", fmt.Errorf("starting %s: %w", name, err)
	}
	c.Name, c.Args = name, append([]string{
		"--kubeconfig=" + kubeconfig,
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port),
	}, c.Args...)
	p, err := cp.startChild(ctx, c, cp.binary(BerthGateway))
	return p, address(port), err
}

func (c Component) nameOr(program string) string {
	if c.Name == "" {
		return program
	}
	return c.Name
}

func (cp *ControlPlane) componentKubeconfig(serviceAccount string) (string, error) {
	user, groups := ServiceAccountIdentity(BerthNamespace, serviceAccount)
	return cp.Kubeconfig(user, groups...)
}

// withKubeconfig names the kubeconfig in a KubeSchedulerConfiguration, because
// the scheduler ignores its flag once it is given a configuration.
func withKubeconfig(configuration []byte, kubeconfig string) ([]byte, error) {
	var fields map[string]any
	if err := yaml.Unmarshal(configuration, &fields); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	if fields == nil {
		return nil, errors.New("the configuration is empty")
	}
	connection, ok := fields["clientConnection"].(map[string]any)
	if !ok {
		connection = map[string]any{}
	}
	connection["kubeconfig"] = kubeconfig
	fields["clientConnection"] = connection
	configuration, err := yaml.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	return configuration, nil
}
