// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controllers_test checks berth-controller-manager as its users run it: as a process of its
// own with the permissions of its ServiceAccount, against a real control plane. In the place of the
// scheduler a few lines bind pods to the shares of their policy, so that a test can hold it back or
// make it wrong.
package controllers_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const (
	// timeout is for what takes a second or two on an idle machine.
	timeout = 150 * time.Second
	poll    = 50 * time.Millisecond
	// settle is how long something must not happen to count as not happening.
	settle = 2 * time.Second
)

var (
	plane   *localplane.ControlPlane
	client  kubernetes.Interface
	berth   versioned.Interface
	binder  *standIn
	manager *localplane.Process
	// health, metricsAddress and historyAddress are where the manager listens.
	health, metricsAddress, historyAddress string
)

func TestControllers(t *testing.T) {
	installation.Suite{Title: "berth-controller-manager", Begin: begin, End: end}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	Expect(localplane.ApplyManifests(ctx, plane.Config(),
		installation.Path("manifests", "base", "namespace.yaml"), installation.Path("manifests", "base", "serviceaccounts.yaml"),
		installation.Path("manifests", "base", "controller-manager-rbac.yaml"),
		installation.Path("manifests", "base", "owner-reader-rbac.yaml"))).To(Succeed())

	// The manager comes before the CRDs, as it may in a cluster.
	startManager(ctx)
	Eventually(readiness).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
		Should(ContainSubstring("[-]custom-resource-definitions-installed"))
	installation.ApplyCRDs(ctx, plane)
	untilReady(ctx)
	binder = startStandIn()
}

func end(_ SpecContext) {
	if binder != nil {
		binder.stop()
	}
}

// startManager runs bin/berth-controller-manager with the permissions of the shipped
// ServiceAccount.
func startManager(ctx context.Context, args ...string) {
	GinkgoHelper()
	health, metricsAddress, historyAddress = freeAddress(), freeAddress(), freeAddress()
	instances++
	var err error
	manager, err = plane.StartControllerManager(ctx, localplane.Component{Name: fmt.Sprintf("manager-%d", instances), Args: append([]string{
		"--health-probe-bind-address=" + health, "--metrics-bind-address=" + metricsAddress, "--history-bind-address=" + historyAddress, "--v=4",
	}, slices.Concat(schedulerproc.QuickElection, args)...)})
	Expect(err).NotTo(HaveOccurred())
}

// instances counts the managers, so that each has a log of its own.
var instances int

func freeAddress() string {
	GinkgoHelper()
	port, err := localplane.FreePort()
	Expect(err).NotTo(HaveOccurred())
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// killManager ends it as a crash would: without a word to anybody.
func killManager() {
	GinkgoHelper()
	Expect(manager.Kill(syscall.SIGKILL)).To(Succeed())
	manager.Wait() //nolint:errcheck // it was killed
}

// stopManager ends it as a kubelet would, so that the next one need not wait for the lease to
// expire.
func stopManager() {
	GinkgoHelper()
	Expect(manager.Stop(timeout)).To(Succeed())
}

func untilReady(ctx context.Context) {
	GinkgoHelper()
	Eventually(readiness).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal("ok"))
}

// readiness is what the manager says of itself: "ok", or why it is not ready.
func readiness(ctx context.Context) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+health+"/readyz", http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return string(body)
}

// newNamespace makes a namespace for one spec, and deletes what would burden the others at the end.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	namespace := installation.CreateNamespace(ctx, client, "spec-")
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{})).To(Succeed())
	})
	return namespace
}
