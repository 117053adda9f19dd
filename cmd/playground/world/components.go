// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"sigs.k8s.io/yaml"

	"berth.dev/berth/pkg/controlplane"
)

// Names of Berth's programs, which are also those of their ServiceAccounts and logs, and the namespace they live in.
const (
	namespace         = "berth-system"
	scheduler         = "berth-scheduler"
	controllerManager = "berth-controller-manager"
)

// startComponents starts Berth's programs with the flags and the permissions that they have in production. What differs is
// where they find the API server and where they listen.
func (w *World) startComponents(ctx context.Context) error {
	if err := w.startScheduler(ctx); err != nil {
		return err
	}
	return w.startControllerManager(ctx)
}

func (w *World) startScheduler(ctx context.Context) error {
	kubeconfig, err := w.kubeconfigOf(scheduler)
	if err != nil {
		return err
	}
	config, err := w.schedulerConfig(kubeconfig)
	if err != nil {
		return err
	}
	port, err := controlplane.FreePort()
	if err != nil {
		return err
	}
	return w.startComponent(ctx, scheduler,
		"--config="+config,
		"--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port="+strconv.Itoa(port))
}

func (w *World) startControllerManager(ctx context.Context) error {
	kubeconfig, err := w.kubeconfigOf(controllerManager)
	if err != nil {
		return err
	}
	return w.startComponent(ctx, controllerManager,
		"--kubeconfig="+kubeconfig,
		"--metrics-bind-address=127.0.0.1:0",
		"--health-probe-bind-address=127.0.0.1:0")
}

// kubeconfigOf returns a kubeconfig with the identity of the ServiceAccount.
func (w *World) kubeconfigOf(serviceAccount string) (string, error) {
	user, groups := controlplane.ServiceAccountIdentity(namespace, serviceAccount)
	return w.plane.Kubeconfig(user, groups...)
}

// schedulerConfig writes the shipped configuration with a kubeconfig in it, for which kube-scheduler has no flag beside
// --config.
func (w *World) schedulerConfig(kubeconfig string) (string, error) {
	shipped := filepath.Join(w.options.Manifests, "base", "scheduler-config.yaml")
	data, err := os.ReadFile(shipped)
	if err != nil {
		return "", fmt.Errorf("reading the scheduler's configuration: %w", err)
	}
	var config map[string]any
	if err := yaml.Unmarshal(data, &config); err != nil {
		return "", fmt.Errorf("reading %s: %w", shipped, err)
	}
	connection, ok := config["clientConnection"].(map[string]any)
	if !ok {
		connection = map[string]any{}
	}
	connection["kubeconfig"] = kubeconfig
	config["clientConnection"] = connection
	if data, err = yaml.Marshal(config); err != nil {
		return "", fmt.Errorf("writing the scheduler's configuration: %w", err)
	}
	path := filepath.Join(w.plane.StateDir(), "scheduler-config.yaml")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("writing the scheduler's configuration: %w", err)
	}
	return path, nil
}

// startComponent starts a program of the bin directory.
func (w *World) startComponent(ctx context.Context, name string, args ...string) error {
	if _, err := w.plane.StartProcess(ctx, name, filepath.Join(w.options.BinDir, name), args...); err != nil {
		return fmt.Errorf("%w: run make build first", err)
	}
	return nil
}
