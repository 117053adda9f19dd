// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package subscriptions_test checks that feeds land where their Subscription divides them, with
// berth-scheduler and berth-controller-manager as they are shipped, against a real control plane.
package subscriptions_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const (
	// timeout is for what takes seconds on an idle machine. It is below the five minutes after
	// which the scheduler tries every pod again, so that a lost wake-up shows.
	timeout = 150 * time.Second
	poll    = 100 * time.Millisecond
	// settle is how long something must not happen to count as not happening.
	settle = 2 * time.Second
)

var (
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
	main   *schedulerproc.Scheduler

	controllers *localplane.Process
)

func TestSubscriptions(t *testing.T) {
	installation.Suite{Title: "Subscriptions", Begin: begin}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.Apply(ctx, plane)
	main = schedulerproc.Start(ctx, plane, schedulerproc.Options{Args: schedulerproc.Patient})
	controllers = schedulerproc.StartControllers(ctx, plane)
}

// restartControllers has berth-controller-manager run with further flags.
func restartControllers(ctx context.Context, args ...string) {
	GinkgoHelper()
	Expect(controllers.Stop(timeout)).To(Succeed())
	controllers = schedulerproc.StartControllers(ctx, plane, args...)
}

// site is what a spec has to itself: a namespace and Clusters that no other spec uses.
type site struct{ namespace, suffix string }

// siteLabel on a Cluster names the spec that it belongs to, nameLabel its name in the spec.
const (
	siteLabel = "example.com/site"
	nameLabel = "example.com/name"
)

func newSite(ctx context.Context) *site {
	GinkgoHelper()
	ns := installation.CreateNamespace(ctx, client, "site-")
	installation.Allow(ctx, client, ns)
	return &site{namespace: ns, suffix: strings.TrimPrefix(ns, "site-")}
}

// cluster makes a Cluster of one node with so many CPUs.
func (s *site) cluster(ctx context.Context, name, cpus string) {
	GinkgoHelper()
	s.clusterOf(ctx, name, cpus)
}

// clusterOf makes a Cluster with a node for each of the numbers of CPUs. The first node has the
// name of the Cluster, the others a number at the end.
func (s *site) clusterOf(ctx context.Context, name string, cpus ...string) {
	GinkgoHelper()
	full := name + "-" + s.suffix
	made := &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: full, Labels: map[string]string{siteLabel: s.suffix, nameLabel: name}},
	}
	for i, cpu := range cpus {
		node := full
		if i > 0 {
			node = fmt.Sprintf("%s-%d-%s", name, i, s.suffix)
		}
		labels := map[string]string{siteLabel: s.suffix, nameLabel: name}
		_, err := client.CoreV1().Nodes().Create(ctx, localplane.FakeNode(node, labels, corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("256Gi"),
			corev1.ResourcePods: resource.MustParse("110"),
		}), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		made.Spec.Nodes = append(made.Spec.Nodes, node)
	}
	_, err := berth.BerthV1alpha1().Clusters().Create(ctx, made, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}
