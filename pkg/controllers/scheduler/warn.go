// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// warningPause is how long a Scheduler may have no process before an event warns of it. One that
// was just made, or whose process is replaced, needs some seconds.
const warningPause = 5 * time.Second

// warnings remembers of which absences it was told, by the name of the Scheduler.
type warnings struct {
	mu   sync.Mutex
	told map[string]absence
}

// absence is why a Scheduler has no process, and since when it has none: a stranger may take the
// lease of one that never came.
type absence struct {
	reason string
	since  int64
}

// first reports whether an absence has not been told yet, and notes it.
func (w *warnings) first(name string, c *metav1.Condition) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := absence{c.Reason, c.LastTransitionTime.Unix()}
	if before, told := w.told[name]; told && before == found {
		return false
	}
	if w.told == nil {
		w.told = map[string]absence{}
	}
	w.told[name] = found
	return true
}

func (w *warnings) forget(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.told, name)
}

// warn records an event about a Scheduler that takes part in nothing because no process of it runs.
func (r *Reconciler) warn(s *berthv1alpha1.Scheduler) {
	c := apimeta.FindStatusCondition(s.Status.Conditions, berthv1alpha1.SchedulerReady)
	if c.Status == metav1.ConditionTrue || s.DeletionTimestamp != nil || r.Clock.Since(c.LastTransitionTime.Time) < warningPause ||
		!r.warnings.first(s.Name, c) {
		return
	}
	r.Recorder.Eventf(s, nil, corev1.EventTypeWarning, c.Reason, "Watch", "%s: the scheduler takes part in nothing", c.Message)
}
