// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/movelimit"
)

// A move in steps changes the number of replicas again and again by itself.
func TestAMoveInStepsBlamesNobody(t *testing.T) {
	c := newCrossing(t, nil, inSteps)
	c.passed = func(a *tenant, before, after *berthv1alpha1.Application) {
		c.see(a, before, after)
		for _, told := range after.Status.Conditions {
			if strings.Contains(told.Message, "somebody else") {
				c.tb.Fatalf("%s is %s", told.Type, told.Message)
			}
		}
	}
	c.moveTo("Available")
	c.until(time.Hour, func() bool { return c.ended != "" })
	if c.ended != done {
		t.Errorf("the move ends with %q, want %q", c.ended, done)
	}
}

func TestAWindowThatNeverOpensChangesNothingOfAMove(t *testing.T) {
	w := moving(t, nil)
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
		spec.Move = &berthv1alpha1.ApplicationMove{Windows: []berthv1alpha1.MoveWindow{
			{Schedule: "0 0 30 2 *", Duration: metav1.Duration{Duration: time.Hour}},
		}}
	})
	for _, at := range []string{"at once", "at the next review", "at the one after that"} {
		w.pass()
		w.is(at, "madrid", "madrid>=2 berlin", 4, "True Start")
		w.clock.SetTime(w.clock.Now().Add(61 * time.Second))
	}
}

func TestAMoveThatHasToWaitTellsWhatIsWrongWhereItRuns(t *testing.T) {
	w := settled(t, nil)
	crowded(t, w, movelimit.Limits{PerMinute: 2})
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
		spec.Constraints.ClusterLabels = []string{"location is madrid"}
	})
	w.passes()
	w.is("it waits", "berlin", "berlin", 2, "False MovesLimited")
	const want = "False NoClusterMatches: cluster berlin does not suit any more: not meeting location is madrid; the move to another one waits"
	if got := w.condition("Scheduled"); got != want {
		t.Errorf("Scheduled is %s\nwant %s", got, want)
	}
}

func TestReadyOfWhatOthersScale(t *testing.T) {
	tests := map[string]struct {
		migration berthv1alpha1.MigrationMode
		refused   bool
		moves     bool
		ready     string
		condition string
	}{
		"its pods are refused": {refused: true, ready: "2/8", condition: "False PodsNotReady: deployment front: 2 of 8 pods are " +
			"available in cluster berlin; its pods are refused: exceeded quota: most"},
		"it moves":       {moves: true, ready: "2/2", condition: "False Migrating"},
		"it stops first": {migration: "StopFirst", moves: true, ready: "2/2", condition: "False Migrating"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := settled(t, func(app *berthv1alpha1.Application) {
				app.Spec.Manifests = manifests(strings.Replace(deployment, "replicas: 2, ", "", 1))
				app.Spec.Migration = tc.migration
			})
			d := w.deployment()
			d.Spec.Replicas = new(int32(2))
			if tc.refused {
				*d.Spec.Replicas = 8
				d.Status.Conditions = []appsv1.DeploymentCondition{
					{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Message: "progressing"},
					{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota: most"},
				}
			}
			conditioned := d.DeepCopy()
			w.must(w.client.Update(t.Context(), d))
			conditioned.ResourceVersion = d.ResourceVersion
			w.must(w.client.Status().Update(t.Context(), conditioned))
			w.passes()
			if tc.moves {
				w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
				w.after(61 * time.Second)
				w.after(3 * time.Second)
				for range 2 {
					w.run("madrid", 2, false)
				}
				w.after(3 * time.Second)
			}
			if got := w.app().Status.Ready; got != tc.ready {
				t.Errorf("READY shows %s, want %s", got, tc.ready)
			}
			if got := w.condition("Ready"); !strings.HasPrefix(got, tc.condition) {
				t.Errorf("Ready is %s, want %s", got, tc.condition)
			}
		})
	}
}

// Nobody sees a move that is done while pods seem to be missing.
func TestTheEndOfAMoveIsToldWithWhatRuns(t *testing.T) {
	c := newCrossing(t, nil, stopsFirst)
	react, told := c.wrote, ""
	c.wrote = func(object client.Object) {
		if app, ok := object.(*berthv1alpha1.Application); ok && c.app.stored().Status.Move == nil && told == "" {
			told = app.Status.Ready
		}
		react(object)
	}
	c.moveTo(berthv1alpha1.MoveAvailable)
	told = ""
	c.until(time.Hour, func() bool { return c.ended != "" })
	if told != "3/3" {
		t.Errorf("when the move has ended, READY is %q, want 3/3", told)
	}
}
