// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !kubernetes_1_36 && !kubernetes_1_37

package decision

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// capacityConfiguration is the stock configuration with CapacityScheduling.
const capacityConfiguration = stockConfiguration + `  plugins:
    multiPoint:
      enabled:
      - name: CapacityScheduling
`

// quotas is how many namespaces have an ElasticQuota.
const quotas = 100

// quotaPeers are the peers that scheduler-plugins has, which exist for the Kubernetes of go.mod.
var quotaPeers = []peer{capacityScheduling}

// capacityScheduling limits the sum of the units that the pods of a namespace use. It knows no
// sites: a quota is for the whole cluster.
var capacityScheduling = peer{
	name: "capacity-scheduling", title: "CapacityScheduling of scheduler-plugins, a quota for each of 100 namespaces (knows no sites)",
	start: func(ctx context.Context, a *arena) (*contestant, error) {
		config, err := serveQuotas(ctx)
		if err != nil {
			return nil, err
		}
		r, err := ownRig(ctx, a.layout, capacityConfiguration, &setup{kubeConfig: config})
		if err != nil {
			return nil, err
		}
		pod := func(number int) *corev1.Pod { return workloadPod(number).Obj() }
		return &contestant{rig: r, pod: pod}, awaitQuotas(ctx, r)
	},
}

// awaitQuotas waits until the plugin knows the quota of the workload's namespace, and so rejects a
// pod that wants more.
func awaitQuotas(ctx context.Context, r *rig) error {
	greedy := request("greedy").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "30"}).Obj()
	return wait.PollUntilContextTimeout(ctx, time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		_, _, err := r.decide(ctx, greedy)
		var unfit *framework.FitError
		if errors.As(err, &unfit) {
			return true, nil
		}
		return false, err
	})
}
