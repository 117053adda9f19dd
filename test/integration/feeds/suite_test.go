// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package feeds_test checks Subscriptions, FeedInventories and FeedParsers against a real API
// server: their rules, and the controller that keeps inventories, with the permissions of its
// ServiceAccount.
package feeds_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"berth.dev/berth/cmd/controller-manager/app"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

const (
	// timeout is for what takes a second or two on an idle machine.
	timeout = 150 * time.Second
	poll    = 50 * time.Millisecond
	// settle is how long something must not happen to count as not happening.
	settle = time.Second
)

var (
	plane   *localplane.ControlPlane
	client  kubernetes.Interface
	berth   versioned.Interface
	objects dynamic.Interface
)

func TestFeeds(t *testing.T) {
	installation.Suite{Title: "Feeds", Begin: begin}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	var err error
	objects, err = dynamic.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	installation.ApplyCRDs(ctx, plane)
	Expect(localplane.ApplyManifests(ctx, plane.Config(),
		installation.Path("manifests", "base", "namespace.yaml"), installation.Path("manifests", "base", "serviceaccounts.yaml"),
		installation.Path("manifests", "base", "controller-manager-rbac.yaml"))).To(Succeed())
	ctrl.SetLogger(GinkgoLogr)
	startManager("")
	DeferCleanup(func() { stopManager() })
}

// stopManager stops what startManager started last.
var stopManager func()

// startManager runs the controllers within this process, with the permissions of the shipped
// ServiceAccount.
func startManager(gates string) {
	GinkgoHelper()
	options := app.NewOptions()
	options.LeaderElect = false
	options.MetricsBindAddress, options.HealthProbeBindAddress = "0", "0"
	Expect(options.FeatureGates.Set(gates)).To(Succeed())
	stopManager = start(localplane.BerthControllerManager, func(ctx context.Context, config *rest.Config) error {
		return app.Run(ctx, options, config)
	})
}

// start runs a program within this process, with the permissions of a ServiceAccount. It returns
// what stops it.
func start(serviceAccount string, program func(context.Context, *rest.Config) error) func() {
	GinkgoHelper()
	config := installation.ConfigOf(plane, serviceAccount)
	config.UserAgent = serviceAccount + "/in-a-test"
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- program(ctx, config) }()
	return func() {
		stop()
		Eventually(ended).WithTimeout(timeout).Should(Receive(BeNil()))
	}
}

func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	namespace, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.CoreV1().Namespaces().Delete(ctx, namespace.Name, metav1.DeleteOptions{})).To(Succeed())
	})
	return namespace.Name
}
