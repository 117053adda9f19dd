// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/simulator"
)

// hungry is the Deployment with pods of one CPU.
var hungry = strings.Replace(deployment, "image: i", "image: i, resources: {requests: {cpu: 1}}", 1)

// small is a cluster whose only node has so many CPUs.
func small(name string, value float64, cpus string) []client.Object {
	return []client.Object{cluster(name, value), node(name, cpus)}
}

func TestAClusterWithoutRoomIsNotChosen(t *testing.T) {
	both := hungry + "---\n" + strings.ReplaceAll(hungry, "front", "back")
	tests := map[string]struct {
		manifests, berlin, madrid string
		edit                      func(*berthv1alpha1.ApplicationSpec)
		want, wantCondition       string
		wantReasons               []string
	}{
		"the better one takes it": {hungry, "2", "2", nil, "berlin", "True ClusterChosen: cluster berlin", nil},
		"the better one is full": {
			hungry, "1", "2", nil, "madrid", "True ClusterChosen: cluster madrid",
			[]string{
				"without room for all its pods",
				"deployment front: 1 of 2 pods fit: 0/1 nodes are available: 1 Insufficient cpu",
			},
		},
		"all manifests count together": {
			both, "3", "4", nil, "madrid", "True ClusterChosen",
			[]string{
				"without room for all its pods",
				"deployment back: 1 of 2 pods fit: 0/1 nodes are available: 1 Insufficient cpu",
			},
		},
		"none has room": {
			hungry, "1", "500m", nil, "", "False NoClusterMatches: no cluster matches: 2 without room for all its pods; " +
				"berlin: deployment front: 1 of 2 pods fit: 0/1 nodes are available: 1 Insufficient cpu; " +
				"madrid: deployment front: 0 of 2 pods fit: 0/1 nodes are available: 1 Insufficient cpu",
			[]string{
				"without room for all its pods",
				"deployment front: 1 of 2 pods fit: 0/1 nodes are available: 1 Insufficient cpu",
			},
		},
		"none has room, anyway": {
			hungry, "1", "500m",
			func(spec *berthv1alpha1.ApplicationSpec) { spec.WhenUnsatisfiable = berthv1alpha1.ScheduleAnyway },
			"berlin", "True ClusterChosen",
			[]string{"deployment front: 1 of 2 pods fit: 0/1 nodes are available: 1 Insufficient cpu"},
		},
		"one has room, anyway": {
			hungry, "1", "2",
			func(spec *berthv1alpha1.ApplicationSpec) { spec.WhenUnsatisfiable = berthv1alpha1.ScheduleAnyway },
			"madrid", "True ClusterChosen",
			[]string{
				"without room for all its pods",
				"deployment front: 1 of 2 pods fit: 0/1 nodes are available: 1 Insufficient cpu",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			app := newApplication(tc.manifests)
			if tc.edit != nil {
				tc.edit(&app.Spec)
			}
			w := newWorld(t, append(append(small("berlin", 0.9, tc.berlin), small("madrid", 0.4, tc.madrid)...), app)...)
			w.passes()
			if got := w.app().Status.ScheduledTo; got != tc.want {
				t.Errorf("scheduled to %q, want %q", got, tc.want)
			}
			if got := w.condition("Scheduled"); !strings.HasPrefix(got, tc.wantCondition) {
				t.Errorf("Scheduled is %s, want %s", got, tc.wantCondition)
			}
			for _, place := range w.app().Status.Ranking {
				if place.Name == "berlin" && fmt.Sprint(place.Reasons) != fmt.Sprint(tc.wantReasons) {
					t.Errorf("berlin has the reasons %q, want %q", place.Reasons, tc.wantReasons)
				}
			}
			err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "front"}, &appsv1.Deployment{})
			if apierrors.IsNotFound(err) != (tc.want == "") {
				t.Errorf("reading the Deployment gives %v", err)
			}
		})
	}
}

func TestRoomThatAppearsIsTaken(t *testing.T) {
	w := newWorld(t, append(small("berlin", 0.9, "1"), newApplication(hungry))...)
	w.passes()
	larger := node("berlin", "2")
	larger.Name = "berlin-1"
	w.must(w.client.Create(t.Context(), larger))
	w.passes()
	if got := w.app().Status.ScheduledTo; got != "berlin" {
		t.Errorf("scheduled to %q, want berlin", got)
	}
}

// No pod is there yet when the next Application is decided about.
func TestRoomIsPromisedOnce(t *testing.T) {
	objects := append(small("berlin", 0.9, "5"), small("madrid", 0.4, "6")...)
	var requests []reconcile.Request
	for i := range 6 {
		app := newApplication(hungry)
		app.Name, app.UID = fmt.Sprintf("web%d", i), types.UID(fmt.Sprintf("app%d", i))
		app.Spec.Manifests = manifests(strings.ReplaceAll(hungry, "front", fmt.Sprintf("front%d", i)))
		objects = append(objects, app)
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(app)})
	}
	w := newWorld(t, objects...)
	chosen := map[string]int{}
	for _, request := range requests {
		if _, err := w.controller.Reconcile(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		app := &berthv1alpha1.Application{}
		w.must(w.client.Get(t.Context(), request.NamespacedName, app))
		chosen[app.Status.ScheduledTo]++
	}
	if chosen["berlin"] != 2 || chosen["madrid"] != 3 || chosen[""] != 1 {
		t.Errorf("chosen %v, want berlin for 2, madrid for 3 and none for 1", chosen)
	}
}

// Subscriptions and policies ask the same adviser, long before a pod of the Application is made.
func TestRoomOfAnApplicationIsPromisedToNobodyElse(t *testing.T) {
	w := newWorld(t, append(small("berlin", 0.9, "3"), newApplication(hungry))...)
	left := func() (copies int) {
		t.Helper()
		w.must(w.adviser.Reserve(t.Context(), "somebody", nil, func(s *simulator.Snapshot) ([]adviser.Promise, error) {
			room, err := s.Room(t.Context(), "berlin", needy(), 9)
			copies = room.Copies
			return nil, err
		}))
		return copies
	}
	w.passes()
	if got := left(); got != 1 {
		t.Errorf("once the cluster is chosen somebody else is offered room for %d, want 1", got)
	}
	w.fill(w.run("berlin", 0, true))
	w.passes()
	if got := left(); got != 1 {
		t.Errorf("when one of two pods has a node somebody else is offered room for %d, want 1", got)
	}
	w.after(time.Minute)
	if got := left(); got != 2 {
		t.Errorf("when nobody has come for the room somebody else is offered room for %d, want 2", got)
	}
	w.must(w.client.Delete(t.Context(), w.app()))
	w.passes()
	if got := w.adviser.promised; len(got["application shop/web"]) > 0 {
		t.Errorf("to what is gone is promised %v", got)
	}
}

// needy is a pod of one CPU that no Application has.
func needy() *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: namespace, UID: "other"}}
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: requests}}}
	return pod
}

// fill lets a pod have a CPU.
func (w *world) fill(pod *corev1.Pod) {
	w.t.Helper()
	pod.Spec.Containers = needy().Spec.Containers
	w.must(w.client.Update(w.t.Context(), pod))
}

// What runs in a cluster needs no further room there. Here there is none.
func TestAMoveGoesBackToWhereItRuns(t *testing.T) {
	w := newWorld(t, append(append(small("berlin", 0.5, "2"), small("madrid", 0.4, "2")...), newApplication(hungry))...)
	w.passes()
	for seat := range int32(2) {
		w.fill(w.run("berlin", seat, true))
	}
	w.passes()
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.after(61 * time.Second)
	w.after(3 * time.Second)
	w.is("the move has begun", "madrid", "madrid>=2 berlin", 4, "True Start")
	other := needy()
	other.Spec.NodeName = "madrid-0"
	w.must(w.client.Create(t.Context(), other))
	w.after(61 * time.Second)
	w.is("the room is gone", "berlin", "berlin", 2, "False Returned: the move from cluster berlin to madrid was given up")
}

func TestRoomThatWasPromisedToSomebodyElseIsNotTaken(t *testing.T) {
	w := newWorld(t, append(append(small("berlin", 0.9, "3"), small("madrid", 0.4, "2")...), newApplication(hungry))...)
	w.adviser.Promise("somebody", []adviser.Promise{{Cluster: "berlin", Pod: needy(), Copies: 2}})
	w.passes()
	if got := w.app().Status.ScheduledTo; got != "madrid" {
		t.Errorf("scheduled to %q, want madrid", got)
	}
}

func TestWhatRunsStaysAlthoughMoreDoesNotFit(t *testing.T) {
	w := newWorld(t, append(append(small("berlin", 0.9, "2"), small("madrid", 0.4, "8")...), newApplication(hungry))...)
	w.passes()
	for seat := range int32(2) {
		w.run("berlin", seat, true)
	}
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
		spec.Manifests = manifests(strings.Replace(hungry, "replicas: 2", "replicas: 4", 1))
	})
	w.after(2 * time.Minute)
	if got := w.app().Status.ScheduledTo; got != "berlin" {
		t.Errorf("scheduled to %q, want berlin", got)
	}
}

// The pods of a choice that was wrong never got a node.
func TestWhatRunsNowhereIsChosenForAnew(t *testing.T) {
	w := newWorld(t, append(append(small("berlin", 0.9, "2"), small("madrid", 0.4, "8")...), newApplication(hungry))...)
	w.passes()
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: namespace, UID: "other"}}
	other.Spec = corev1.PodSpec{NodeName: "berlin-0", Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: node("", "2").Status.Capacity,
	}}}}
	w.must(w.client.Create(t.Context(), other))
	w.after(2 * time.Minute)
	if got := w.app().Status.ScheduledTo; got != "madrid" {
		t.Errorf("scheduled to %q, want madrid", got)
	}
}

func TestAReviewOfWhatRunsWhereItIsBestAsksNobody(t *testing.T) {
	w := settled(t, nil)
	before := w.adviser.asked
	w.after(2 * time.Minute)
	if w.adviser.asked != before {
		t.Errorf("%d questions, want none", w.adviser.asked-before)
	}
}

func TestTheFirstChoiceWaitsForKnowledge(t *testing.T) {
	tests := map[string]struct {
		unknown func(*berthv1alpha1.Cluster)
		labels  []string
		waits   string
	}{
		"everything is known": {func(*berthv1alpha1.Cluster) {}, nil, ""},
		"its nodes":           {func(c *berthv1alpha1.Cluster) { c.Status.Conditions = nil }, nil, "madrid: its nodes"},
		"its metric":          {func(c *berthv1alpha1.Cluster) { c.Status.Metrics = nil }, nil, "madrid: metric green"},
		"of one that does not come into question": {
			func(c *berthv1alpha1.Cluster) { c.Status.Metrics = nil }, []string{"location is berlin"}, "",
		},
		"a metric that cannot be read is known": {func(c *berthv1alpha1.Cluster) {
			c.Status.Metrics = []berthv1alpha1.MetricSample{{Name: "green", Reason: "Unreachable"}}
		}, nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			madrid := cluster("madrid", 0.9)
			tc.unknown(madrid)
			app := newApplication(deployment)
			app.Spec.Constraints.ClusterLabels = tc.labels
			w := newWorld(t, cluster("berlin", 0.5), madrid, app)
			w.passes()
			if tc.waits == "" {
				if got := w.app().Status.ScheduledTo; got == "" {
					t.Errorf("it waits: %s", w.condition("Scheduled"))
				}
				return
			}
			want := "False WaitingForKnowledge: waiting up to 30s for what is not known yet: " + tc.waits
			if got := w.condition("Scheduled"); got != want {
				t.Errorf("Scheduled is %s, want %s", got, want)
			}
			w.after(31 * time.Second)
			if got := w.condition("Scheduled"); !strings.HasSuffix(got, "; chosen without knowing "+tc.waits) {
				t.Errorf("Scheduled is %s", got)
			}
		})
	}
}

func TestTheFirstChoiceDoesNotWaitLongerThanItMust(t *testing.T) {
	madrid := cluster("madrid", 0.9)
	madrid.Status.Metrics = nil
	w := newWorld(t, cluster("berlin", 0.5), madrid, newApplication(deployment))
	w.passes()
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 0.9) })
	w.passes()
	if got := w.app().Status.ScheduledTo; got != "madrid" {
		t.Errorf("scheduled to %q, want madrid", got)
	}
}

func TestNothingIsChosenForManifestsThatAreInvalid(t *testing.T) {
	invalid := deployment + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: a}}"
	w := newWorld(t, cluster("berlin", 0.5), newApplication(invalid))
	w.passes()
	if got := w.app().Status; got.ScheduledTo != "" || len(got.Ranking) != 0 {
		t.Errorf("scheduled to %q with the ranking %v, want nothing chosen", got.ScheduledTo, got.Ranking)
	}
	w = settled(t, nil)
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Manifests = manifests(invalid) })
	w.after(2 * time.Minute)
	if got := w.app().Status.ScheduledTo; got != "berlin" {
		t.Errorf("scheduled to %q, want berlin", got)
	}
}

func TestWhatHasNoPodsFollowsTheChoice(t *testing.T) {
	app := newApplication(configMap)
	app.Spec.Constraints.ClusterLabels = []string{"location is rome"}
	w := newWorld(t, cluster("berlin", 0.5), app)
	w.passes()
	if got := w.condition("Ready"); !strings.HasPrefix(got, "False WaitingForCluster") {
		t.Errorf("Ready is %s", got)
	}
	err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "settings"}, &corev1.ConfigMap{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("reading the ConfigMap gives %v, want that it is not there", err)
	}
}
