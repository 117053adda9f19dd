// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"context"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"berth.dev/berth/examples/feedinventory-controller/cachering"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

var _ = Describe("An external controller", Serial, func() {
	It("takes the place of the one that is built in, which its feature gate switches off", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		Expect(localplane.ApplyManifests(ctx, plane.Config(), installation.Path("examples", "feeds", "definition.yaml"),
			installation.Path("examples", "feedinventory-controller", "rbac.yaml"))).To(Succeed())
		bundle, err := os.ReadFile(installation.Path("examples", "feeds", "shop.yaml"))
		Expect(err).NotTo(HaveOccurred())
		documents := strings.Split(string(bundle), "---\n")
		create(ctx, schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "cacherings"}, namespace, documents[2])
		deploy(ctx, namespace, "web", 3)
		ring := feed("CacheRing", "shop-cache")
		ring.APIVersion = "example.com/v1"

		By("switching off the one that is built in")
		stopManager()
		startManager("FeedInventory=false")
		DeferCleanup(func() {
			stopManager()
			startManager("")
		})
		subscribe(ctx, namespace, ring, feed("Deployment", "web"))
		Consistently(ctx, func(ctx context.Context) error {
			_, err := inventory(ctx, namespace)
			return err
		}).WithTimeout(settle).WithPolling(poll).ShouldNot(Succeed())

		By("starting the external one")
		stop := start("feedinventory-controller", func(ctx context.Context, config *rest.Config) error {
			return cachering.Run(ctx, config, ctrl.Options{
				Metrics:    metricsserver.Options{BindAddress: "0"},
				Controller: controllerconfig.Controller{SkipNameValidation: new(true)},
			})
		})
		DeferCleanup(stop)
		untilLines(ctx, namespace, "CacheRing shop-cache 6 Parsed", "Deployment web 3 Parsed")
		found, err := berth.BerthV1alpha1().FeedInventories(namespace).Get(ctx, name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(found.Status.Feeds[0].Parser).To(Equal("cache-ring"))
		Expect(found.Spec.Feeds[0].ReplicaRequirements.Resources.Requests.Memory().String()).To(Equal("96Mi"))
	})
})
