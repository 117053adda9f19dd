// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"strings"
)

// controllers are all that run. The node lifecycle controller is not among
// them: it would taint nodes that no kubelet keeps alive.
var controllers = []string{
	"clusterrole-aggregation-controller",
	"cronjob-controller",
	"daemonset-controller",
	"deployment-controller",
	"disruption-controller",
	"garbage-collector-controller",
	"job-controller",
	"namespace-controller",
	"pod-garbage-collector-controller",
	"replicaset-controller",
	"replicationcontroller-controller",
	"serviceaccount-controller",
	"serviceaccount-token-controller",
	"statefulset-controller",
}

// startControllerManager starts the controllers, each under its own
// ServiceAccount as in a real cluster, so that RBAC and admission policies see
// the users they will see there.
func (cp *ControlPlane) startControllerManager(ctx context.Context) error {
	_, err := cp.StartProcess(ctx, ControllerManager, cp.binary(ControllerManager),
		append(cp.controllerManagerArgs(), cp.opts.ControllerManagerArgs...)...)
	return err
}

func (cp *ControlPlane) controllerManagerArgs() []string {
	return []string{
		"--kubeconfig=" + cp.files.controllerManagerKubeconfig,
		"--controllers=" + strings.Join(controllers, ","),
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + cp.files.serviceAccountKey,
		"--leader-elect=false",
		"--secure-port=0",
		// A burst of some thousand pods is limited by the machine, not by the
		// clients' rate limits.
		"--kube-api-qps=2000",
		"--kube-api-burst=4000",
		"--concurrent-deployment-syncs=10",
		"--concurrent-replicaset-syncs=10",
		"--concurrent-statefulset-syncs=10",
		"--concurrent-job-syncs=10",
		"--concurrent-namespace-syncs=10",
		"--concurrent-gc-syncs=20",
	}
}
