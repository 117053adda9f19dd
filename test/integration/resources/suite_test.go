// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package resources_test checks that ClusterResources are given out exactly, with berth-scheduler
// and berth-controller-manager as processes of their own, as they are shipped, against a real
// control plane.
package resources_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

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
	settle = time.Second
)

// Names of the PriorityClasses.
const (
	low   = "low"
	high  = "high"
	never = "high-never"
)

var (
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
)

func TestResources(t *testing.T) {
	installation.Suite{Title: "cluster resources", Begin: begin, End: end}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.Apply(ctx, plane)
	createPriorities(ctx)
	main = schedulerproc.Start(ctx, plane, schedulerproc.Options{Args: schedulerproc.Patient})
	Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
	schedulerproc.StartControllers(ctx, plane)
}

func end(ctx SpecContext) {
	if main != nil {
		Expect(schedulerproc.Sum(main.Metrics(ctx), "berth_plugin_panics_total")).To(BeZero())
	}
}

func createPriorities(ctx context.Context) {
	GinkgoHelper()
	for _, class := range []schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: low}, Value: 10},
		{ObjectMeta: metav1.ObjectMeta{Name: high}, Value: 1000},
		{ObjectMeta: metav1.ObjectMeta{Name: never}, Value: 1000, PreemptionPolicy: ptr.To(corev1.PreemptNever)},
	} {
		_, err := client.SchedulingV1().PriorityClasses().Create(ctx, &class, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}
