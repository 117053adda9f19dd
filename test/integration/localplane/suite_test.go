// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package localplane_test checks the control plane that the playground and
// every other integration suite run on.
package localplane_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/localplane"
)

const (
	// timeout is for what takes the control plane well under a second on an
	// idle machine.
	timeout = 150 * time.Second
	poll    = 50 * time.Millisecond
)

var (
	first, second             *localplane.ControlPlane
	firstClient, secondClient kubernetes.Interface
)

func TestControlPlane(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Control plane")
}

// Both are started at once: that is when they could fight for ports.
var _ = BeforeSuite(func(ctx SpecContext) {
	binDir, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	type result struct {
		plane *localplane.ControlPlane
		err   error
	}
	start := func(ch chan<- result) {
		plane, err := localplane.Start(ctx, localplane.Options{BinDir: binDir})
		ch <- result{plane, err}
	}
	one, two := make(chan result, 1), make(chan result, 1)
	began := time.Now()
	go start(one)
	go start(two)
	a, b := <-one, <-two
	first, second = a.plane, b.plane
	Expect(a.err).NotTo(HaveOccurred())
	Expect(b.err).NotTo(HaveOccurred())
	AddReportEntry("two control planes ready after", time.Since(began).Round(time.Millisecond).String())
	firstClient, secondClient = clientOf(first), clientOf(second)
})

var _ = AfterSuite(func() {
	for _, plane := range []*localplane.ControlPlane{first, second} {
		if plane != nil {
			Expect(plane.Stop()).To(Succeed())
		}
	}
})

func clientOf(plane *localplane.ControlPlane) kubernetes.Interface {
	GinkgoHelper()
	client, err := kubernetes.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	return client
}

func start(ctx context.Context, options localplane.Options) *localplane.ControlPlane {
	GinkgoHelper()
	binDir, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	options.BinDir = binDir
	plane, err := localplane.Start(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	return plane
}
