// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"berth.dev/berth/pkg/history/serve"
	"berth.dev/berth/pkg/localplane"
)

// startComponents starts Berth's programs with the configuration, the flags and the permissions
// that they have in production. What differs is where they find the API server and where they
// listen.
func (w *World) startComponents(ctx context.Context) error {
	c, err := w.remembering()
	if err != nil {
		return err
	}
	if _, err := w.StartScheduler(ctx, c); err != nil {
		return fmt.Errorf("%w: run make build first", err)
	}
	if c, err = w.remembering(); err != nil {
		return err
	}
	if c.Env, err = localplane.ShippedEnv(w.options.Manifests, localplane.BerthControllerManager); err != nil {
		return err
	}
	if _, err := w.plane.StartControllerManager(ctx, c); err != nil {
		return fmt.Errorf("%w: run make build first", err)
	}
	return nil
}

// remembering lets a program serve what it has decided, where HistoryURLs says.
func (w *World) remembering() (localplane.Component, error) {
	port, err := localplane.FreePort()
	if err != nil {
		return localplane.Component{}, fmt.Errorf("finding a port for the history: %w", err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	w.histories = append(w.histories, "https://"+address)
	return localplane.Component{Args: []string{"--" + serve.Flag + "=" + address}}, nil
}

// HistoryURLs are where the scheduler and the controller manager tell what they have decided.
func (w *World) HistoryURLs() []string { return w.histories }

// StartScheduler starts a berth-scheduler with the configuration that all have, as its own process.
func (w *World) StartScheduler(ctx context.Context, c localplane.Component) (*localplane.Process, error) {
	configuration, err := os.ReadFile(filepath.Join(w.options.Manifests, "base", "scheduler-config.yaml"))
	if err != nil {
		return nil, fmt.Errorf("reading the scheduler's configuration: %w", err)
	}
	if c.Env, err = localplane.ShippedEnv(w.options.Manifests, localplane.BerthScheduler); err != nil {
		return nil, err
	}
	process, _, err := w.plane.StartScheduler(ctx, configuration, c)
	return process, err
}
