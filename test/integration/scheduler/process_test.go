// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// main is the scheduler that all specs use but those that stop it.
var main *schedulerproc.Scheduler

// replaceMain ends the main scheduler until the spec, which starts its own, is over.
func replaceMain() {
	GinkgoHelper()
	main.End()
	DeferCleanup(func(ctx SpecContext) {
		main = schedulerproc.Start(ctx, plane, schedulerproc.Options{Args: schedulerproc.Patient})
		Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
	})
}

// leader returns who holds the lease, empty if nobody does.
func leader(ctx context.Context) string { return schedulerproc.Leader(ctx, client) }
