// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/application"
)

// crossing is an Application of three replicas on its way from berlin to madrid. If that does not
// suit any more, rome is the next best.
type crossing struct {
	*fleet
	app *tenant
	// ended is how the move ended, endedAt when, and deadline what its deadline was.
	ended             string
	endedAt, deadline time.Time
	// others is how many replicas somebody else wants who scales it.
	others int
	// disturbs is true if somebody else takes replicas away, and stops if it must not run twice.
	disturbs, stops bool
}

const (
	inManifest   = `"replicas":3`
	fromManifest = 3
)

// ways are the ways in which an Application may move, with the column of outcomes that holds for
// them, and the steps in which they differ from the others, none for all.
var ways = map[string]struct {
	column int
	edit   func(*berthv1alpha1.ApplicationSpec)
	steps  []berthv1alpha1.MoveStep
}{
	"StartFirst":                 {0, func(*berthv1alpha1.ApplicationSpec) {}, nil},
	"in steps":                   {1, inSteps, nil},
	"scaled by others, in steps": {1, func(spec *berthv1alpha1.ApplicationSpec) { inSteps(spec); scaledByOthers(spec) }, nil},
	"scaled by others, with minReadySeconds": {0, func(spec *berthv1alpha1.ApplicationSpec) {
		scaledByOthers(spec)
		warms(spec)
	}, []berthv1alpha1.MoveStep{berthv1alpha1.MoveAvailable}},
	"scaled by others, StopFirst": {2, func(spec *berthv1alpha1.ApplicationSpec) { stopsFirst(spec); scaledByOthers(spec) }, nil},
}

func inSteps(spec *berthv1alpha1.ApplicationSpec) {
	one := intstr.FromInt32(1)
	spec.Move.MaxSurge = &one
}

func stopsFirst(spec *berthv1alpha1.ApplicationSpec) {
	spec.Migration = berthv1alpha1.MigrationStopFirst
}

func scaledByOthers(spec *berthv1alpha1.ApplicationSpec) { inText(spec, inManifest+",", "") }

// warms lets replicas be available ten seconds after they have become ready.
func warms(spec *berthv1alpha1.ApplicationSpec) {
	inText(spec, `"spec":{`, `"spec":{"minReadySeconds":10,`)
}

func inText(spec *berthv1alpha1.ApplicationSpec, old, with string) {
	spec.Manifests[0].Raw = []byte(strings.Replace(string(spec.Manifests[0].Raw), old, with, 1))
}

// happening is what may happen to an Application while it moves.
type happening struct {
	do func(*crossing)
	// ends are how the move ends then: if all replicas move at once, in steps of one, and if it stops
	// first; each for Prepare, Start, Available and Shrink if that is not the same for all.
	ends [3]string
}

const (
	done          = "Done, madrid"
	unschedulable = "Unschedulable, berlin"
	exceeded      = "DeadlineExceeded, berlin"
	// back is the end of a move after which another one begins at once.
	back = "Prepare, berlin"
)

// always is how the move ends if nothing keeps it from madrid.
var always = [3]string{done, done, done}

// happenings are all that may happen.
var happenings = map[string]happening{
	"nothing":                            {func(*crossing) {}, always},
	"deletion":                           {func(c *crossing) { c.app.delete() }, [3]string{}},
	"scaling up by hand":                 {func(c *crossing) { c.scale(5) }, always},
	"scaling down by hand":               {func(c *crossing) { c.disturbs = true; c.scale(1) }, always},
	"an autoscaler that wants fewer":     {func(c *crossing) { c.autoscale(2) }, [3]string{exceeded, exceeded, exceeded}},
	"an autoscaler that wants more":      {func(c *crossing) { c.autoscale(7) }, always},
	"more in the manifest":               {func(c *crossing) { c.replace(inManifest, `"replicas":5`) }, always},
	"fewer in the manifest":              {func(c *crossing) { c.replace(inManifest, `"replicas":1`) }, always},
	"no number in the manifest any more": {func(c *crossing) { c.replace(inManifest+",", "") }, always},
	"suspension":                         {func(c *crossing) { c.suspend(2 * time.Minute) }, always},
	"suspension beyond the deadline": {func(c *crossing) { c.suspend(30 * time.Minute) }, [3]string{
		exceeded + " | " + done + " | " + done + " | " + done, exceeded, exceeded + " | " + done + " | " + done + " | " + exceeded,
	}},
	"a change of the way, to StopFirst": {func(c *crossing) { c.app.respecify(stopsFirst) }, always},
	"a change of the way, to Never": {func(c *crossing) {
		c.app.respecify(func(spec *berthv1alpha1.ApplicationSpec) { spec.Migration = berthv1alpha1.MigrationNever })
	}, always},
	"a change of the way, to StartFirst": {func(c *crossing) {
		c.app.respecify(func(spec *berthv1alpha1.ApplicationSpec) { spec.Migration = berthv1alpha1.MigrationStartFirst })
	}, always},
	"a smaller surge": {func(c *crossing) { c.app.respecify(inSteps) }, always},
	"a better cluster": {func(c *crossing) {
		c.change("rome", func(in *berthv1alpha1.Cluster) { sample(in, 2) })
	}, always},
	"the new cluster does not suit any more": {func(c *crossing) {
		c.app.respecify(func(spec *berthv1alpha1.ApplicationSpec) {
			spec.Constraints.ClusterLabels = []string{"location is not madrid"}
		})
	}, [3]string{"Returned, berlin", "Returned, berlin", "Returned, berlin"}},
	"the new cluster is drained": {func(c *crossing) {
		c.change("madrid", func(in *berthv1alpha1.Cluster) { in.Spec.Drain, in.Spec.Unschedulable = true, true })
	}, [3]string{
		unschedulable + " | " + unschedulable + " | " + back + " | " + back, unschedulable,
		unschedulable + " | " + unschedulable + " | " + back + " | " + unschedulable,
	}},
	"its policy is deleted":                          {func(c *crossing) { c.losePolicy() }, always},
	"its policy is deleted, and everybody sees that": {func(c *crossing) { c.losePolicy(); c.unmark() }, always},
	"restart":              {func(c *crossing) { c.restart() }, always},
	"the old cluster dies": {func(c *crossing) { c.die(c.place("berlin"), 365*day) }, always},
	"the new cluster dies": {func(c *crossing) { c.die(c.place("madrid"), 365*day) }, [3]string{
		unschedulable + " | " + unschedulable + " | Returned, berlin | " + done,
		unschedulable + " | " + unschedulable + " | Returned, berlin | " + unschedulable,
		unschedulable + " | " + unschedulable + " | Returned, berlin | " + unschedulable,
	}},
	"pods cannot be scheduled": {func(c *crossing) { c.place("madrid").refuses = true }, [3]string{
		unschedulable + " | " + unschedulable + " | " + done + " | " + done, unschedulable,
		unschedulable + " | " + unschedulable + " | " + done + " | " + unschedulable,
	}},
	"pods are refused": {func(c *crossing) { c.turn(&c.app.quota, 30*time.Minute, 30*time.Minute) }, [3]string{
		exceeded + " | " + done + " | " + done + " | " + done, exceeded, exceeded + " | " + done + " | " + done + " | " + exceeded,
	}},
	"pods run and do not get available": {func(c *crossing) { c.place("madrid").crashes = true }, [3]string{
		exceeded + " | " + exceeded + " | " + exceeded + " | " + done, exceeded, exceeded,
	}},
	"the deadline passes": {func(c *crossing) {
		app := c.app.stored().DeepCopy()
		app.Status.Move.Deadline = metav1.NewTime(c.clock.Now())
		c.put(app)
		c.app.poke()
	}, [3]string{exceeded + " | " + exceeded + " | " + exceeded + " | " + done, exceeded, exceeded}},
}

// newCrossing returns the Application when it runs in berlin.
func newCrossing(t *testing.T, room application.Adviser, edit func(*berthv1alpha1.ApplicationSpec)) *crossing {
	t.Helper()
	c := &crossing{fleet: newFleet(t, 1), others: fromManifest}
	for _, name := range []string{"berlin", "madrid", "rome"} {
		c.addCluster(cluster(name, map[string]float64{"berlin": 0.5, "madrid": 0.1, "rome": 0.3}[name]))
	}
	c.room = room
	c.start()
	app := newApplication(strings.Replace(deployment, "replicas: 2", "replicas: 3", 1))
	app.Spec.Move = &berthv1alpha1.ApplicationMove{}
	edit(&app.Spec)
	c.stops = app.Spec.Migration == berthv1alpha1.MigrationStopFirst
	c.app = c.addApplication(app, "web")
	c.app.starts = 20 * time.Second
	c.until(time.Minute, func() bool { return c.app.deployment() != nil })
	c.scale(fromManifest)
	c.run(2 * time.Minute)
	if got := c.app.readyIn("berlin"); got != fromManifest {
		t.Fatalf("%d replicas are ready in berlin, want %d", got, fromManifest)
	}
	c.passed, c.shrunk = c.see, c.judge
	return c
}

// moveTo lets it begin to move to madrid, and go on until it is at a step.
func (c *crossing) moveTo(step berthv1alpha1.MoveStep) {
	c.tb.Helper()
	c.change("madrid", func(in *berthv1alpha1.Cluster) { sample(in, 1) })
	if !c.until(5*time.Minute, func() bool {
		move := c.app.stored().Status.Move
		return move != nil && move.Step == step
	}) {
		c.tb.Fatalf("the move does not come to %s", step)
	}
	c.deadline = c.app.stored().Status.Move.Deadline.Time
}

// see notes how the move ends, and checks that what must not run twice does not.
func (c *crossing) see(_ *tenant, before, after *berthv1alpha1.Application) {
	sites := map[string]bool{}
	for _, pod := range c.app.allPods() {
		if pod.Spec.NodeName != "" {
			sites[pod.Spec.NodeName] = true
		}
	}
	if c.stops && after.Spec.Migration == berthv1alpha1.MigrationStopFirst && len(sites) > 1 {
		c.tb.Errorf("%v: it runs on %v at once", c.clock.Now(), slices.Sorted(maps.Keys(sites)))
	}
	move, is := before.Status.Move, &after.Status
	if move == nil || c.ended != "" || is.Move != nil && is.Move.To == move.To {
		return
	}
	told := apimeta.FindStatusCondition(is.Conditions, berthv1alpha1.ApplicationMoving)
	c.ended, c.endedAt = told.Reason+", "+is.ScheduledTo, c.clock.Now()
}

// judge checks that nobody goes who is needed.
func (c *crossing) judge(a *tenant, pods, victims []*corev1.Pod) {
	stops := a.stored().Spec.Migration == berthv1alpha1.MigrationStopFirst
	before, after, wanted := a.available(pods), a.available(pods[len(victims):]), c.wanted()
	if after < min(before, wanted) && !stops && !c.disturbs {
		c.tb.Errorf("%d of %d available replicas are left, want %d", after, before, min(before, wanted))
	}
}

// wanted returns how many replicas there are to be in the end.
func (c *crossing) wanted() int {
	if strings.Contains(string(c.app.stored().Spec.Manifests[0].Raw), `"replicas"`) {
		return c.app.wanted()
	}
	return c.others
}

// scale changes the number of replicas as somebody else does.
func (c *crossing) scale(n int32) {
	d := c.app.deployment()
	if d == nil || *d.Spec.Replicas == n {
		return
	}
	after := d.DeepCopy()
	after.Spec.Replicas = &n
	c.put(after)
	c.app.fill()
	c.app.poke()
}

// autoscale writes another number of replicas every 15 seconds.
func (c *crossing) autoscale(n int32) {
	c.others, c.disturbs = int(n), true
	c.scale(n)
	c.after(15*time.Second, func() { c.autoscale(n) })
}

// replace changes the text of the manifest.
func (c *crossing) replace(old, with string) {
	c.app.respecify(func(spec *berthv1alpha1.ApplicationSpec) { inText(spec, old, with) })
}

// losePolicy deletes the policy, as somebody else does.
func (c *crossing) losePolicy() {
	if policy := c.app.policy(); policy != nil {
		c.remove(policy)
	}
	c.app.poke()
}

// unmark is what the policy controller does with the pods of a policy that has gone.
func (c *crossing) unmark() {
	for _, pod := range c.app.allPods() {
		after := pod.DeepCopy()
		for _, key := range []string{
			berthv1alpha1.PlacedPolicyAnnotation, berthv1alpha1.PlacedClusterAnnotation, berthv1alpha1.SeatAnnotation, corev1.PodDeletionCost,
		} {
			delete(after.Annotations, key)
		}
		c.put(after)
	}
}

// suspend lets the Application rest for a while, in which nothing is to be written but its status.
func (c *crossing) suspend(d time.Duration) {
	c.app.respecify(func(spec *berthv1alpha1.ApplicationSpec) { spec.Suspend = true })
	var changes int
	c.after(time.Second, func() { changes = c.changes })
	c.after(d, func() {
		if c.changes > changes {
			c.tb.Errorf("%d changes while it is suspended", c.changes-changes)
		}
		c.app.respecify(func(spec *berthv1alpha1.ApplicationSpec) { spec.Suspend = false })
	})
}

// arrives checks how the move has ended, and that the Application runs.
func (c *crossing) arrives(want string) {
	c.tb.Helper()
	if c.ended != want {
		c.tb.Errorf("the move ends with %q, want %q", c.ended, want)
	}
	app := c.app.stored()
	if app == nil {
		if left := len(c.app.pods()); left > 0 || c.app.deployment() != nil || c.app.policy() != nil {
			c.tb.Errorf("of an Application that was deleted %d pods are left, and %v, %v", left, c.app.deployment(), c.app.policy())
		}
		return
	}
	if late := c.endedAt.Sub(c.deadline); late > time.Minute && c.app.resumed.IsZero() {
		c.tb.Errorf("the move ends %v after its deadline", late)
	}
	in := app.Status.ScheduledTo
	if c.app.leaving() && app.Spec.Migration == berthv1alpha1.MigrationStopFirst {
		return // What must not run twice waits until the dead cluster is back.
	}
	if c.others != fromManifest {
		return // An autoscaler that never rests keeps pods that start slowly from ever getting ready.
	}
	if !c.until(time.Hour, c.runs) {
		wanted, there := c.wanted(), c.app.readyIn(in)
		c.tb.Errorf("in the end %d of %d replicas are ready in %s, %d in all, moving: %t, before: %v", there, wanted, in,
			len(c.app.pods()), app.Status.Move != nil, app.Status.ReplicasBefore)
	}
}

// runs reports whether it runs as a whole where it is to be, and nothing moves.
func (c *crossing) runs() bool {
	app, wanted := c.app.stored(), c.wanted()
	return c.app.readyIn(app.Status.ScheduledTo) == wanted && len(c.app.pods()) == wanted && app.Status.Move == nil &&
		!c.app.between() && len(app.Status.ReplicasBefore) == 0
}

// A move that was given up is followed by the next best one as soon as it has come to rest, also if
// the controller was restarted on the way back.
func TestTheNextBestClusterIsTriedAfterARestart(t *testing.T) {
	c := newCrossing(t, nil, func(spec *berthv1alpha1.ApplicationSpec) {
		spec.RescheduleAfter = &metav1.Duration{Duration: 6 * time.Hour}
		spec.Move.Deadline = &metav1.Duration{Duration: time.Minute}
	})
	c.place("madrid").crashes = true
	c.change("rome", func(in *berthv1alpha1.Cluster) { sample(in, 0.9) })
	c.change("madrid", func(in *berthv1alpha1.Cluster) { sample(in, 1) })
	if !c.until(7*time.Hour, func() bool { return c.ended != "" }) || c.ended != exceeded {
		t.Fatalf("the move ends with %q, want %q", c.ended, exceeded)
	}
	c.restart()
	if !c.until(2*time.Minute, func() bool { return c.app.stored().Status.ScheduledTo == "rome" }) {
		t.Errorf("it is in %s two minutes after the move was given up, want rome", c.app.stored().Status.ScheduledTo)
	}
}

// Who keeps pods from getting ready on the way back is told while that lasts.
func TestTheWayBackTellsThatSomebodyLowersTheReplicas(t *testing.T) {
	c := newCrossing(t, nil, ways["scaled by others, in steps"].edit)
	c.moveTo(berthv1alpha1.MoveShrink)
	c.place("madrid").crashes = true
	if !c.until(time.Hour, func() bool { return c.ended != "" }) || c.ended != exceeded {
		t.Fatalf("the move ends with %q, want %q", c.ended, exceeded)
	}
	ready := func() string {
		return apimeta.FindStatusCondition(c.app.stored().Status.Conditions, berthv1alpha1.ApplicationReady).Message
	}
	const told = "lowers its replicas again and again"
	if strings.Contains(ready(), told) {
		t.Errorf("before anybody does, it says %q", ready())
	}
	c.autoscale(2)
	if !c.until(5*time.Minute, func() bool { return strings.Contains(ready(), told) }) {
		t.Errorf("it says %q, want that somebody %s", ready(), told)
	}
}

// Who keeps new pods from getting ready is told while the Application moves, and when the move was
// given up.
func TestAMoveTellsThatSomebodyLowersTheReplicas(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*berthv1alpha1.ApplicationSpec)
		do   func(*crossing)
		want string
	}{
		"an autoscaler that wants fewer": {scaledByOthers, func(c *crossing) { c.autoscale(2) }, "lowers its replicas again and again"},
		"an autoscaler that wants more":  {scaledByOthers, func(c *crossing) { c.autoscale(7) }, ""},
		"one change by hand":             {scaledByOthers, func(c *crossing) { c.disturbs = true; c.scale(1) }, ""},
		"pods that crash":                {scaledByOthers, func(c *crossing) { c.place("madrid").crashes = true }, ""},
		"one that changes what the manifest says": {
			func(*berthv1alpha1.ApplicationSpec) {}, func(c *crossing) { c.autoscale(2) }, "somebody else changes it again and again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrossing(t, nil, tc.edit)
			c.moveTo(berthv1alpha1.MoveStart)
			tc.do(c)
			var under []string
			c.until(time.Hour, func() bool {
				if move := c.app.stored().Status.Move; move != nil {
					under = append(under, move.Message)
				}
				return c.ended != ""
			})
			told := apimeta.FindStatusCondition(c.app.stored().Status.Conditions, berthv1alpha1.ApplicationMoving).Message
			whole := strings.Join(under, "\n")
			if tc.want == "" && strings.Contains(whole+told, "again and again") {
				t.Errorf("it says %q, and on the way %s", told, whole)
			}
			if !strings.Contains(whole, tc.want) || !strings.Contains(told, tc.want) {
				t.Errorf("it says %q, and on the way %s, want %q", told, whole, tc.want)
			}
		})
	}
}

// While new pods are ready, and not available yet, an autoscaler that lowers the number of replicas
// takes them and not the old ones.
func TestAnAutoscalerTakesNothingThatIsAvailable(t *testing.T) {
	for name, edit := range map[string]func(*berthv1alpha1.ApplicationSpec){
		"all at once": scaledByOthers, "in steps": ways["scaled by others, in steps"].edit,
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrossing(t, nil, func(spec *berthv1alpha1.ApplicationSpec) {
				edit(spec)
				warms(spec)
			})
			c.moveTo(berthv1alpha1.MoveAvailable)
			if !c.until(5*time.Minute, func() bool { return c.app.readyIn("berlin") < c.app.ready() && c.app.ready() == len(c.app.pods()) }) {
				t.Fatal("the new pods do not become ready")
			}
			c.scale(fromManifest)
			if got := c.app.readyIn("berlin"); got != fromManifest {
				t.Errorf("%d replicas are left in berlin, want %d", got, fromManifest)
			}
			c.until(time.Hour, func() bool { return c.ended != "" })
			c.run(5 * time.Minute)
			c.arrives(done)
		})
	}
}
