// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// mostTries is how often a scheduler may try a pod within a second. One that goes beyond that tries
// it for nothing, and has no time for others; in a bubble it would keep time from passing.
const mostTries = 100

// tries are how often a scheduler has tried each pod within a second.
type tries struct {
	process *process

	mu   sync.Mutex
	pods map[types.UID]*tried
}

// tried is how often a pod was tried since a time, and why it failed last.
type tried struct {
	since time.Time
	times int
	why   string
}

// count counts how often a scheduler tries each pod. One that breaks the promise goes no further,
// so that the others do.
func (p *process) count(sched *scheduler.Scheduler) {
	t := &tries{process: p, pods: map[types.UID]*tried{}}
	next, failed := sched.NextPod, sched.FailureHandler
	sched.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		info, err := next(logger)
		if info != nil && err == nil && t.add(info) {
			<-p.never
		}
		return info, err
	}
	sched.FailureHandler = func(
		ctx context.Context, profile framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status,
		nominating *fwk.NominatingInfo, start time.Time,
	) {
		t.fail(info, status)
		failed(ctx, profile, info, status, nominating, start)
	}
}

// add notes that a pod is tried, and reports whether that is once too often.
func (t *tries) add(info *framework.QueuedPodInfo) (over bool) {
	t.mu.Lock()
	known := t.pods[info.Pod.UID]
	if known == nil || time.Since(known.since) >= time.Second {
		known = &tried{since: time.Now()}
		t.pods[info.Pod.UID] = known
	}
	known.times++
	over, why := known.times > mostTries, known.why
	t.mu.Unlock()
	if over {
		w := t.process.world
		w.mu.Lock()
		defer w.mu.Unlock()
		w.violatef("%s tries pod %s again and again, %d times within a second: %s",
			t.process.program.Name, info.Pod.Name, mostTries, why)
	}
	return over
}

// fail notes why a pod was tried in vain.
func (t *tries) fail(info *framework.QueuedPodInfo, status *fwk.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.pods[info.Pod.UID]; known != nil {
		known.why = status.Message()
	}
}
