// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// limit tells how a feed is limited in a Cluster, "room 2, until 30s: why" for instance.
func (w *world) limit(name, cluster string) string {
	w.t.Helper()
	for _, c := range w.get(name).Status.Feeds[0].Clusters {
		if c.Name != cluster || c.LimitedBy == "" {
			continue
		}
		if c.RetryTime == nil || c.Room == nil {
			return c.LimitedBy
		}
		return fmt.Sprintf("room %d, %v: %s", *c.Room, c.RetryTime.Sub(w.clock.Now().Truncate(time.Second)), c.LimitedBy)
	}
	return "none"
}

// stuckWorld has a Deployment with two replicas in each of two Clusters, of which those in b wait.
func stuckWorld(t *testing.T, changes ...change) *world {
	t.Helper()
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 4)
	w.deploy("web", 4)
	w.subscribe("shop", []string{"web"}, changes...)
	w.pass()
	w.want("the status", w.told("shop"), "web a=2 b=2")
	w.run("web", "a", 2)
	w.wait("web-x", ofDeployment("web"))
	w.wait("web-y", ofDeployment("web"))
	w.pass()
	return w
}

func TestWhatFindsNoNodeGoesElsewhere(t *testing.T) {
	w := stuckWorld(t)
	w.clock.Step(29 * time.Second)
	w.pass()
	w.want("the status before it is given up", w.told("shop"), "web a=2 b=2")
	w.clock.Step(time.Second)
	w.pass()
	w.want("the status afterwards", w.told("shop"), "web a=4 b=0")
	w.want("the limit", w.limit("shop", "b"), "room 4, 30s: "+noCPU)
	w.want("the policy", w.policy("shop", "web"), "4: a=4/4")
	w.restart()
	w.clock.Step(10 * time.Second)
	w.pass()
	w.want("the limit after a restart", w.limit("shop", "b"), "room 4, 20s: "+noCPU)

	w.bind("web-x", "a-1")
	w.bind("web-y", "a-1")
	w.clock.Step(20 * time.Second)
	w.pass()
	w.want("the status after the pause", w.told("shop"), "web a=4")
}

func TestThePauseDoublesAcrossARestart(t *testing.T) {
	w := newWorld(t)
	w.site("b", 4)
	w.deploy("web", 1)
	w.subscribe("shop", []string{"web"})
	w.pass()
	w.wait("web-x", ofDeployment("web"))
	for _, pause := range []string{"30s", "1m0s", "2m0s", "4m0s", "8m0s", "10m0s", "10m0s"} {
		w.pass()
		w.clock.Step(30 * time.Second)
		w.pass()
		w.want("the limit", w.limit("shop", "b"), "room 4, "+pause+": "+noCPU)
		w.restart()
		w.pass()
		w.want("the status while it is given up", w.told("shop"), "web b=0 -1")
		lasts, err := time.ParseDuration(pause)
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Step(lasts)
		w.pass()
		w.want("the status when it is tried again", w.told("shop"), "web b=1")
	}
}

func TestALimitEndsWhenThereIsMoreRoom(t *testing.T) {
	w := stuckWorld(t)
	w.clock.Step(30 * time.Second)
	w.deploy("web", 6)
	w.pass()
	w.want("the status", w.told("shop"), "web a=4 b=0 -2")
	w.want("Scheduled", w.reason("shop", "Scheduled"), "NoRoom")
	node := &corev1.Node{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Name: "b-1"}, node); err != nil {
		t.Fatal(err)
	}
	node.Status.Allocatable[corev1.ResourceCPU] = *node.Status.Allocatable.Pods() // More than it had.
	if err := w.client.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.want("the status with a larger node", w.told("shop"), "web a=4 b=2")
	w.want("the limit with a larger node", w.limit("shop", "b"), "none")
}

func TestNothingIsGivenUpWhileANodeIsMade(t *testing.T) {
	for _, reason := range []string{"TriggeredScaleUp", "Nominated"} {
		t.Run(reason, func(t *testing.T) {
			w := stuckWorld(t)
			w.create(&corev1.Event{
				ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: "e", CreationTimestamp: metav1.NewTime(w.clock.Now())},
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "web-y", UID: "web-y"},
				Reason:         reason, LastTimestamp: metav1.NewTime(w.clock.Now()),
			})
			w.clock.Step(5 * time.Minute)
			w.pass()
			w.want("the status", w.told("shop"), "web a=2 b=2")
			w.clock.Step(11 * time.Minute)
			w.pass()
			w.want("the status when no node has come", w.told("shop"), "web a=4 b=0")
		})
	}
}

func TestAnotherTimeToGiveUp(t *testing.T) {
	w := stuckWorld(t, func(s *berthv1alpha1.Subscription) {
		s.Spec.DividingScheduling = &berthv1alpha1.DividingScheduling{Type: "Dynamic", DynamicDividing: &berthv1alpha1.DynamicDividing{
			GiveUpAfter: &metav1.Duration{Duration: 5 * time.Second},
		}}
	})
	w.clock.Step(5 * time.Second)
	w.pass()
	w.want("the status", w.told("shop"), "web a=4 b=0")
	w.want("the limit", w.limit("shop", "b"), "room 4, 5s: "+noCPU)
}

func TestADivisionByWeightTellsOnlyWhatIsStuck(t *testing.T) {
	w := stuckWorld(t, static(map[string]int32{"a": 1, "b": 1}))
	w.clock.Step(time.Minute)
	w.pass()
	w.want("the status", w.told("shop"), "web a=2 b=2")
	w.want("the limit", w.limit("shop", "b"), noCPU)
	w.clock.Step(time.Hour)
	w.pass()
	w.want("the limit an hour later", w.limit("shop", "b"), noCPU)
	w.bind("web-x", "b-1")
	w.bind("web-y", "b-1")
	w.pass()
	w.want("the limit when all run", w.limit("shop", "b"), "none")
}

func TestNotKnownWhereItIsStuck(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 4)
	w.deploy("web", 4)
	w.subscribe("shop", []string{"web"})
	w.pass()
	w.wait("web-x", ofDeployment("web"))
	w.pend("web", 3) // Nobody has tried these, and they could fit.
	w.pass()
	w.clock.Step(time.Hour)
	w.pass()
	w.want("the status", w.told("shop"), "web a=2 b=2")
}
