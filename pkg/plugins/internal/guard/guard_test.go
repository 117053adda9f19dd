// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/plugins/internal/guard"
)

// filter stands for an extension point.
func filter(ctx context.Context, cause any) (status *fwk.Status) {
	defer guard.Rescue(ctx, "Plugin", "Filter", &status)
	if cause != nil {
		panic(cause)
	}
	return fwk.NewStatus(fwk.Unschedulable, "full")
}

func TestRescue(t *testing.T) {
	guard.RegisterMetrics()
	guard.RegisterMetrics() // A second profile does this too.
	ctx := klog.NewContext(t.Context(), logr.Discard())
	if got := filter(ctx, nil); got.Code() != fwk.Unschedulable || got.Message() != "full" {
		t.Errorf("without a panic the status is %v %q", got.Code(), got.Message())
	}
	got := filter(ctx, "index out of range")
	for _, want := range []string{"Plugin", "Filter", "index out of range"} {
		if got.Code() != fwk.Error || !strings.Contains(got.Message(), want) {
			t.Errorf("the status is %v %q, want an error with %q", got.Code(), got.Message(), want)
		}
	}
}

// hint stands for a queueing hint.
func hint(cause any) (hint fwk.QueueingHint, err error) {
	defer guard.RescueHint(logr.Discard(), "Plugin", &hint, &err)
	if cause != nil {
		panic(cause)
	}
	return fwk.QueueSkip, nil
}

func TestRescueHint(t *testing.T) {
	if got, err := hint(nil); got != fwk.QueueSkip || err != nil {
		t.Errorf("without a panic the hint is %v, %v", got, err)
	}
	if got, err := hint("a bug"); got != fwk.Queue || err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("the hint is %v, %v, want Queue and the panic", got, err)
	}
}
