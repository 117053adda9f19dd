// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/plugintest"
)

// TestAReplicaThatFitsIsReached frees a place behind many replicas of higher priority that cannot
// use it. Each is heard of as soon as it has been offered the place: by a timer they would take
// longer than the test waits.
func TestAReplicaThatFitsIsReached(t *testing.T) { //nolint:tparallel // its rows run side by side, and beside no other test
	const many = 60
	for name, tc := range map[string]struct {
		front     func(*corev1.Pod)
		meanwhile func(*plugintest.Running)
	}{
		"who want a node that there is not": {
			front: func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"disk": "ssd"} },
		},
		"who are gated":              {meanwhile: func(r *plugintest.Running) { r.Obstacle.Gates.Store(true) }},
		"who are rejected elsewhere": {meanwhile: func(r *plugintest.Running) { r.Obstacle.Rejects.Store(true) }},
		"whose attempts break":       {meanwhile: func(r *plugintest.Running) { r.Obstacle.Breaks.Store(true) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, rs := deployment("nginx", 1)
			objects := []runtime.Object{beijingHangzhou().Obj(), d, rs}
			r := plugintest.Run(t, append(plugintest.Sites(2, "beijing", "hangzhou"), objects...))
			replica := func(name string, change func(*corev1.Pod)) *corev1.Pod {
				pod := plugintest.MakePodOf(rs, 0).Name(name).UID(name).Obj()
				if change != nil {
					change(pod)
				}
				return pod
			}
			holder := replica("holder", nil)
			r.Create(holder)
			r.ExpectBound(holder)
			front := make([]*corev1.Pod, many)
			for i := range front {
				front[i] = replica(fmt.Sprint("front-", i), tc.front)
				front[i].Spec.Priority, front[i].Spec.PreemptionPolicy = ptr.To[int32](10), ptr.To(corev1.PreemptNever)
			}
			r.Create(front...)
			r.ExpectWaiting(front...)
			fits := replica("fits", nil)
			r.Create(fits)
			r.ExpectWaiting(fits)
			if tc.meanwhile != nil {
				tc.meanwhile(r)
			}
			r.Delete(holder)
			r.ExpectBound(fits)
		})
	}
}
