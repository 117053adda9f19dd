// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

func racks() []runtime.Object {
	return []runtime.Object{rackNode("a1", "a"), rackNode("a2", "a"), rackNode("b1", "b")}
}

func TestNoMoreThanAllocatableIsGivenOut(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "3")))
	first := s.MustPlace(asking("p1", "matlab", "2"))
	if diff := cmp.Diff([]string{"matlab/all=2"}, charged(t, first)); diff != "" {
		t.Errorf("charges (-want +got):\n%s", diff)
	}
	if _, attempt := s.Place(asking("p2", "matlab", "2")); !strings.Contains(attempt.Why(), "node(s) whose pools of matlab are used up") {
		t.Errorf("the second pod is told %q", attempt.Why())
	}
	s.MustPlace(asking("p3", "matlab", "1"))
	s.Terminate(first)
	if pod, _ := s.Place(asking("p4", "matlab", "1")); pod != nil {
		t.Error("a pod that is being deleted has given back what it holds")
	}
}

func TestWhatAGonePodHeldIsFree(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "1")))
	first, second := s.MustPlace(asking("p1", "matlab", "1")), asking("p2", "matlab", "1")
	if attempt := s.Try(second); attempt.Node != "" {
		t.Fatal("the only unit was given out twice")
	}
	s.Remove(first)
	s.MustPlace(second)
}

func TestWhichPoolIsCharged(t *testing.T) {
	for name, tc := range map[string]struct {
		resource *berthv1alpha1.ClusterResource
		amounts  []string // of pods placed one after the other
		want     []string // their charges, "" for a pod that finds no node
		only     string   // the one node they may use
	}{
		"the most specific first, then the wider one": {
			resource: pools("disk", berthv1alpha1.AnyOf, "all", "10", "b", "3"), only: "b1",
			amounts: []string{"2", "2", "1", "9"}, want: []string{"disk/b=2", "disk/all=2", "disk/b=1", ""},
		},
		"every one with AllOf": {
			resource: pools("power", berthv1alpha1.AllOf, "all", "10", "b", "3"), only: "b1",
			amounts: []string{"2", "2", "1"}, want: []string{"power/b=2,power/all=2", "", "power/b=1,power/all=1"},
		},
		"the pool of the node alone": {
			resource: pools("disk", berthv1alpha1.AnyOf, "a", "5", "b", "1"), only: "b1",
			amounts: []string{"1", "1"}, want: []string{"disk/b=1", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(racks(), tc.resource))
			var got []string
			for i, amount := range tc.amounts {
				pod := asking("p"+string(rune('0'+i)), tc.resource.Name, amount)
				pod.Spec.NodeSelector = map[string]string{"rack": tc.only[:1]}
				bound, _ := s.Place(pod)
				if bound == nil {
					got = append(got, "")
					continue
				}
				got = append(got, strings.Join(charged(t, bound), ","))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("charges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhyAPodIsRejected(t *testing.T) {
	going := pools("going", berthv1alpha1.AnyOf, "all", "5")
	going.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	going.Finalizers = []string{berthv1alpha1.ClusterResourceFinalizer}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"unknown resource":        {asking("p", "maple", "1"), "cluster resource maple does not exist"},
		"nothing there":           {asking("p", "full", "1"), "node(s) whose pools of full are too small"},
		"more than there ever is": {asking("p", "matlab", "4"), "node(s) whose pools of matlab are too small"},
		"no pool anywhere":        {asking("p", "nowhere", "1"), "node(s) in no pool of nowhere"},
		"one that goes":           {asking("p", "going", "1"), "cluster resource going is being deleted"},
		"a part of a unit":        {asking("p", "matlab", "500m"), "the request for cluster resource matlab is no multiple of its unit"},
		"no number":               {asking("p", "matlab", "many"), `the request for cluster resource matlab cannot be read: "many" is not a quantity such as 5, 500m, 10G or 1Gi`},
		"negative":                {asking("p", "matlab", "-1"), `the request for cluster resource matlab cannot be read: "-1" is not a quantity such as 5, 500m, 10G or 1Gi`},
		"a number that hangs":     {asking("p", "matlab", "1e-2147483647"), `the request for cluster resource matlab cannot be read: "1e-2147483647" is not a quantity such as 5, 500m, 10G or 1Gi`},
		"30 digits":               {asking("p", "matlab", strings.Repeat("9", 30)), "the request for cluster resource matlab cannot be read: a quantity has at most 16 characters"},
		"invalid pools":           {asking("p", "twice", "1"), "the pools of cluster resource twice cannot be used, see its condition Ready"},
		"both forms": {
			st.MakePod().Namespace("default").Name("p").UID("p").SchedulerName(plugintest.Profile).
				Annotation(annotation+"matlab", "1").Req(map[corev1.ResourceName]string{"cluster-resource.berth.dev/matlab": "1"}).Obj(),
			"the pod asks for cluster resource matlab both by annotation and as a resource of a container",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "3"),
				pools("full", berthv1alpha1.AnyOf, "all", "0"), pools("nowhere", berthv1alpha1.AnyOf, "c", "5"),
				pools("twice", berthv1alpha1.AnyOf, "a", "5", "a", "6"), going))
			if attempt := s.Try(tc.pod); !strings.Contains(attempt.Why(), tc.want) {
				t.Errorf("told %q, want %q", attempt.Why(), tc.want)
			}
		})
	}
}

func TestAPodShortOfOneResourceHoldsNoOther(t *testing.T) {
	s := plugintest.New(t, append(racks(),
		pools("matlab", berthv1alpha1.AnyOf, "all", "1"), pools("maple", berthv1alpha1.AnyOf, "all", "0")))
	if pod, _ := s.Place(asking("both", "matlab", "1", "maple", "1")); pod != nil {
		t.Fatal("a pod was placed without a resource")
	}
	s.MustPlace(asking("one", "matlab", "1"))
}

func TestExtendedResourcesCountLikeCPU(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "9")))
	pod := st.MakePod().Namespace("default").Name("p").UID("p").SchedulerName(plugintest.Profile).
		Req(map[corev1.ResourceName]string{"cluster-resource.berth.dev/matlab": "2"}).
		Req(map[corev1.ResourceName]string{"cluster-resource.berth.dev/matlab": "1"}).
		InitReq(map[corev1.ResourceName]string{"cluster-resource.berth.dev/matlab": "5"}).Obj()
	if diff := cmp.Diff([]string{"matlab/all=5"}, charged(t, s.MustPlace(pod))); diff != "" {
		t.Errorf("charges (-want +got):\n%s", diff)
	}
}

func TestTheChargeSurvivesWhateverBecomesOfThePools(t *testing.T) {
	node := rackNode("b1", "b")
	s := plugintest.New(t, []runtime.Object{node, rackNode("c1", "c"), pools("disk", berthv1alpha1.AnyOf, "b", "1", "c", "1")})
	pod := asking("p1", "disk", "1")
	pod.Spec.NodeSelector = map[string]string{"rack": "b"}
	s.MustPlace(pod)
	plugintest.Update(s, node, func(n *corev1.Node) { n.Labels["rack"] = "c" })
	if bound, attempt := s.Place(asking("p2", "disk", "1")); bound == nil {
		t.Errorf("a node that was relabelled took its charge along: %s", attempt.Why())
	}
	if bound, _ := s.Place(asking("p3", "disk", "1")); bound != nil {
		t.Error("pool c was given out twice")
	}
}

func TestPodsThatAskForNothingAreSkipped(t *testing.T) {
	s := plugintest.New(t, racks())
	s.MustPlace(asking("plain"))
	s.MustPlace(asking("zero", "matlab", "0"))
}

// A node that lists the resource itself, with whatever number, changes nothing: what there is
// stands in the ClusterResource.
func TestANodeThatListsTheResourceItself(t *testing.T) {
	for name, listed := range map[string]string{"with more": "100", "with none": "0"} {
		t.Run(name, func(t *testing.T) {
			node := rackNode("a1", "a")
			node.Status.Capacity["cluster-resource.berth.dev/matlab"] = mustParse(listed)
			node.Status.Allocatable["cluster-resource.berth.dev/matlab"] = mustParse(listed)
			s := plugintest.New(t, []runtime.Object{node, pools("matlab", berthv1alpha1.AnyOf, "all", "2")})
			for i, want := range []bool{true, true, false} {
				id := "p" + strconv.Itoa(i)
				pod := st.MakePod().Namespace("default").Name(id).UID(id).SchedulerName(plugintest.Profile).
					Req(map[corev1.ResourceName]string{"cluster-resource.berth.dev/matlab": "1"}).Obj()
				if bound, attempt := s.Place(pod); (bound != nil) != want {
					t.Errorf("pod %d is placed: %t, want %t: %s", i, bound != nil, want, attempt.Why())
				}
			}
		})
	}
}
