// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sharding_test checks several berth-schedulers that share the clusters, as processes of
// their own with the configuration and the permissions that are shipped: what happens when one
// comes, dies, is paused, or is asked to leave.
package sharding_test

import (
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
	// timeout is for what takes seconds on an idle machine, longTimeout for hundreds of pods, or
	// for clusters that change hands while hundreds of pods come.
	timeout     = 150 * time.Second
	longTimeout = 5 * time.Minute
	poll        = 200 * time.Millisecond
)

// election makes a dead scheduler count as dead within half a minute. A live one has time enough to
// renew its lease on a machine that is busy with a burst of thousands of pods.
var election = []string{
	"--leader-elect-lease-duration=30s", "--leader-elect-renew-deadline=25s", "--leader-elect-retry-period=1s",
}

var (
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
	// instances are the schedulers that run, by name.
	instances = schedulerproc.Fleet{}
)

func TestSharding(t *testing.T) {
	installation.Suite{Title: "several berth-schedulers", Begin: begin}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.Apply(ctx, plane)
	schedulerproc.StartControllers(ctx, plane)
}
