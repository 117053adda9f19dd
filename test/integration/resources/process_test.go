// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// main is the scheduler that all specs use but those that stop it.
var main *schedulerproc.Scheduler

// configured returns the shipped configuration after a change of its profiles, of which there is
// one.
func configured(change func(profile map[string]any) (profiles []any)) []byte {
	GinkgoHelper()
	var fields map[string]any
	Expect(yaml.Unmarshal(schedulerproc.ShippedConfiguration(), &fields)).To(Succeed())
	profiles, ok := fields["profiles"].([]any)
	Expect(ok).To(BeTrue())
	Expect(profiles).To(HaveLen(1))
	profile, ok := profiles[0].(map[string]any)
	Expect(ok).To(BeTrue())
	fields["profiles"] = change(profile)
	text, err := yaml.Marshal(fields)
	Expect(err).NotTo(HaveOccurred())
	return text
}

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

// lapsed returns how often a scheduler has offered to another pod what it had offered to one that
// was not tried in time.
func lapsed(ctx context.Context, scheduler *schedulerproc.Scheduler) float64 {
	GinkgoHelper()
	return schedulerproc.Sum(scheduler.Metrics(ctx), "berth_waiting_offers_lapsed_total")
}
