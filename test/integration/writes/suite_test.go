// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package writes_test checks what Berth asks of the API server: for each pod as many requests as
// the stock scheduler, and nothing while nothing changes.
package writes_test

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
	"berth.dev/berth/test/internal/auditlog"
)

const (
	timeout = 150 * time.Second
	poll    = 100 * time.Millisecond
	// settle is how long something must not happen to count as not happening.
	settle = 2 * time.Second
)

var (
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
	log    *auditlog.Log

	scheduler *schedulerproc.Scheduler
)

func TestWrites(t *testing.T) {
	installation.Suite{Title: "requests to the API server", Options: audit, Begin: begin}.Run(t)
}

// stockConfiguration makes a scheduler of the one of Berth that has none of its plugins: the stock
// scheduler.
const stockConfiguration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
`

func audit(options *localplane.Options) {
	var err error
	log, err = auditlog.New(GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	options.APIServerArgs = log.Flags()
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.Apply(ctx, plane)
	scheduler = schedulerproc.Start(ctx, plane, schedulerproc.Options{Args: schedulerproc.Patient})
	schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "stock", Configuration: []byte(stockConfiguration)})
	schedulerproc.StartControllers(ctx, plane)
	createSites(ctx)
}
