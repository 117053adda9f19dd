// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package schedulerproc

import (
	"context"
	"slices"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"berth.dev/berth/pkg/localplane"
)

// StartControllers starts berth-controller-manager, which is patient, with further flags.
func StartControllers(ctx context.Context, plane *localplane.ControlPlane, args ...string) *localplane.Process {
	ginkgo.GinkgoHelper()
	process, err := plane.StartControllerManager(ctx, localplane.Component{Args: slices.Concat([]string{"--v=2"}, Patient, args)})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return process
}
