// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package applications_test checks that Applications run in the best cluster and move without
// losing a replica, with berth-scheduler and berth-controller-manager as processes of their own, as
// they are shipped, against a real control plane.
package applications_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const (
	// timeout is for what takes seconds on an idle machine.
	timeout = 150 * time.Second
	poll    = 100 * time.Millisecond
	// settle is how long something must not happen to count as not happening: several reviews of an
	// Application.
	settle = 4 * time.Second
)

var (
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
	// controllers is berth-controller-manager.
	controllers *localplane.Process
)

func TestApplications(t *testing.T) {
	installation.Suite{Title: "applications", Begin: begin}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.Apply(ctx, plane)
	schedulerproc.Start(ctx, plane, schedulerproc.Options{Args: schedulerproc.Patient})
	startControllers(ctx)
}

// startControllers starts berth-controller-manager with further flags.
func startControllers(ctx context.Context, args ...string) {
	GinkgoHelper()
	controllers = schedulerproc.StartControllers(ctx, plane, append([]string{"--metrics-interval=1s"}, args...)...)
}
