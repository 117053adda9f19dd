// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/placement/movelimit"
)

// crowded returns a world in which so many pods have begun to move that no other may for so long.
func crowded(t *testing.T, w *world, limits movelimit.Limits) {
	t.Helper()
	w.controller.Moves = state.NewMoves(limits, w.clock)
	w.controller.Moves.Begin(movelimit.Claim{Key: "another", Cluster: "madrid", Pods: 4})
}

func TestAMoveWaitsWhileManyPodsMove(t *testing.T) {
	for name, limits := range map[string]movelimit.Limits{"in all": {PerMinute: 2}, "to the cluster": {PerCluster: 2}} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, nil)
			w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
			w.clock.SetTime(w.clock.Now().Add(61 * time.Second))
			crowded(t, w, limits)
			w.passes()
			const told = "False MovesLimited: cluster madrid is better; the move waits for --max-moves-per-minute or "
			w.is("at first", "berlin", "berlin", 2, told)
			before := w.writes
			w.after(90 * time.Second)
			w.is("while it waits", "berlin", "berlin", 2, told)
			if w.writes != before {
				t.Errorf("%d writes while it waits", w.writes-before)
			}
			w.after(15 * time.Second)
			w.after(15 * time.Second)
			w.is("when it may", "madrid", "madrid>=2 berlin", 4, "True Start")
			if got := w.app().Status.ShownScore; got != "0.9091" {
				t.Errorf("the score is %s, want that of madrid, 0.9091", got)
			}
		})
	}
}

// A move that waits is not forgotten when the controller restarts, however long a choice stands.
func TestAMoveWaitsForItsTurnAcrossARestart(t *testing.T) {
	w := settled(t, func(app *berthv1alpha1.Application) {
		app.Spec.RescheduleAfter = &metav1.Duration{Duration: 6 * time.Hour}
	})
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	crowded(t, w, movelimit.Limits{PerMinute: 2})
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.RescheduleAfter.Duration = 5 * time.Hour })
	w.passes()
	w.is("at first", "berlin", "berlin", 2, "False MovesLimited: ")
	moves := w.controller.Moves
	w.restart()
	w.controller.Moves = moves
	for range 10 {
		w.after(15 * time.Second)
	}
	if got := w.app().Status.ScheduledTo; got != "madrid" {
		t.Errorf("it is in %s, want madrid", got)
	}
}

func TestAMoveThatIsNoLongerWantedWaitsForNothing(t *testing.T) {
	w := settled(t, nil)
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.clock.SetTime(w.clock.Now().Add(61 * time.Second))
	crowded(t, w, movelimit.Limits{PerMinute: 2})
	w.passes()
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 0) })
	w.after(15 * time.Second)
	w.is("it stays", "berlin", "berlin", 2, "none")
}

// TestWhatIsSuspendedWaitsForNothing suspends what waits for its turn, or for a window.
func TestWhatIsSuspendedWaitsForNothing(t *testing.T) {
	closed := func(app *berthv1alpha1.Application) {
		hour := metav1.Duration{Duration: time.Hour}
		app.Spec.Move = &berthv1alpha1.ApplicationMove{Windows: []berthv1alpha1.MoveWindow{{Schedule: "0 0 * * *", Duration: hour}}}
	}
	for told, edit := range map[string]func(*berthv1alpha1.Application){"MovesLimited": nil, "WindowClosed": closed} {
		t.Run(told, func(t *testing.T) {
			w := settled(t, edit)
			w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
			w.clock.SetTime(w.clock.Now().Add(61 * time.Second))
			crowded(t, w, movelimit.Limits{PerMinute: 2})
			w.passes()
			w.is("at first", "berlin", "berlin", 2, "False "+told)
			w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Suspend = true })
			w.passes()
			w.is("suspended", "berlin", "berlin", 2, "none")
			w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Suspend = false })
			w.passes()
			w.is("it goes on", "berlin", "berlin", 2, "False "+told)
		})
	}
}

func TestWhatIsNoMoveIsNotLimited(t *testing.T) {
	w := newWorld(t, cluster("berlin", 0.5), cluster("madrid", 0.4), newApplication(deployment))
	crowded(t, w, movelimit.Limits{PerMinute: 1})
	w.passes()
	w.is("the first choice", "berlin", "berlin", 2, "none")

	w = moving(t, nil)
	crowded(t, w, movelimit.Limits{PerMinute: 1})
	w.queue()
	w.after(40 * time.Second)
	w.is("the way back", "berlin", "berlin", 2, "False Unschedulable")
}

func TestTheHighestPriorityMovesFirst(t *testing.T) {
	w := settled(t, nil)
	var pods corev1.PodList
	w.must(w.client.List(t.Context(), &pods))
	for i := range pods.Items {
		pods.Items[i].Spec.Priority = ptr.To[int32](100)
		w.must(w.client.Update(t.Context(), &pods.Items[i]))
	}
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.clock.SetTime(w.clock.Now().Add(61 * time.Second))
	crowded(t, w, movelimit.Limits{PerMinute: 60})
	w.controller.Moves.Begin(movelimit.Claim{Key: "lower", Cluster: "rome", Priority: 99, Pods: 4})
	if wait := w.controller.Moves.Begin(movelimit.Claim{Key: "lowest", Cluster: "rome", Priority: 1}); wait == 0 {
		t.Fatal("another one does not wait")
	}
	w.passes()
	w.clock.SetTime(w.clock.Now().Add(4 * time.Second))
	if wait := w.controller.Moves.Begin(movelimit.Claim{Key: "lowest", Cluster: "rome", Priority: 1}); wait == 0 {
		t.Error("one of a lower priority that came before begins before it")
	}
	w.passes()
	if got := w.condition("Moving"); !strings.HasPrefix(got, "True") {
		t.Errorf("Moving is %s, want it to have begun", got)
	}
}
