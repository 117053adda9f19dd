// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build schedulerperf

package schedulerperf_test

import (
	"errors"
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

// nodeWriters is how many nodes are made at a time. scheduler_perf would make one after the other,
// which takes longer than to place the pods.
const nodeWriters = 8

// createNodes makes as many nodes as the name of the workload says, evenly spread over the sites.
func createNodes(tCtx ktesting.TContext) error {
	workload, nodes := path.Base(tCtx.Name()), 0
	if _, err := fmt.Sscanf(workload, "%dNodes", &nodes); err != nil {
		return fmt.Errorf("reading the number of nodes from the name %q: %w", workload, err)
	}
	errs := make([]error, nodes)
	workqueue.ParallelizeUntil(tCtx, nodeWriters, nodes, func(i int) {
		node := st.MakeNode().Name(fmt.Sprintf("node-%05d", i)).Label(siteLabel, fmt.Sprintf("site-%d", i%sites)).
			Capacity(map[corev1.ResourceName]string{
				corev1.ResourceCPU: "32", corev1.ResourceMemory: "128Gi", corev1.ResourcePods: "110",
			}).Condition(corev1.NodeReady, corev1.ConditionTrue, "", "").Obj()
		_, errs[i] = tCtx.Client().CoreV1().Nodes().Create(tCtx, node, metav1.CreateOptions{})
	})
	return errors.Join(errors.Join(errs...), tCtx.Err())
}
