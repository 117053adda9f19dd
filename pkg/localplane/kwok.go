// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import "context"

// startKwok starts the stand-in for kubelets. Leases and heartbeats are off:
// nobody reads them here, and they cost a write per node every few seconds.
func (cp *ControlPlane) startKwok(ctx context.Context) error {
	_, err := cp.StartProcess(ctx, Kwok, cp.binary(Kwok),
		"--config="+cp.files.kwokConfig,
		"--kubeconfig="+cp.files.kwokKubeconfig,
		"--manage-nodes-with-annotation-selector="+NodeAnnotation+"="+nodeAnnotationValue,
		"--node-lease-duration-seconds=0",
		"-v=WARN",
		"--cidr=10.244.0.0/16")
	return err
}
