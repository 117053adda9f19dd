// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package applications_test checks that Applications run in the best cluster and move without losing a replica, with
// berth-scheduler and berth-controller-manager as processes of their own, as they are shipped, against a real control plane.
package applications_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/controlplane"
	"berth.dev/berth/pkg/generated/clientset/versioned"
)

const (
	// timeout is for what takes seconds on an idle machine.
	timeout = 60 * time.Second
	poll    = 100 * time.Millisecond
	// settle is how long something must not happen to count as not happening: several reviews of an Application.
	settle = 4 * time.Second
)

var (
	plane  *controlplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
)

func TestApplications(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "applications")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	binDir, err := controlplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	plane, err = controlplane.Start(ctx, controlplane.Options{BinDir: binDir, LogDir: os.Getenv("BERTH_TEST_LOGS")})
	Expect(err).NotTo(HaveOccurred())
	client, err = kubernetes.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	berth, err = versioned.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	Expect(controlplane.ApplyCRDs(ctx, plane.Config(), root("manifests", "crds"))).To(Succeed())
	objects, err := controlplane.BuildKustomization(root("manifests", "base"))
	Expect(err).NotTo(HaveOccurred())
	Expect(controlplane.ApplyObjects(ctx, plane.Config(), controlplane.WithoutWorkloads(objects))).To(Succeed())
	configuration, err := os.ReadFile(root("manifests", "base", "scheduler-config.yaml"))
	Expect(err).NotTo(HaveOccurred())
	_, _, err = plane.StartScheduler(ctx, configuration, controlplane.Component{
		Args: []string{"--v=2", "--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=50s"},
	})
	Expect(err).NotTo(HaveOccurred())
	_, err = plane.StartControllerManager(ctx, controlplane.Component{Args: []string{"--v=2", "--metrics-interval=1s"}})
	Expect(err).NotTo(HaveOccurred())
})

var _ = AfterSuite(func() {
	if plane != nil {
		Expect(plane.Stop()).To(Succeed())
	}
})

// root returns a path below the root of the repository.
func root(parts ...string) string {
	return filepath.Join(append([]string{"..", "..", ".."}, parts...)...)
}
