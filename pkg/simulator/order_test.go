// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/plugintest"
)

// topologies are of one node each, and of several.
var topologies = []string{corev1.LabelHostname, corev1.LabelTopologyZone}

func drawZonedNodes(t *rapid.T) []runtime.Object {
	var nodes []runtime.Object
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		node := drawNode(t, "beijing", i)
		node.Labels[corev1.LabelTopologyZone] = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, fmt.Sprint("zone ", i))
		nodes = append(nodes, node)
	}
	return nodes
}

// drawCompanion draws a pod that cares where others like it are, or others of the app "db", and how
// many wishes it has.
func drawCompanion(t *rapid.T) (*corev1.Pod, int) {
	pod := plugintest.MakePod("sample").Label("app", "web").
		Req(map[corev1.ResourceName]string{corev1.ResourceCPU: strconv.Itoa(rapid.IntRange(1, 4).Draw(t, "cpus"))})
	wishes := rapid.IntRange(1, 2).Draw(t, "wishes")
	for i := range wishes {
		topology := rapid.SampledFrom(topologies).Draw(t, fmt.Sprint("topology ", i))
		app := rapid.SampledFrom([]string{"web", "db"}).Draw(t, fmt.Sprint("app ", i))
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
		switch rapid.IntRange(0, 3).Draw(t, fmt.Sprint("wish ", i)) {
		case 0:
			pod.PodAffinity(topology, selector, st.PodAffinityWithRequiredReq)
		case 1:
			pod.PodAntiAffinity(topology, selector, st.PodAntiAffinityWithRequiredReq)
		default:
			skew := rapid.IntRange(1, 3).Draw(t, fmt.Sprint("skew ", i))
			pod.SpreadConstraint(skew, topology, corev1.DoNotSchedule, selector, nil, nil, nil, nil)
		}
	}
	return pod.Obj(), wishes
}

// runs is how often the scheduler is asked, which draws lots.
const runs = 20

// TestTheSchedulerBindsWhatRoomPromises has the scheduler bind copies of pods that care where the
// others are. However it goes about that, it binds as many as Room has said, or more. With two
// wishes that concern one another it may be fewer by one for each node: which of them stops the
// next copy depends on where those before went.
func TestTheSchedulerBindsWhatRoomPromises(t *testing.T) {
	a := newArena(t, "")
	rapid.Check(t, func(rt *rapid.T) {
		a.worlds++
		nodes := drawZonedNodes(rt)
		there := slices.Clone(nodes)
		for i := range rapid.IntRange(0, 3).Draw(rt, "pods before") {
			on := nodes[rapid.IntRange(0, len(nodes)-1).Draw(rt, "node of a pod before")].(*corev1.Node)
			there = append(there, plugintest.MakePod(fmt.Sprintf("before-%d-%d", a.worlds, i)).Node(on.Name).Label("app", "db").Obj())
		}
		sample, wishes := drawCompanion(rt)
		a.put(there...)
		defer a.forget(there, there)
		room := a.ask(sample)
		a.snapshot.Fork()
		filled, err := a.snapshot.Fill(t.Context(), "beijing", sample, 30)
		a.snapshot.Revert()
		if err != nil || filled.Copies != room.Copies {
			rt.Errorf("Fill places %d copies, Room says %d: %v", filled.Copies, room.Copies, err)
		}
		slack := (wishes - 1) * len(nodes)
		for run := range runs {
			if bound := bindAll(a.Scheduler, sample, fmt.Sprintf("copy-%d-%d", a.worlds, run), room.Copies); bound < room.Copies-slack {
				rt.Errorf("run %d of the scheduler binds %d copies, Room says %d: %s", run, bound, room.Copies, room.LimitedBy)
				break
			}
		}
	})
}

// bindAll binds copies of a pod until there are enough or one is refused, and removes them. It
// returns how many there were.
func bindAll(scheduler *plugintest.Scheduler, sample *corev1.Pod, name string, enough int) int {
	var placed []runtime.Object
	for len(placed) < enough {
		copied := sample.DeepCopy()
		copied.Name = fmt.Sprintf("%s-%d", name, len(placed))
		copied.UID = types.UID(copied.Name)
		pod, _ := scheduler.Place(copied)
		if pod == nil {
			scheduler.Remove(copied)
			break
		}
		placed = append(placed, pod)
	}
	scheduler.Remove(placed...)
	return len(placed)
}
