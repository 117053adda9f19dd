// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugintest"
)

// stamped is a pod that Berth bound to the node and charged one unit of a pool.
func stamped(name, node, resource, poolName string) *corev1.Pod {
	pod := asking(name, resource, "1")
	pod.Annotations = stamp.ChargeAnnotations(pod, node, []pool.Charge{{Resource: resource, Pool: poolName, Quantity: mustParse("1")}})
	return onNode(pod, node)
}

func TestWhoHolds(t *testing.T) {
	lost := rackNode("lost", "a")
	for name, tc := range map[string]struct {
		holder *corev1.Pod
		want   bool // whether its unit is taken
	}{
		"a pod that Berth bound":              {stamped("p", "a1", "disk", "a"), true},
		"a pod that somebody else bound":      {onNode(asking("p", "disk", "1"), "a1"), true},
		"a pod on a node that is gone":        {stamped("p", "lost", "disk", "a"), true},
		"one charged to a pool under a label": {stamped("p", "b1", "disk", "a"), true},
		"one charged to another pool":         {stamped("p", "a1", "disk", "b"), false},
		"a finished pod":                      {finished(stamped("p", "a1", "disk", "a")), false},
		"a pod with a copied stamp": {func() *corev1.Pod {
			p := onNode(asking("p"), "a1")
			p.Annotations = stamped("other", "a1", "disk", "a").Annotations
			delete(p.Annotations, annotation+"disk")
			return p
		}(), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(racks(), lost, pools("disk", berthv1alpha1.AnyOf, "a", "1", "b", "1"), tc.holder))
			s.Try(asking("warm", "disk", "1")) // the view has seen the node before it goes
			s.Remove(lost)
			bound, _ := s.Place(onRack(asking("next", "disk", "1"), "a"))
			if taken := bound == nil; taken != tc.want {
				t.Errorf("the unit is taken: %t, want %t", taken, tc.want)
			}
		})
	}
}

func finished(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase = corev1.PodSucceeded
	return pod
}

func TestWhatAnAttemptReservedIsGivenBack(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "1")))
	pod := asking("p1", "matlab", "1")
	attempt := s.Try(pod)
	assumed := s.Assume(pod, attempt)
	if other := s.Try(asking("p2", "matlab", "1")); other.Node != "" {
		t.Error("what is reserved is given out again")
	}
	s.Forget(assumed, attempt)
	s.MustPlace(asking("p3", "matlab", "1"))
}

func TestAPodIsChargedWhileItsBindingIsOpen(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "1")))
	var asked atomic.Int32
	var over atomic.Bool
	s.Kube.PrependReactor("*", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		asked.Add(1)
		return !over.Load(), nil, apierrors.NewServiceUnavailable("the API server is down")
	})
	pod := asking("p1", "matlab", "1")
	attempt := s.Try(pod)
	assumed := s.Assume(pod, attempt)
	answer := make(chan *fwk.Status, 1)
	go func() { answer <- s.Framework.RunBindPlugins(s.Context(), attempt.State, assumed, attempt.Node) }()
	s.WaitFor("the binding, and two attempts to settle it", func() bool { return asked.Load() > 2 })
	if other := s.Try(asking("p2", "matlab", "1")); other.Node != "" {
		t.Fatal("what a pod may hold is given out again")
	}
	over.Store(true)
	if status := <-answer; status.IsSuccess() {
		t.Fatal("the pod is bound")
	}
	s.Forget(assumed, attempt)
	s.MustPlace(asking("p3", "matlab", "1"))
}

func TestWhatAnotherProcessBoundCounts(t *testing.T) {
	bound := stamped("theirs", "b1", "matlab", "all")
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "1")), plugintest.Held())
	// The informer is behind the last binding of the leader before.
	s.Kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.PodList{Items: []corev1.Pod{*bound}}, nil
	})
	var looks atomic.Int32
	s.Kube.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		looks.Add(1)
		return true, bound, nil
	})
	early := asking("early", "matlab", "1")
	if s.PreEnqueue(early).IsSuccess() {
		t.Error("a pod enters the queue before it is known who holds what")
	}
	s.Release()
	if attempt := s.Try(early); attempt.Node != "" {
		t.Error("what the leader before gave out is given out again")
	}
	if again := s.Try(asking("theirs", "matlab", "1")); !strings.Contains(again.Why(), "the pod has been bound by the leader before") {
		t.Errorf("a pod that the leader before has bound is told %q", again.Why())
	}
	// The second look comes after all that the first one has led to.
	s.WaitFor("two looks at the pod", func() bool { return looks.Load() >= 2 })
	if attempt := s.Try(early); attempt.Node != "" {
		t.Error("what the leader before gave out is given out again once the pod was looked at, which the informer still does not know")
	}
	s.Add(bound)
	if attempt := s.Try(early); attempt.Node != "" {
		t.Error("what the leader before gave out is given out again once the informer knows its pod")
	}
}

func TestWhatAnotherProcessBoundIsGivenBackWhenItHasEndedUnseen(t *testing.T) {
	bound := stamped("theirs", "b1", "matlab", "all")
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "1")), plugintest.Held())
	s.Kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.PodList{Items: []corev1.Pod{*bound}}, nil
	})
	s.Release()
	s.WaitFor("what a pod held that is gone", func() bool { return s.Try(asking("next", "matlab", "1")).Node != "" })
}

func TestAFailedListIsAReason(t *testing.T) {
	s := plugintest.New(t, append(racks(), pools("matlab", berthv1alpha1.AnyOf, "all", "1")), plugintest.Held())
	s.Kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewServiceUnavailable("the API server is down")
	})
	s.Release()
	if attempt := s.Try(asking("p", "matlab", "1")); !strings.Contains(attempt.Why(), "what pods hold of ClusterResources cannot be read") {
		t.Errorf("the pod is told %q", attempt.Why())
	}
	s.MustPlace(asking("plain"))
}

// TestRandomChangesNeverOverallocate lets pods come, end and be deleted and nodes be relabelled at
// random, and compares what the pods hold with what there is after each step.
func TestRandomChangesNeverOverallocate(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			nodes := []*corev1.Node{rackNode("n0", "a"), rackNode("n1", "a"), rackNode("n2", "b"), rackNode("n3", "c")}
			limits := map[string]int64{"disk/all": 3, "disk/a": 4, "disk/b": 2, "power/all": 6, "power/a": 3, "power/b": 3}
			s := plugintest.New(t, []runtime.Object{
				nodes[0], nodes[1], nodes[2], nodes[3],
				pools("disk", berthv1alpha1.AnyOf, "all", "3", "a", "4", "b", "2"), pools("power", berthv1alpha1.AllOf, "all", "6", "a", "3", "b", "3"),
			})
			var bound []*corev1.Pod
			for step := range 150 {
				switch action := random.IntN(10); {
				case action < 6:
					pod := asking(fmt.Sprint("p", step), []string{"disk", "power"}[random.IntN(2)], strconv.Itoa(1+random.IntN(2)))
					if placed, _ := s.Place(pod); placed != nil {
						bound = append(bound, placed)
					} else {
						s.Remove(pod)
					}
				case action < 8 && len(bound) > 0:
					i := random.IntN(len(bound))
					s.Try(asking(fmt.Sprint("look", step), "disk", "99")) // the snapshot shows the stamps
					s.Remove(bound[i])
					bound = append(bound[:i], bound[i+1:]...)
				default:
					i := random.IntN(len(nodes))
					nodes[i] = plugintest.Update(s, nodes[i], func(n *corev1.Node) { n.Labels["rack"] = string(rune('a' + random.IntN(3))) })
				}
				held := map[string]int64{}
				for _, pod := range bound {
					charges, _ := stamp.ChargesOf(pod)
					for _, c := range charges {
						held[c.Resource+"/"+c.Pool] += c.Quantity.Value()
					}
				}
				for name, limit := range limits {
					if held[name] > limit {
						t.Fatalf("step %d: %d of %s are held, of %d", step, held[name], name, limit)
					}
				}
			}
		})
	}
}

func TestPodsThatAskForNothingCostNothing(t *testing.T) {
	s := plugintest.New(t, racks())
	ours := plugin(t, s)
	pod, state := asking("plain"), framework.NewCycleState()
	ctx := s.Context()
	if allocations := testing.AllocsPerRun(100, func() {
		ours.PreEnqueue(ctx, pod)
		ours.PreFilter(ctx, state, pod, nil)
		ours.PreScore(ctx, state, pod, nil)
		ours.SignPod(ctx, pod)
	}); allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestSignatures(t *testing.T) {
	ours := plugin(t, plugintest.New(t, racks()))
	if _, status := ours.SignPod(t.Context(), asking("plain")); !status.IsSuccess() {
		t.Errorf("a pod that asks for nothing keeps others from being scheduled with it: %v", status)
	}
	if _, status := ours.SignPod(t.Context(), asking("asks", "matlab", "1")); status.Code() != fwk.Unschedulable {
		t.Errorf("a pod that takes what the next one wants is scheduled with others: %v", status)
	}
}

func TestScores(t *testing.T) {
	for strategy, want := range map[string]string{"LeastAllocated": "b1", "MostAllocated": "a1"} {
		t.Run(strategy, func(t *testing.T) {
			config := plugintest.Configuration + `  - name: ClusterResource
    args:
      scoringStrategy: ` + strategy + "\n"
			s := plugintest.New(t, []runtime.Object{
				rackNode("a1", "a"), rackNode("b1", "b"), pools("disk", berthv1alpha1.AnyOf, "a", "10", "b", "10"),
			}, plugintest.WithConfiguration(config))
			s.MustPlace(onRack(asking("first", "disk", "5"), "a"))
			second := s.MustPlace(asking("second", "disk", "1"))
			if diff := cmp.Diff(want, second.Spec.NodeName); diff != "" {
				t.Errorf("node (-want +got):\n%s", diff)
			}
		})
	}
}

func TestANominatedPodIsChargedOnItsNode(t *testing.T) {
	for name, tc := range map[string]struct {
		other *corev1.Pod
		// failed is set if an attempt of the other pod failed after Reserve.
		failed bool
		want   fwk.Code
	}{
		"what it asks for is taken":         {other: asking("other", "disk", "1"), want: fwk.Unschedulable},
		"not what it does not ask for":      {other: asking("other", "maple", "1"), want: fwk.Success},
		"not if that cannot be read":        {other: asking("other", "disk", "many"), want: fwk.Success},
		"not after an attempt of it failed": {other: asking("other", "disk", "1"), failed: true, want: fwk.Success},
		"not what it does not have to pay":  {other: asking("other"), want: fwk.Success},
	} {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(racks(), pools("disk", berthv1alpha1.AnyOf, "a", "1")))
			ours, pod := plugin(t, s), asking("pod", "disk", "1")
			if tc.failed {
				attempt := s.Try(tc.other)
				s.Forget(s.Assume(tc.other, attempt), attempt)
			}
			state := s.Try(pod).State
			node, info := nodeAndPod(t, s, "a1", tc.other)
			if status := ours.AddPod(s.Context(), state, pod, info, node); !status.IsSuccess() {
				t.Fatalf("AddPod: %v", status)
			}
			if status := ours.Filter(s.Context(), state, pod, node); status.Code() != tc.want {
				t.Errorf("Filter: %v, want %v", status, tc.want)
			}
		})
	}
}

// Pools of different resources may have one name.
func TestWhatAPodHoldsOfSomethingElseIsNoHelp(t *testing.T) {
	for name, tc := range map[string]struct {
		holder string
		want   fwk.Code
	}{
		"of what is asked for": {holder: "matlab", want: fwk.Success}, "of something else": {holder: "maple", want: fwk.Unschedulable},
	} {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(racks(),
				pools("matlab", berthv1alpha1.AnyOf, "all", "1"), pools("maple", berthv1alpha1.AnyOf, "all", "1")))
			holders := map[string]*corev1.Pod{}
			for _, resource := range []string{"matlab", "maple"} {
				holders[resource] = s.MustPlace(asking("holder of "+resource, resource, "1"))
			}
			pod := asking("pod", "matlab", "1")
			cycle := s.Try(pod).State
			node, info := nodeAndPod(t, s, "a1", holders[tc.holder])
			if status := plugin(t, s).RemovePod(s.Context(), cycle, pod, info, node); !status.IsSuccess() {
				t.Fatalf("RemovePod: %v", status)
			}
			if status := plugin(t, s).Filter(s.Context(), cycle, pod, node); status.Code() != tc.want {
				t.Errorf("Filter: %v, want %v", status, tc.want)
			}
		})
	}
}

// nodeAndPod returns a node of the snapshot, and a pod as the framework hands it over.
func nodeAndPod(t *testing.T, s *plugintest.Scheduler, node string, pod *corev1.Pod) (fwk.NodeInfo, fwk.PodInfo) {
	t.Helper()
	found, err := s.Framework.SnapshotSharedLister().NodeInfos().Get(node)
	if err != nil {
		t.Fatal(err)
	}
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	return found, info
}

// The first one by name, each time: the same reasons are counted together.
func TestANodeThatLacksTwoResourcesNamesTheFirst(t *testing.T) {
	s := plugintest.New(t, append(racks(),
		pools("disk", berthv1alpha1.AnyOf, "a", "1", "b", "1"), pools("power", berthv1alpha1.AnyOf, "a", "1", "b", "1")))
	s.MustPlace(onRack(asking("holder", "disk", "1", "power", "1"), "a"))
	pod := asking("pod", "power", "1", "disk", "1")
	cycle := s.Try(pod).State
	node, _ := nodeAndPod(t, s, "a1", pod)
	status := plugin(t, s).Filter(s.Context(), cycle, pod, node)
	if diff := cmp.Diff([]string{"node(s) whose pools of disk are used up"}, status.Reasons()); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// Where all nodes draw on the same pools there is nothing to compare.
func TestNodesAreComparedOnlyIfTheirPoolsDiffer(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes []string
		want  fwk.Code
	}{
		"one pool": {nodes: []string{"a1", "a2"}, want: fwk.Skip}, "two": {nodes: []string{"a1", "b1"}, want: fwk.Success},
	} {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(racks(), pools("disk", berthv1alpha1.AnyOf, "a", "9", "b", "9")))
			pod := asking("pod", "disk", "1")
			cycle := s.Try(pod).State
			nodes := make([]fwk.NodeInfo, len(tc.nodes))
			for i, name := range tc.nodes {
				nodes[i], _ = nodeAndPod(t, s, name, pod)
			}
			if status := plugin(t, s).PreScore(s.Context(), cycle, pod, nodes); status.Code() != tc.want {
				t.Errorf("PreScore: %v, want %v", status, tc.want)
			}
		})
	}
}
