// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

func TestHint(t *testing.T) {
	decide := func(_ klog.Logger, _ *corev1.Pod, before, after *corev1.Node) fwk.QueueingHint {
		switch {
		case before == nil && after.Name == "full":
			return fwk.QueueSkip
		case after == nil && before.Name == "full":
			return fwk.Queue
		}
		panic("a bug")
	}
	node := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	for name, test := range map[string]struct {
		before, after any
		want          fwk.QueueingHint
		wantErr       string
	}{
		"of what is new":         {after: node("full"), want: fwk.QueueSkip},
		"of what is gone":        {before: node("full"), want: fwk.Queue},
		"of a plugin's panic":    {after: node("other"), want: fwk.Queue, wantErr: "a bug"},
		"of another kind at all": {after: &corev1.Pod{}, want: fwk.Queue, wantErr: "*v1.Pod"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := guard.Hint("Plugin", decide)(logr.Discard(), &corev1.Pod{}, test.before, test.after)
			if got != test.want || (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("the hint is %v, %v, want %v, %q", got, err, test.want, test.wantErr)
			}
		})
	}
}
