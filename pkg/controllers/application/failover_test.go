// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// online sets since now whether a Cluster is online.
func (w *world) online(name string, is bool) {
	w.t.Helper()
	w.measure(name, func(c *berthv1alpha1.Cluster) {
		c.Status.Conditions[0].Status = metav1.ConditionFalse
		if is {
			c.Status.Conditions[0].Status = metav1.ConditionTrue
		}
		c.Status.Conditions[0].LastTransitionTime = metav1.NewTime(w.clock.Now())
	})
}

// failingOver returns a world in which the Application has a failover.
func failingOver(t *testing.T, after berthv1alpha1.FailoverAfter) *world {
	t.Helper()
	return settled(t, func(app *berthv1alpha1.Application) {
		app.Spec.Failover = &berthv1alpha1.Failover{After: &after, ReturnAfter: &metav1.Duration{Duration: 30 * time.Minute}}
	})
}

// stands checks where the Application is to be, and the beginning of the condition Scheduled.
func (w *world) stands(what, cluster, condition string) {
	w.t.Helper()
	if got := w.app().Status.ScheduledTo; got != cluster {
		w.t.Errorf("%s: scheduled to %s, want %s", what, got, cluster)
	}
	if got := w.condition("Scheduled"); !strings.HasPrefix(got, condition) {
		w.t.Errorf("%s: Scheduled is %q, want %q", what, got, condition)
	}
}

func TestAnOfflineClusterIsLeftAfterATime(t *testing.T) {
	w := failingOver(t, "5m")
	w.clock.SetTime(time.Date(2026, 1, 1, 13, 0, 0, 0, time.UTC))
	w.passes()
	w.online("berlin", false)
	w.after(time.Second)
	w.stands("it has just gone offline", "berlin",
		"False ClusterOffline: cluster berlin is offline since 2026-01-01T13:00:00Z; it is left at 2026-01-01T13:05:00Z if another one is eligible then")
	w.restart()
	w.after(4*time.Minute + 58*time.Second)
	w.stands("its time is not over", "berlin", "False ClusterOffline")
	w.after(time.Second)
	w.stands("its time is over", "madrid", "True ClusterChosen")
	w.is("it moves", "madrid", "madrid>=2 berlin", 4, "True Start")
	if left := w.app().Status.FailedOver; len(left) != 1 || left[0].Cluster != "berlin" {
		t.Errorf("left are %+v", left)
	}
}

func TestAClusterThatComesBackIsNotLeft(t *testing.T) {
	w := failingOver(t, "5m")
	w.online("berlin", false)
	w.after(time.Second)
	w.online("berlin", true)
	w.after(time.Second)
	w.stands("it is back", "berlin", "True ClusterChosen")
	w.after(10 * time.Minute)
	w.stands("its time would be over", "berlin", "True ClusterChosen")
}

func TestAnOfflineClusterThatIsNeverLeft(t *testing.T) {
	w := failingOver(t, berthv1alpha1.FailoverNever)
	w.online("berlin", false)
	w.after(24 * time.Hour)
	w.stands("it is offline", "berlin", "False ClusterOffline: cluster berlin is offline since ")
	if got := w.condition("Scheduled"); !strings.HasSuffix(got, "failover.after is Never, so it stays there") {
		t.Errorf("Scheduled is %s", got)
	}
}

func TestAnOfflineClusterIsNotLeftByWhatNeverMoves(t *testing.T) {
	after := berthv1alpha1.FailoverAfter("5m")
	for name, rule := range map[string]*berthv1alpha1.Failover{"without a failover": nil, "with one": {After: &after}} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, func(app *berthv1alpha1.Application) {
				app.Spec.Migration, app.Spec.Failover = berthv1alpha1.MigrationNever, rule
			})
			w.online("berlin", false)
			for _, d := range []time.Duration{time.Minute, 5 * time.Minute, time.Hour} {
				w.after(d)
				w.stands("it is offline", "berlin", "False ClusterOffline: cluster berlin is offline since ")
				if got := w.condition("Scheduled"); !strings.HasSuffix(got, "Z; migration is Never, so it stays there") {
					t.Errorf("Scheduled is %s", got)
				}
			}
			w.online("berlin", true)
			w.after(time.Minute)
			w.stands("it is back", "berlin", "True ClusterChosen")
		})
	}
}

func TestAnOfflineClusterIsNotLeftForNothing(t *testing.T) {
	w := failingOver(t, "5m")
	w.online("berlin", false)
	w.online("madrid", false)
	w.after(6 * time.Minute)
	w.stands("both are offline", "berlin", "False NoClusterMatches: cluster berlin is offline since 2026-01-01T12:")
	if got := w.condition("Scheduled"); !strings.HasSuffix(got, "; it stays there, since no cluster matches: 2 offline") {
		t.Errorf("Scheduled is %s", got)
	}
	w.online("madrid", true)
	w.after(61 * time.Second)
	w.stands("the other is back", "madrid", "True ClusterChosen")
}

func TestTheWayBackIsANormalMoveAfterATimeOfHealth(t *testing.T) {
	w := failingOver(t, "5m")
	w.measure("berlin", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.online("berlin", false)
	w.after(6 * time.Minute)
	w.gone("berlin", 2)
	w.run("madrid", 0, true)
	w.run("madrid", 1, true)
	w.after(3 * time.Second)
	w.after(3 * time.Second)
	w.is("it has moved", "madrid", "madrid", 2, "False Done")
	w.online("berlin", true)
	w.after(20 * time.Minute)
	w.stands("it is back for a short time", "madrid", "True ClusterChosen")
	ranking := w.app().Status.Ranking
	i := slices.IndexFunc(ranking, func(p berthv1alpha1.RankedPlace) bool { return p.Name == "berlin" })
	if got := strings.Join(ranking[i].Reasons, ", "); !strings.HasPrefix(got,
		"online for too short a time after a failover, it was left because it was offline, and comes into question again at 2026-01-01T12:3") {
		t.Errorf("berlin is out for %q", got)
	}
	w.online("berlin", false)
	w.after(time.Minute)
	w.online("berlin", true)
	w.after(20 * time.Minute)
	w.stands("it was offline again", "madrid", "True ClusterChosen")
	w.after(10 * time.Minute)
	w.after(61 * time.Second)
	w.is("it is healthy", "berlin", "berlin>=2 madrid", 4, "True Start: from cluster madrid to berlin")
	if left := w.app().Status.FailedOver; len(left) != 0 {
		t.Errorf("left are %+v", left)
	}
}

func TestAClusterThatIsBackIsBetterThanOneThatIsOffline(t *testing.T) {
	w := failingOver(t, "5m")
	w.online("berlin", false)
	w.after(6 * time.Minute)
	w.gone("berlin", 2)
	w.run("madrid", 0, true)
	w.run("madrid", 1, true)
	w.after(3 * time.Second)
	w.after(3 * time.Second)
	w.online("berlin", true)
	w.online("madrid", false)
	w.after(6 * time.Minute)
	w.stands("only the other is online", "berlin", "True ClusterChosen")
}

func TestWhomAnOfflineClusterConcerns(t *testing.T) {
	w := failingOver(t, "5m")
	concerned := func(name string) int {
		c := &berthv1alpha1.Cluster{}
		w.measure(name, func(found *berthv1alpha1.Cluster) { c = found })
		return len(w.controller.Waiting(t.Context(), c))
	}
	if concerned("berlin") != 0 || concerned("madrid") != 0 {
		t.Error("clusters that are online concern it")
	}
	w.online("berlin", false)
	w.online("madrid", false)
	if concerned("berlin") != 1 || concerned("madrid") != 0 {
		t.Error("its own cluster does not concern it, or another one does")
	}
	w.after(time.Second)
	if concerned("berlin") != 0 {
		t.Error("what it knows concerns it")
	}
	w.online("berlin", true)
	if concerned("berlin") != 1 {
		t.Error("that it is back does not concern it")
	}
}
