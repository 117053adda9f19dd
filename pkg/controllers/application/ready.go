// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/names"
)

// runs sets the condition that reports whether everything runs in the chosen cluster, and what the
// column READY shows.
func (p *pass) runs(objects []*object, seen *observed) {
	target := p.app.Status.ScheduledTo
	p.app.Status.Ready = readyOf(p.app, objects, seen).String()
	for _, o := range objects {
		if o.policy == "" {
			continue
		}
		if reason, message := o.progress(p.app, seen); reason != "" {
			message = o.String() + message + seen.refused(o) + unbound(target, seen.waiting[o.policy])
			if len(p.contested) > 0 { // It may be why.
				message += "; " + names.First(p.contested, maxNamed, "; ")
			}
			p.condition(berthv1alpha1.ApplicationReady, false, reason, message)
			return
		}
	}
	if len(p.contested) > 0 {
		p.condition(berthv1alpha1.ApplicationReady, false, berthv1alpha1.ReasonManifestContested, names.First(p.contested, maxNamed, "; "))
		return
	}
	p.condition(berthv1alpha1.ApplicationReady, true, berthv1alpha1.ReasonRunning, "everything runs in cluster "+target)
}

// progress returns why the pods of an object do not all run in the target yet, as the reason of a
// condition and a message that follows the name of the object; both are empty if they do.
func (o *object) progress(app *berthv1alpha1.Application, seen *observed) (reason, message string) {
	if o.scales {
		if reason, message = migrate.Progress(o.workload(app, seen)); reason != "" {
			return reason, message
		}
	}
	if wanted, ready := o.count(app, seen); ready < wanted {
		return berthv1alpha1.ReasonPodsNotReady, fmt.Sprintf(": %d of %d pods are ready", ready, wanted)
	}
	return "", ""
}

// count returns how many pods an object wants, and how many are ready. What has no number of
// replicas wants the pods that there are.
func (o *object) count(app *berthv1alpha1.Application, seen *observed) (wanted, ready int64) {
	if o.scales {
		return o.wants(app, seen), seen.ready[o.policy]
	}
	wanted = int64(len(seen.waiting[o.policy]))
	for _, there := range seen.pods[o.policy] {
		wanted += there.Bound
	}
	return wanted, seen.ready[o.policy]
}

// refused says why no more pods of an object are made; empty if nothing speaks against it.
func (s *observed) refused(o *object) string {
	if why := workload.WhyRefused(s.live[o.policy]); why != "" {
		return "; its pods are refused: " + why
	}
	return ""
}

// unbound says how many pods have no node in the target, and what the scheduler says of them; empty
// if all have one.
func unbound(target string, waiting []*corev1.Pod) string {
	if len(waiting) == 0 {
		return ""
	}
	text := fmt.Sprintf("; %d without a node in cluster %s", len(waiting), target)
	if why := workload.WhyPending(waiting); why != "" {
		text += ": " + why
	}
	return text
}

// readyOf counts the pods of all objects.
func readyOf(app *berthv1alpha1.Application, objects []*object, seen *observed) (total state.Count) {
	for _, o := range objects {
		if o.policy != "" {
			wanted, ready := o.count(app, seen)
			total.Add(ready, wanted)
		}
	}
	return total
}
