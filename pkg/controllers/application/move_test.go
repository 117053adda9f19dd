// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
)

// moving returns a world in which the Application has begun to move from berlin to madrid, and the
// policy is known.
func moving(t *testing.T, edit func(*berthv1alpha1.Application)) *world {
	t.Helper()
	w := settled(t, edit)
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.after(61 * time.Second)
	w.after(3 * time.Second)
	return w
}

// movingUnsized is moving with a manifest that leaves the number of replicas to others.
func movingUnsized(t *testing.T) *world {
	t.Helper()
	w := settled(t, func(app *berthv1alpha1.Application) {
		app.Spec.Manifests[0].Raw = []byte(strings.Replace(string(app.Spec.Manifests[0].Raw), `"replicas":2,`, "", 1))
	})
	scaled := w.deployment()
	scaled.Spec.Replicas = new(int32(2))
	w.must(w.client.Update(t.Context(), scaled))
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.after(61 * time.Second)
	w.after(3 * time.Second)
	return w
}

// queue puts a pod of the Deployment into the queue of the scheduler, which finds no node for it.
func (w *world) queue() {
	w.t.Helper()
	w.podCount++
	name := fmt.Sprintf("front-%d", w.podCount)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID(name)}}
	pod.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "web-deployment-front"}
	pod.Spec.SchedulerName = "berth-scheduler"
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/2 nodes are available", LastTransitionTime: metav1.NewTime(w.clock.Now()),
	}}
	w.must(w.client.Create(w.t.Context(), pod))
}

// restamp gives the pods of a cluster seats from a number on.
func (w *world) restamp(cluster string, first int) {
	w.t.Helper()
	var pods corev1.PodList
	w.must(w.client.List(w.t.Context(), &pods))
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Annotations["berth.dev/cluster"] == cluster {
			pod.Annotations[corev1.PodDeletionCost] = stamp.Stamp{Seat: int32(first)}.DeletionCost()
			pod.Annotations["berth.dev/seat"] = strconv.Itoa(first)
			first++
			w.must(w.client.Update(w.t.Context(), pod))
		}
	}
}

// gone deletes the pods of a cluster, those without a node for none, up to a number.
func (w *world) gone(cluster string, most int) {
	w.t.Helper()
	var pods corev1.PodList
	w.must(w.client.List(w.t.Context(), &pods))
	for i := range pods.Items {
		if pods.Items[i].Annotations["berth.dev/cluster"] == cluster && most > 0 {
			most--
			w.must(w.client.Delete(w.t.Context(), &pods.Items[i]))
		}
	}
}

// is checks where the Application is to be, the policy and the replicas of its Deployment, and the
// beginning of the condition Moving.
func (w *world) is(what, cluster, policy string, replicas int32, condition string) {
	w.t.Helper()
	if got := w.app().Status.ScheduledTo; got != cluster {
		w.t.Errorf("%s: scheduled to %s, want %s", what, got, cluster)
	}
	if got, n := w.policy(), *w.deployment().Spec.Replicas; got != policy || n != replicas {
		w.t.Errorf("%s: policy %q and %d replicas, want %q and %d", what, got, n, policy, replicas)
	}
	if got := w.condition("Moving"); !strings.HasPrefix(got, condition) {
		w.t.Errorf("%s: Moving is %s, want %s", what, got, condition)
	}
}

func TestAMoveIsToldFromBeginningToEnd(t *testing.T) {
	w := settled(t, nil)
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.clock.SetTime(w.clock.Now().Add(61 * time.Second))
	w.pass()
	move := w.app().Status.Move
	if move == nil || move.From != "berlin" || move.To != "madrid" || move.Step != "Prepare" ||
		move.Deadline.Sub(move.StartTime.Time) != 10*time.Minute {
		t.Fatalf("the move is %+v", move)
	}
	w.after(3 * time.Second)
	w.is("the policy is known", "madrid", "madrid>=2 berlin", 4, "True Start: from cluster berlin to madrid: deployment front moves to")
	w.run("madrid", 0, true)
	w.run("madrid", 1, false)
	w.after(3 * time.Second)
	w.is("one is ready", "madrid", "madrid>=2 berlin", 4, "True Available")
	w.gone("madrid", 2)
	w.run("madrid", 0, true)
	w.run("madrid", 1, true)
	w.restamp("berlin", 2)
	w.after(3 * time.Second)
	w.is("all are ready", "madrid", "madrid>=2 berlin", 2, "True Shrink")
	w.gone("berlin", 2)
	w.after(3 * time.Second)
	w.is("the old ones are gone", "madrid", "madrid", 2, "False Done: moved from cluster berlin to madrid")
	if move := w.app().Status.Move; move != nil {
		t.Errorf("the move is %+v, want none", move)
	}
}

func TestAMoveWhosePodsCannotBeScheduledIsGivenUp(t *testing.T) {
	w := moving(t, nil)
	w.must(w.client.Create(t.Context(), node("rome", "8")))
	w.must(w.client.Create(t.Context(), cluster("rome", 0.9)))
	w.queue()
	w.queue()
	w.after(20 * time.Second)
	w.is("they have waited for a short time", "madrid", "madrid>=2 berlin", 4, "True Start")
	w.restart()
	w.clock.SetTime(w.clock.Now().Add(20 * time.Second))
	w.pass()
	w.is("they wait", "berlin", "berlin>=2 madrid", 4,
		"False Unschedulable: the move from cluster berlin to madrid was given up: deployment front moves to cluster madrid: "+
			"0 of 2 pods are available there; 2 without a node in cluster madrid: 0/2 nodes are available")
	out := w.app().Status.LeftOut
	if len(out) != 1 || out[0].Cluster != "madrid" || out[0].Failures != 1 || out[0].Until.Sub(w.clock.Now()) > 5*time.Minute {
		t.Errorf("left out are %+v", out)
	}
	w.gone("", 2)
	w.observePolicies()
	w.after(3 * time.Second)
	w.after(3 * time.Second)
	w.is("the next best is tried", "rome", "rome>=2 berlin", 4, "True Start: from cluster berlin to rome")
	reasons := ""
	for _, place := range w.app().Status.Ranking {
		if place.Name == "madrid" {
			reasons = strings.Join(place.Reasons, ", ")
		}
	}
	if !strings.HasPrefix(reasons, "left out after a move that failed, until ") {
		t.Errorf("madrid is out for %q", reasons)
	}
}

func TestAMoveThatTakesTooLongIsGivenUp(t *testing.T) {
	w := moving(t, func(app *berthv1alpha1.Application) {
		app.Spec.Move = &berthv1alpha1.ApplicationMove{Deadline: &metav1.Duration{Duration: time.Minute}}
	})
	w.run("madrid", 0, true)
	w.run("madrid", 1, false)
	w.restamp("berlin", 2)
	w.after(50 * time.Second)
	w.is("it has time", "madrid", "madrid>=2 berlin", 4, "True Available")
	w.after(10 * time.Second)
	w.is("it has none left", "berlin", "berlin>=2 madrid", 4, "False DeadlineExceeded")
	w.restamp("berlin", 0)
	w.restamp("madrid", 2)
	w.after(3 * time.Second)
	w.is("the new ones go", "berlin", "berlin>=2 madrid", 2, "False DeadlineExceeded")
	w.gone("madrid", 2)
	w.after(3 * time.Second)
	w.is("they are gone", "berlin", "berlin", 2, "False DeadlineExceeded")
	w.after(4 * time.Minute)
	w.is("madrid is left out", "berlin", "berlin", 2, "False DeadlineExceeded")
	w.after(2 * time.Minute)
	w.after(3 * time.Second)
	w.is("madrid is tried again", "madrid", "madrid>=2 berlin", 4, "True Start")
}

func TestTheNewHalfBecomesWholeWhenTheOldClusterDies(t *testing.T) {
	w := moving(t, nil)
	w.run("madrid", 0, true)
	w.measure("berlin", func(c *berthv1alpha1.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse })
	w.queue()
	w.after(40 * time.Second)
	w.is("nothing else suits", "madrid", "madrid>=2 berlin", 4, "False Unschedulable")
	w.gone("berlin", 2)
	w.gone("", 1)
	w.run("madrid", 1, true)
	w.after(3 * time.Second)
	w.after(3 * time.Second)
	w.is("it is whole", "madrid", "madrid", 2, "False Unschedulable")
}

func TestAMoveFromAClusterThatIsDrainedGoesOnToTheNextBest(t *testing.T) {
	tests := map[string]struct {
		there                int
		wantFrom, wantPolicy string
		wantLive             int32
	}{
		"no pod is there yet": {wantFrom: "berlin", wantPolicy: "rome>=2 berlin", wantLive: 4},
		"a pod is there":      {there: 1, wantFrom: "madrid", wantPolicy: "rome>=2 madrid berlin", wantLive: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := movingUnsized(t)
			w.must(w.client.Create(t.Context(), node("rome", "8")))
			w.must(w.client.Create(t.Context(), cluster("rome", 0.9)))
			w.change("berlin", func(c *berthv1alpha1.Cluster) { c.Spec.Drain, c.Spec.Unschedulable = true, true })
			for range tc.there {
				w.run("madrid", 0, false)
			}
			w.queue()
			w.after(40 * time.Second)
			w.is("it is given up", "rome", tc.wantPolicy, tc.wantLive, "True Start: from cluster "+tc.wantFrom+" to rome")
			if move := w.app().Status.Move; move == nil || len(move.Replicas) != 1 || move.Replicas[0].Replicas != 2 {
				t.Errorf("the move is %+v, want one that remembers 2 replicas", move)
			}
		})
	}
}

// The review that a move was given up for is made in the same pass if there is no way back, and not
// once more as soon as the next cluster has all.
func TestTheNextBestClusterIsKeptUntilTheNextReview(t *testing.T) {
	tests := map[string]struct {
		gone int
		want string
	}{
		"pods move there":     {want: "False Done: moved from cluster berlin to rome"},
		"there is none to go": {gone: 2, want: "False Unschedulable"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := movingUnsized(t)
			for name, load := range map[string]float64{"rome": 0.7, "paris": 0.1} {
				w.must(w.client.Create(t.Context(), node(name, "8")))
				w.must(w.client.Create(t.Context(), cluster(name, load)))
			}
			w.change("berlin", func(c *berthv1alpha1.Cluster) { c.Spec.Drain, c.Spec.Unschedulable = true, true })
			w.queue()
			w.gone("berlin", tc.gone)
			w.after(40 * time.Second)
			w.measure("paris", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
			w.gone("", 1)
			w.run("rome", 0, true)
			w.run("rome", 1, true)
			w.restamp("berlin", 2)
			w.after(3 * time.Second)
			w.gone("berlin", 2)
			w.after(3 * time.Second)
			w.is("it is there", "rome", "rome", 2, tc.want)
			w.after(3 * time.Second)
			w.is("no review is due", "rome", "rome", 2, tc.want)
			w.after(time.Minute)
			w.is("a review was due", "paris", "paris>=2 rome", 4, "True Start: from cluster rome to paris")
		})
	}
}

func TestAvailableIsMoreThanReady(t *testing.T) {
	w := moving(t, func(app *berthv1alpha1.Application) {
		app.Spec.Manifests = manifests(strings.Replace(deployment, "replicas: 2", "minReadySeconds: 4, replicas: 2", 1))
	})
	for seat := range int32(2) {
		pod := w.run("madrid", seat, true)
		pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(w.clock.Now())
		w.must(w.client.Status().Update(t.Context(), pod))
	}
	w.restamp("madrid", 2)
	w.after(3 * time.Second)
	w.is("they are ready", "madrid", "madrid>=2 berlin:2", 4, "True Available")
	w.after(time.Second)
	w.is("they are available", "madrid", "madrid>=2 berlin", 4, "True Shrink")
	w.after(time.Second)
	w.is("the old ones have the low seats still", "madrid", "madrid>=2 berlin", 4, "True Shrink")
	w.restamp("madrid", 0)
	w.restamp("berlin", 2)
	w.after(time.Second)
	w.is("the old ones have the high seats", "madrid", "madrid>=2 berlin", 2, "True Shrink")
}

func TestASmallSurgeMovesInSteps(t *testing.T) {
	w := moving(t, func(app *berthv1alpha1.Application) {
		surge := intstr.FromString("50%")
		app.Spec.Move = &berthv1alpha1.ApplicationMove{MaxSurge: &surge}
	})
	w.is("half of them start", "madrid", "madrid>=1 berlin", 3, "True Start")
	w.run("madrid", 0, true)
	w.restamp("berlin", 1)
	w.after(3 * time.Second)
	w.is("half of the old ones go", "madrid", "madrid>=1 berlin", 2, "True Shrink")
	w.gone("berlin", 1)
	w.after(3 * time.Second)
	w.after(3 * time.Second)
	w.is("the others start", "madrid", "madrid>=2 berlin", 3, "True Start")
	w.run("madrid", 1, true)
	w.restamp("berlin", 2)
	w.after(3 * time.Second)
	w.is("the last old one goes", "madrid", "madrid>=2 berlin", 2, "True Shrink")
	w.gone("berlin", 1)
	w.after(3 * time.Second)
	w.is("it has moved", "madrid", "madrid", 2, "False Done")
}

func TestStopFirst(t *testing.T) {
	for name, text := range map[string]string{
		"replicas in the manifest": deployment, "replicas of somebody else": strings.Replace(deployment, "replicas: 2, ", "", 1),
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, func(app *berthv1alpha1.Application) {
				app.Spec.Migration, app.Spec.Manifests = berthv1alpha1.MigrationStopFirst, manifests(text)
			})
			d, two := w.deployment(), int32(2)
			d.Spec.Replicas = &two
			w.must(w.client.Update(t.Context(), d))
			w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
			w.after(61 * time.Second)
			w.is("the old ones are told to go", "madrid", "berlin", 0, "True Shrink")
			w.restart()
			w.after(3 * time.Second)
			w.is("they have not gone", "madrid", "berlin", 0, "True Shrink")
			w.gone("berlin", 2)
			w.after(3 * time.Second)
			w.after(3 * time.Second)
			w.is("they have gone", "madrid", "madrid", 2, "True Start")
			w.run("madrid", 0, true)
			w.run("madrid", 1, true)
			w.after(3 * time.Second)
			w.is("it has moved", "madrid", "madrid", 2, "False Done")
		})
	}
}

func TestWhatIsSuspendedRests(t *testing.T) {
	suspend := func(w *world, is bool) {
		w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Suspend = is })
		w.after(2 * time.Minute)
	}
	w := newWorld(t, cluster("berlin", 0.5), newApplication(deployment))
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Suspend = true })
	w.after(2 * time.Minute)
	if got := w.condition("Scheduled"); !strings.HasPrefix(got, "False Suspended") {
		t.Errorf("Scheduled is %s", got)
	}
	w = settled(t, nil)
	suspend(w, true)
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.after(2 * time.Minute)
	w.is("it is not moved", "berlin", "berlin", 2, "none")
	if got := w.condition("Scheduled"); got != "True Suspended: cluster berlin stays chosen while it is suspended" {
		t.Errorf("Scheduled is %s", got)
	}
	suspend(w, false)
	w.is("it is moved", "madrid", "madrid>=2 berlin", 4, "True Start")
	w.run("madrid", 0, true)
	w.run("madrid", 1, true)
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Suspend = true })
	w.restamp("berlin", 2)
	w.after(2 * time.Minute)
	w.is("the move rests", "madrid", "madrid>=2 berlin", 4, "True Suspended")
	if got := w.condition("Ready"); !strings.Contains(got, "2 of 2 pods are available there") {
		t.Errorf("while the move rests Ready is %s", got)
	}
	if app := w.app(); app.Status.ObservedGeneration != app.Generation {
		t.Errorf("while the move rests generation %d is observed, want %d", app.Status.ObservedGeneration, app.Generation)
	}
	suspend(w, false)
	w.is("the move goes on", "madrid", "madrid>=2 berlin", 2, "True Shrink")
}

func TestMovesBeginInWindows(t *testing.T) {
	window := func(schedule, zone string) func(*berthv1alpha1.Application) {
		return func(app *berthv1alpha1.Application) {
			app.Spec.Move = &berthv1alpha1.ApplicationMove{Windows: []berthv1alpha1.MoveWindow{{
				Schedule: schedule, TimeZone: zone, Duration: metav1.Duration{Duration: time.Hour},
			}}}
		}
	}
	tests := map[string]struct {
		schedule, zone string
		offline        bool
		want, moving   string
	}{
		"open":                      {"0 12 * * *", "", false, "madrid", "True"},
		"open elsewhere":            {"0 13 * * *", "Europe/Berlin", false, "madrid", "True"},
		"closed":                    {"0 13 * * *", "", false, "berlin", "False WindowClosed: cluster madrid is better; the next window opens at 2026-01-01T13:00:00Z"},
		"closed, and it cannot run": {"0 13 * * *", "", true, "madrid", "True"},
		"never opens":               {"0 0 30 2 *", "", false, "berlin", `False InvalidWindow: move.windows[0]: schedule "0 0 30 2 *": it never opens; until that is mended no move`},
		"only a distance":           {"@every 2h", "", false, "berlin", `False InvalidWindow: move.windows[0]: schedule "@every 2h": it names no time`},
		"no schedule":               {"often", "", false, "berlin", `False InvalidWindow: move.windows[0]: schedule "often": `},
		"no time zone":              {"0 12 * * *", "Moon/Base", false, "berlin", `False InvalidWindow: move.windows[0]: time zone "Moon/Base" is not known`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := settled(t, window(tc.schedule, tc.zone))
			w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
			if tc.offline {
				w.measure("berlin", func(c *berthv1alpha1.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse })
			}
			w.after(2 * time.Minute)
			if got := w.app().Status.ScheduledTo; got != tc.want {
				t.Errorf("scheduled to %s, want %s", got, tc.want)
			}
			if got := w.condition("Moving"); !strings.HasPrefix(got, tc.moving) {
				t.Errorf("Moving is %s, want %s", got, tc.moving)
			}
			if strings.Contains(tc.moving, "WindowClosed") {
				if got := w.condition("Scheduled"); !strings.Contains(got, "; cluster madrid is better by more than the stickiness, and the move") {
					t.Errorf("Scheduled is %s, want it to name madrid", got)
				}
				w.after(time.Hour)
				if got := w.app().Status.ScheduledTo; got != "madrid" {
					t.Errorf("when it opens, scheduled to %s, want madrid", got)
				}
			}
		})
	}
}

// A scheduler hears late that an Application goes elsewhere, and binds a pod where it was to be
// before. That pod must not be evicted, but stays until another one runs in its place.
func TestPodsThatASchedulerBindsLateAreNotEvicted(t *testing.T) {
	w := newWorld(t, cluster("berlin", 0.5), cluster("madrid", 0.4), newApplication(deployment))
	w.passes()
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
		spec.Constraints.ClusterLabels = []string{"location is madrid"}
	})
	stays := func(what, wantPolicy string, want berthv1alpha1.RebalanceMode) {
		t.Helper()
		w.restart()
		w.passes()
		if policy, mode := w.policy(), w.rebalance(); policy != wantPolicy || mode != want {
			t.Fatalf("%s: the policy is %s, %s, want %s, %s", what, policy, mode, wantPolicy, want)
		}
	}
	stays("no pod is bound", "madrid", berthv1alpha1.RebalanceNever)
	w.run("madrid", 0, true)
	stays("one of two is bound", "madrid", berthv1alpha1.RebalanceNever)
	late := w.run("berlin", 0, true)
	stays("the other is bound where it was to be before", "madrid>=2 berlin", berthv1alpha1.RebalanceNever)
	w.run("madrid", 1, true)
	w.must(w.client.Delete(t.Context(), late))
	stays("another one runs in its place", "madrid", berthv1alpha1.RebalanceEvict)
}

// TestWhatComesToRestWhileSuspendedIsOthersToScale suspends an Application on its way back from a
// move, as it is when its pods come back to where they were.
func TestWhatComesToRestWhileSuspendedIsOthersToScale(t *testing.T) {
	w := settled(t, nil)
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Suspend = true })
	app := w.app()
	app.Status.ReplicasBefore = []berthv1alpha1.MovedReplicas{{Policy: "web-deployment-front", Replicas: 2}}
	w.must(w.client.Status().Update(t.Context(), app))
	w.passes()
	if before := w.app().Status.ReplicasBefore; len(before) > 0 {
		t.Errorf("it remembers %v although it has come to rest", before)
	}
}
