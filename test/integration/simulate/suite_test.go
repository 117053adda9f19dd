// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package simulate_test holds `berthctl simulate` to what the real programs then do.
package simulate_test

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/gexec"
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
)

var (
	plane     *localplane.ControlPlane
	client    kubernetes.Interface
	berth     versioned.Interface
	scheduler *schedulerproc.Scheduler
)

func TestSimulate(t *testing.T) {
	installation.Suite{Title: "berthctl simulate", Options: moreControllers, Begin: begin, End: func(SpecContext) { gexec.KillAndWait(timeout) }}.Run(t)
}

// moreControllers adds those of volumes, claims and quotas to the controllers of Kubernetes that
// run.
func moreControllers(options *localplane.Options) {
	options.ControllerManagerArgs = append(options.ControllerManagerArgs,
		"--controllers=persistentvolume-binder-controller,ephemeral-volume-controller,resourceclaim-controller,resourcequota-controller")
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.Apply(ctx, plane)
	scheduler = schedulerproc.Start(ctx, plane, schedulerproc.Options{Args: schedulerproc.Patient})
	schedulerproc.StartControllers(ctx, plane)
}
