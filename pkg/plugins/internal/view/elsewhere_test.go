// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/view"
	"berth.dev/berth/pkg/plugintest"
)

func TestElsewhere(t *testing.T) {
	owner := plugintest.ReplicaSet(plugintest.Deployment("nginx", 3), "v1")
	third := stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 3}
	bound := func(given stamp.Stamp, changes ...func(*corev1.Pod)) *corev1.Pod {
		pod := plugintest.MakePodOf(owner, 0).Node("beijing-0").Obj()
		pod.Annotations = given.Annotations(pod, "beijing-0")
		for _, change := range changes {
			change(pod)
		}
		return pod
	}
	plain := plugintest.MakePodOf(owner, 0).Node("beijing-0").Obj()
	revision, _ := workload.RevisionUnder(bound(third), "web")
	now := metav1.Now()
	for name, c := range map[string]struct {
		before, after *corev1.Pod
		later         time.Duration
		then          func(*view.Elsewhere)
		seat          stamp.Stamp
		want          bool
	}{
		"a pod that gets it":               {bound(stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 7}), bound(third), 0, nil, third, true},
		"a pod that had none":              {plain, bound(third), 0, nil, third, true},
		"a pod that had it":                {bound(third), bound(third), 0, nil, third, false},
		"another seat":                     {plain, bound(third), 0, nil, stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 4}, false},
		"the same seat of another cluster": {plain, bound(third), 0, nil, stamp.Stamp{Policy: "web", Cluster: "hangzhou", Seat: 3}, false},
		"a pod that is being deleted":      {plain, bound(third, func(p *corev1.Pod) { p.DeletionTimestamp = &now }), 0, nil, third, false},
		"a pod that has ended":             {plain, bound(third, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), 0, nil, third, false},
		"a pod that gets no seat":          {plain, bound(stamp.Stamp{Policy: "web", Seat: stamp.NoSeat}), 0, nil, stamp.Stamp{Policy: "web", Seat: stamp.NoSeat}, false},
		"a pod that gets another one then": {plain, bound(third), 0, func(e *view.Elsewhere) {
			e.Received(bound(stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 5}), bound(third))
		}, third, false},
		"a pod that is deleted then": {plain, bound(third), 0, func(e *view.Elsewhere) { e.Drop(bound(third).UID) }, third, false},
		"a minute ago":               {plain, bound(third), time.Minute, nil, third, false},
		"less than that ago":         {plain, bound(third), 59 * time.Second, nil, third, true},
	} {
		t.Run(name, func(t *testing.T) {
			clk := clocktesting.NewFakePassiveClock(now.Time)
			e := view.NewElsewhere(clk)
			e.Received(c.after, c.before)
			if c.then != nil {
				c.then(e)
			}
			clk.SetTime(now.Add(c.later))
			asked := view.Seat{Revision: revision, Stamp: c.seat}
			if got := e.Taken("another", asked); got != c.want {
				t.Errorf("taken is %t, want %t", got, c.want)
			}
			if e.Taken(c.after.UID, asked) {
				t.Error("it is taken for the pod itself")
			}
		})
	}
}

func TestElsewhereForgetsWhatIsOld(t *testing.T) {
	owner := plugintest.ReplicaSet(plugintest.Deployment("nginx", 3), "v1")
	clk := clocktesting.NewFakePassiveClock(time.Now())
	e := view.NewElsewhere(clk)
	for i := range 10 {
		pod := plugintest.MakePodOf(owner, i).Node("beijing-0").Obj()
		pod.Annotations = stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: int32(i)}.Annotations(pod, "beijing-0")
		e.Received(pod, plugintest.MakePodOf(owner, i).Node("beijing-0").Obj())
		clk.SetTime(clk.Now().Add(time.Minute))
	}
	if got := view.Remembered(e); got > 2 {
		t.Errorf("%d pods are remembered, want those of the last minutes", got)
	}
}
