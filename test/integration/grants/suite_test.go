// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package grants_test checks that several berth-schedulers, as processes of their own, never give
// out more of a ClusterResource than there is, whoever of them comes, dies, is paused or leaves,
// and that they give out all of it.
package grants_test

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
	timeout     = 150 * time.Second
	longTimeout = 5 * time.Minute
	poll        = 200 * time.Millisecond
)

var (
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
	// instances are the schedulers that run, by name.
	instances = schedulerproc.Fleet{}
)

func TestGrants(t *testing.T) {
	installation.Suite{Title: "grants of ClusterResources", Begin: begin}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.Apply(ctx, plane)
	schedulerproc.StartControllers(ctx, plane)
}
