// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faults_test checks that nothing is given twice, whatever becomes of the Bindings that
// berth-scheduler sends and of the process that has sent them: they are delivered late or never,
// answered wrongly, and arrive when another process has long been the leader.
package faults_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const (
	timeout = 150 * time.Second
	poll    = 100 * time.Millisecond
	// fits is how long what fits may wait, once the faults are over.
	fits = 60 * time.Second

	siteLabel = "example.com/site"
)

var (
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface

	sites = []string{"east", "west", "north", "south", "centre", "coast"}
)

func TestFaults(t *testing.T) {
	installation.Suite{Title: "Bindings that go astray", Begin: begin}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.Apply(ctx, plane)
	schedulerproc.StartControllers(ctx, plane)
	createSites(ctx)
}

func createSites(ctx context.Context) {
	GinkgoHelper()
	for _, site := range sites {
		labels := map[string]string{siteLabel: site}
		Expect(localplane.CreateNodes(ctx, client, site, 2, labels, nil)).To(Succeed())
		cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: site}}
		cluster.Spec.MatchLabels = labels
		_, err := berth.BerthV1alpha1().Clusters().Create(ctx, cluster, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}
