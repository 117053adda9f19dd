// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugintest"
)

// sharing is two schedulers, a cluster of the first of them, and a ClusterResource of which the
// first was granted something.
func sharing(total, granted string) []runtime.Object {
	licence := pools("licence", "", "all", total)
	grant(licence, granted, "", 1)
	site := plugintest.Site("mine")
	site.Status.HomeScheduler, site.Status.HomeRevision = "a", 1
	return []runtime.Object{
		scheduler("a"), scheduler("b"), site, plugintest.MakeNode("mine", 0).Obj(), plugintest.MakeNode("mine", 1).Obj(), licence,
	}
}

func scheduler(name string) *berthv1alpha1.Scheduler {
	return &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
}

// grant records the grant of the first scheduler.
func grant(r *berthv1alpha1.ClusterResource, quantity, shrinkTo string, revision int64) {
	g := berthv1alpha1.PoolGrant{Scheduler: "a", Pool: "all", Quantity: mustParse(quantity), Revision: revision}
	if shrinkTo != "" {
		target := mustParse(shrinkTo)
		g.ShrinkTo = &target
	}
	r.Status.Grants, r.Status.GrantsRevision = []berthv1alpha1.PoolGrant{g}, revision
}

// regrant writes another grant of the first scheduler.
func regrant(t *testing.T, s *plugintest.Scheduler, quantity, shrinkTo string, revision int64) {
	t.Helper()
	client := s.Berth.BerthV1alpha1().ClusterResources()
	r, err := client.Get(t.Context(), "licence", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	grant(r, quantity, shrinkTo, revision)
	if _, err := client.UpdateStatus(t.Context(), r, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// at makes a scheduler the home of a pod.
func at(pod *corev1.Pod, home string) *corev1.Pod {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[berthv1alpha1.HomeSchedulerLabel] = home
	return pod
}

// said returns what the first scheduler says of its grants, as "REVISION limit LIMIT wanted
// WANTED"; nil while it says nothing.
func said(t *testing.T, s *plugintest.Scheduler) []string {
	t.Helper()
	object, err := s.Berth.BerthV1alpha1().Schedulers().Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if object.Status.Spending == nil {
		return nil
	}
	texts := []string{}
	for _, p := range object.Status.Spending.Pools {
		text := strconv.FormatInt(p.Revision, 10)
		if p.Limit != nil {
			text += " limit " + p.Limit.String()
		}
		if p.Wanted != nil {
			text += " wanted " + p.Wanted.String()
		}
		texts = append(texts, text)
	}
	return texts
}

func waitToHear(t *testing.T, s *plugintest.Scheduler, want ...string) {
	t.Helper()
	s.WaitFor(fmt.Sprintf("the scheduler to say %q", want), func() bool {
		got := said(t, s)
		return got != nil && cmp.Equal(got, append([]string{}, want...))
	})
}

// placeOne places a pod as soon as it can be, and makes it known to the API server.
func placeOne(t *testing.T, s *plugintest.Scheduler, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	s.WaitFor("a node for "+pod.Name, func() bool { return s.Try(pod).Node != "" })
	return placeAll(t, s, pod)[0]
}

func TestASchedulerGivesOutItsGrant(t *testing.T) {
	s := plugintest.New(t, sharing("5", "2"), plugintest.Named("a"))
	for i := range 2 {
		bound := placeOne(t, s, at(asking(fmt.Sprint("pod-", i), "licence", "1"), "a"))
		charges, _ := stamp.ChargesOf(bound)
		if len(charges) != 1 || charges[0].Grantee != "a" {
			t.Errorf("pod %s was charged %+v, want a charge to scheduler a", bound.Name, charges)
		}
	}
	waits := at(asking("pod-2", "licence", "1"), "a")
	attempt := s.Try(waits)
	if want := fmt.Sprintf("node(s) whose pools of %s have enough left only for other schedulers", "licence"); attempt.Node != "" || !strings.Contains(attempt.Why(), want) {
		t.Fatalf("the pod is given node %q and told %q, want %q", attempt.Node, attempt.Why(), want)
	}
	waitToHear(t, s, "0 wanted 1")
	regrant(t, s, "3", "", 2)
	placeOne(t, s, waits)
	waitToHear(t, s)
}

func TestAPodThatNothingCanServeIsNotWanted(t *testing.T) {
	s := plugintest.New(t, sharing("5", "2"), plugintest.Named("a"))
	placeOne(t, s, at(asking("small", "licence", "1"), "a"))
	if attempt := s.Try(at(asking("large", "licence", "5"), "a")); attempt.Node != "" {
		t.Fatalf("the pod is given node %s", attempt.Node)
	}
	s.Try(at(asking("other", "licence", "2"), "a"))
	waitToHear(t, s, "0 wanted 2")
}

func TestAGrantThatShrinksIsAcknowledgedWithWhatIsHeld(t *testing.T) {
	s := plugintest.New(t, sharing("5", "3"), plugintest.Named("a"))
	first := placeOne(t, s, at(asking("pod-0", "licence", "1"), "a"))
	placeOne(t, s, at(asking("pod-1", "licence", "1"), "a"))
	underWay := at(asking("pod-2", "licence", "1"), "a")
	attempt := s.Try(underWay)
	assumed := s.Assume(underWay, attempt)

	regrant(t, s, "3", "1", 2)
	waitToHear(t, s, "2 limit 3")
	s.Forget(assumed, attempt)
	waitToHear(t, s, "2 limit 2")
	if again := s.Try(underWay); again.Node != "" {
		t.Error("a pod was placed out of what is to be given back")
	}
	s.Remove(first)
	waitToHear(t, s, "2 limit 1 wanted 1")
}

func TestAnAttemptUnderWayDoesNotSpendWhatWasGivenBack(t *testing.T) {
	s := plugintest.New(t, sharing("5", "2"), plugintest.Named("a"))
	pod := at(asking("pod", "licence", "1"), "a")
	s.WaitFor("a node", func() bool { return s.Try(pod).Node != "" })
	attempt := s.Try(pod)
	regrant(t, s, "2", "0", 2)
	waitToHear(t, s, "2 limit 0")
	if status := s.Framework.RunReservePluginsReserve(s.Context(), attempt.State, pod, attempt.Node); status.IsSuccess() {
		t.Error("the pod was charged after the scheduler had said that it would charge nothing")
	}
}

func TestAloneASchedulerGivesOutEverythingAndSaysNothing(t *testing.T) {
	objects := sharing("2", "1")
	objects = append(objects[:1:1], objects[2:]...)
	s := plugintest.New(t, objects, plugintest.Named("a"))
	for i := range 2 {
		placeOne(t, s, asking(fmt.Sprint("pod-", i), "licence", "1"))
	}
	if got := said(t, s); got != nil {
		t.Errorf("it says %q", got)
	}
	// Another one comes: what pods hold was never granted.
	if _, err := s.Berth.BerthV1alpha1().Schedulers().Create(t.Context(), scheduler("b"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitToHear(t, s, "1 limit 2")
}

func TestOnlyHoldersOfTheOwnGrantMakeWay(t *testing.T) {
	s := plugintest.New(t, sharing("2", "1"), plugintest.Named("a"))
	foreign := at(asking("foreign", "licence", "1"), "b")
	foreign.Spec.NodeName = plugintest.MakeNode("mine", 1).Obj().Name
	foreign.Annotations[berthv1alpha1.PlacedByAnnotation] = string(foreign.UID) + "/" + foreign.Spec.NodeName
	foreign.Annotations[berthv1alpha1.ChargedAnnotation] = "licence/all=1"
	foreign.Annotations[berthv1alpha1.GranteeAnnotation] = "b"
	s.Add(withPriority(foreign, -10))
	placeOne(t, s, withPriority(at(asking("own", "licence", "1"), "a"), 1))

	important := withPriority(at(asking("important", "licence", "1"), "a"), 100)
	s.Try(important)
	if diff := cmp.Diff([]string{"own"}, deleted(s, important)); diff != "" {
		t.Errorf("who makes way (-want +got):\n%s", diff)
	}
}

// What another scheduler was granted is no help, also where the framework tries what would be.
func TestADryRunKeepsToTheGrant(t *testing.T) {
	s := plugintest.New(t, sharing("2", "1"), plugintest.Named("a"))
	pod, other := at(asking("pod", "licence", "1"), "a"), at(asking("other", "licence", "1"), "a")
	s.WaitFor("a node", func() bool { return s.Try(pod).Node != "" })
	cycle := s.Try(pod).State
	node, info := nodeAndPod(t, s, plugintest.MakeNode("mine", 0).Obj().Name, other)
	ours, trial := plugin(t, s), cycle.Clone()
	if status := ours.AddPod(s.Context(), trial, pod, info, node); !status.IsSuccess() {
		t.Fatalf("AddPod: %v", status)
	}
	status := ours.Filter(s.Context(), trial, pod, node)
	if want := "node(s) whose pools of licence have enough left only for other schedulers"; !slices.Equal(status.Reasons(), []string{want}) {
		t.Errorf("beside the other pod it is told %q, want %q", status.Reasons(), want)
	}
	if status := ours.Filter(s.Context(), cycle, pod, node); !status.IsSuccess() {
		t.Errorf("what is tried changes what is so: %v", status)
	}
}

// What other schedulers give back is seen by a scheduling cycle only.
func TestAPodThatWaitsIsTriedFromTimeToTimeWhereGrantsAreKept(t *testing.T) {
	s := plugintest.New(t, sharing("1", "1"), plugintest.Named("a"))
	placeOne(t, s, at(asking("holder", "licence", "1"), "a"))
	waits := at(asking("waits", "licence", "1"), "a")
	s.SchedulingQueue.Add(klog.FromContext(s.Context()), waits)
	for range 3 { // news of what the test has made before may wake it at first
		s.FailUntilSleeps(waits)
		s.WaitFor("it to be tried again", func() bool { return !s.Sleeps(waits) })
	}
}
