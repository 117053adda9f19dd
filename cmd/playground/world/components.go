// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"berth.dev/berth/pkg/localplane"
)

// startComponents starts Berth's programs with the configuration, the flags and the permissions
// that they have in production. What differs is where they find the API server and where they
// listen.
func (w *World) startComponents(ctx context.Context) error {
	if _, err := w.StartScheduler(ctx, localplane.Component{}); err != nil {
		return fmt.Errorf("%w: run make build first", err)
	}
	if _, err := w.plane.StartControllerManager(ctx, localplane.Component{}); err != nil {
		return fmt.Errorf("%w: run make build first", err)
	}
	return nil
}

// StartScheduler starts a berth-scheduler with the configuration that all have, as its own process.
func (w *World) StartScheduler(ctx context.Context, c localplane.Component) (*localplane.Process, error) {
	configuration, err := os.ReadFile(filepath.Join(w.options.Manifests, "base", "scheduler-config.yaml"))
	if err != nil {
		return nil, fmt.Errorf("reading the scheduler's configuration: %w", err)
	}
	if c.Env, err = localplane.SchedulerEnv(w.options.Manifests); err != nil {
		return nil, err
	}
	process, _, err := w.plane.StartScheduler(ctx, configuration, c)
	return process, err
}
