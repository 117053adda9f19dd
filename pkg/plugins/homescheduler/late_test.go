// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

func TestADrainIsNotAcknowledgedWhileTheProcessBeforeMayBind(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"), plugintest.Held())
	waiting := pod(0, "a")
	waiting.ResourceVersion = "7"
	list := &corev1.PodList{Items: []corev1.Pod{*waiting}}
	s.Kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, list, nil })
	s.Kube.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, waiting, nil })
	unreachable := fail(s, "patch", "pods")
	s.Release()
	change(t, s, "mine", func(c *berthv1alpha1.ClusterStatus) {
		c.HomeTransfer, c.HomeRevision = &berthv1alpha1.HomeTransfer{To: "b"}, 2
	})
	s.WaitFor("several attempts to make the binding impossible", func() bool { return unreachable.count() > 2 })
	if got := drained(t, s, "a"); len(got) > 0 {
		t.Fatalf("acknowledged: %v", got)
	}
	unreachable.end()
	s.WaitFor("the acknowledgement", func() bool { return len(drained(t, s, "a")) == 1 })
}
