// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"fmt"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// tellReady tells how far the objects are.
func (p *pass) tellReady(objects []*object) {
	target := p.app.Status.ScheduledTo
	for _, o := range objects {
		if !o.scales {
			continue
		}
		policy, pods := p.policies[o.policy], p.pods[o.policy]
		here := pods.in(target)
		wanted := o.replicas
		if policy != nil && !o.given {
			wanted = int64(here.bound)
		}
		switch {
		case policy != nil && (p.moved(o) || pods.elsewhere(target) > 0):
			p.condition(berthv1alpha1.ApplicationReady, false, berthv1alpha1.ReasonMigrating,
				fmt.Sprintf("%s moves to cluster %s: %d of its pods are ready there", o, target, here.ready))
			return
		case int64(here.ready) < wanted || policy == nil:
			p.condition(berthv1alpha1.ApplicationReady, false, berthv1alpha1.ReasonPodsNotReady,
				fmt.Sprintf("%s: %d of its pods are ready in cluster %s", o, here.ready, target))
			return
		}
	}
	p.condition(berthv1alpha1.ApplicationReady, true, berthv1alpha1.ReasonRunning, "everything runs in cluster "+target)
}
