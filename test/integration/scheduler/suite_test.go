// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scheduler_test checks berth-scheduler as its users run it: as a process of its own, with
// the configuration and the permissions that are shipped, against a real control plane.
package scheduler_test

import (
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const (
	// timeout is for what takes seconds on an idle machine. It is below the five minutes after
	// which the scheduler tries every pod again, so that a lost wake-up shows.
	timeout = 150 * time.Second
	// longTimeout is for thousands of pods.
	longTimeout = 4 * time.Minute
	poll        = 100 * time.Millisecond
	// slowPoll is for what would slow down what it waits for.
	slowPoll = 500 * time.Millisecond
	// settle is how long something must not happen to count as not happening.
	settle = time.Second
)

var (
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
)

func TestScheduler(t *testing.T) {
	installation.Suite{
		Title: "berth-scheduler", Begin: begin, End: end,
		// Kinds that policies name as those of owners, and that Berth may not read.
		Provoked: []string{
			"get vaults." + operators, "list vaults." + operators, "watch vaults." + operators,
			"list leases.coordination.k8s.io", "watch leases.coordination.k8s.io",
		},
	}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.Apply(ctx, plane)
	definitions, err := filepath.Glob("../../../manifests/testdata/crds/*.yaml")
	Expect(err).NotTo(HaveOccurred())
	Expect(localplane.ApplyManifests(ctx, plane.Config(), append(definitions, "testdata/operators.yaml")...)).To(Succeed())
	main = schedulerproc.Start(ctx, plane, schedulerproc.Options{Args: schedulerproc.Patient})
	Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
	// It would evict what the scheduler misplaces.
	schedulerproc.StartControllers(ctx, plane)
}

func end(ctx SpecContext) {
	if main != nil {
		Expect(schedulerproc.Sum(main.Metrics(ctx), "berth_plugin_panics_total")).To(BeZero())
	}
}
