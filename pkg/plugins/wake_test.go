// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/plugins"
	"berth.dev/berth/pkg/plugintest"
)

// The scheduler tells the API server of a failed attempt before it goes on to the next pod.
func TestAFailureThatIsNotAnsweredHoldsUpNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sched := &scheduler.Scheduler{FailureHandler: func(
			ctx context.Context, _ framework.Framework, _ *framework.QueuedPodInfo, _ *fwk.Status, _ *fwk.NominatingInfo, _ time.Time,
		) {
			<-ctx.Done()
		}}
		plugins.NewState(fence.New(), nil).Follow(sched)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		info, err := framework.NewPodInfo(plugintest.MakePod("p").Obj())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		sched.FailureHandler(ctx, nil, &framework.QueuedPodInfo{PodInfo: info}, fwk.NewStatus(fwk.Unschedulable), nil, began)
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("the scheduler waits for %v, want 5s", took)
		}
	})
}
