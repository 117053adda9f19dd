// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"strings"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// unreadable lets the manifest be none of the kinds that there are.
func unreadable(c *crossing) { c.replace(`"Deployment"`, `"Ship"`) }

// What the status says is about the spec as it is, whatever that is.
func TestTheStatusIsOfTheGenerationThatWasLookedAt(t *testing.T) {
	for name, do := range map[string]func(*crossing){
		"manifests that cannot be read": func(c *crossing) { unreadable(c) },
		"manifests that cannot be read, during a move": func(c *crossing) {
			c.moveTo(berthv1alpha1.MoveStart)
			unreadable(c)
		},
		"an edit after a move": func(c *crossing) {
			c.moveTo(berthv1alpha1.MoveStart)
			c.until(time.Hour, func() bool { return c.ended != "" })
			c.replace(inManifest, `"replicas":5`)
		},
		"constraints that cannot be read, after a move": func(c *crossing) {
			c.moveTo(berthv1alpha1.MoveStart)
			c.until(time.Hour, func() bool { return c.ended != "" })
			c.app.respecify(func(spec *berthv1alpha1.ApplicationSpec) { spec.Constraints.ClusterLabels = []string{"is"} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrossing(t, nil, func(*berthv1alpha1.ApplicationSpec) {})
			c.run(time.Minute)
			do(c)
			c.run(2 * time.Minute)
			app := c.app.stored()
			if app.Status.ObservedGeneration != app.Generation {
				t.Errorf("the status is of generation %d, want %d", app.Status.ObservedGeneration, app.Generation)
			}
			for _, told := range app.Status.Conditions {
				if told.ObservedGeneration != app.Generation {
					t.Errorf("%s (%s: %s) is of generation %d, want %d", told.Type, told.Reason, told.Message, told.ObservedGeneration, app.Generation)
				}
			}
		})
	}
}

// A move rests while nobody can tell what is to move, says so, and goes on when the manifests can
// be read again.
func TestAMoveRestsWhileItsManifestsCannotBeRead(t *testing.T) {
	c := newCrossing(t, nil, func(*berthv1alpha1.ApplicationSpec) {})
	c.moveTo(berthv1alpha1.MoveStart)
	unreadable(c)
	c.run(time.Minute)
	for kind, want := range map[string]string{
		berthv1alpha1.ApplicationMoving:    "the move rests until the manifests can be read",
		berthv1alpha1.ApplicationScheduled: "cluster madrid stays chosen until the manifests can be read",
	} {
		told := apimeta.FindStatusCondition(c.app.stored().Status.Conditions, kind)
		if told == nil || told.Status != "True" || told.Reason != berthv1alpha1.ReasonInvalidManifests || told.Message != want {
			t.Errorf("%s is %+v, want %q", kind, told, want)
		}
	}
	c.replace(`"Ship"`, `"Deployment"`)
	if !c.until(time.Hour, func() bool { return c.ended != "" }) || !strings.HasPrefix(c.ended, done) {
		t.Errorf("the move ends with %q, want %q", c.ended, done)
	}
}

// What was changed together with manifests that could not be read is looked at as soon as they can
// be, also if a kind has been installed since and the spec is still the same.
func TestAChoiceIsReviewedWhenManifestsCanBeReadAgain(t *testing.T) {
	w := newWorld(t, cluster("berlin", 0.5), cluster("madrid", 0.4), newApplication(deployment))
	w.passes()
	known := w.mapper
	w.mapper = apimeta.NewDefaultRESTMapper(nil)
	w.restart()
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
		spec.Constraints.ClusterLabels = []string{"location is madrid"}
	})
	w.passes()
	if got := w.app().Status.ScheduledTo; got != "berlin" {
		t.Fatalf("it goes to %q while its manifests cannot be read", got)
	}
	w.mapper = known
	w.restart()
	w.passes()
	if got := w.app().Status.ScheduledTo; got != "madrid" {
		t.Errorf("it is in %q, want madrid: %+v", got, w.app().Status.Conditions)
	}
}
