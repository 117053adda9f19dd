// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package adviser_test

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

// Whoever asks is told of room for two, as long as there is some: to ask and to promise is one
// step.
func TestRoomThatManyAskForAtOnceIsPromisedOnce(t *testing.T) {
	const askers, each, cpus = 8, 2, 5
	node := plugintest.MakeNode("beijing", 0).
		Capacity(map[corev1.ResourceName]string{corev1.ResourceCPU: strconv.Itoa(cpus), corev1.ResourcePods: "9"}).Obj()
	a := advisertest.New(t, served(t).WithObjects(plugintest.Site("beijing"), node).Build())
	pod := plugintest.MakePod("sample").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj()
	var given atomic.Int64
	var all sync.WaitGroup
	for i := range askers {
		all.Go(func() {
			if err := a.Reserve(t.Context(), strconv.Itoa(i), nil, func(s *simulator.Snapshot) ([]adviser.Promise, error) {
				room, err := s.Fill(t.Context(), "beijing", pod, each)
				given.Add(int64(room.Copies))
				return []adviser.Promise{{Cluster: "beijing", Pod: pod, Copies: room.Copies}}, err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if given.Load() != cpus {
		t.Errorf("room for %d is promised, there is room for %d", given.Load(), cpus)
	}
}

// What somebody promises anew takes the place of what he has promised, unless he has failed.
func TestAnEarlierPromiseMakesWayForTheNext(t *testing.T) {
	node := plugintest.MakeNode("beijing", 0).
		Capacity(map[corev1.ResourceName]string{corev1.ResourceCPU: "3", corev1.ResourcePods: "9"}).Obj()
	a := advisertest.New(t, served(t).WithObjects(plugintest.Site("beijing"), node).Build())
	pod := plugintest.MakePod("sample").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj()
	failure := errors.New("no")
	for i, step := range []struct {
		by          string
		want, takes int
		fails       error
	}{{"a", 3, 2, nil}, {"b", 1, 1, nil}, {"a", 2, 0, failure}, {"b", 1, 1, nil}, {"a", 2, 1, nil}, {"b", 2, 0, nil}} {
		if err := a.Reserve(t.Context(), step.by, nil, func(s *simulator.Snapshot) ([]adviser.Promise, error) {
			room, err := s.Room(t.Context(), "beijing", pod, 9)
			if room.Copies != step.want {
				t.Errorf("step %d: %s is offered room for %d, want %d", i, step.by, room.Copies, step.want)
			}
			return []adviser.Promise{{Cluster: "beijing", Pod: pod, Copies: step.takes}}, errors.Join(err, step.fails)
		}); !errors.Is(err, step.fails) {
			t.Fatal(err)
		}
	}
}

func TestTheEndOfPromisesIsTold(t *testing.T) {
	a := advisertest.New(t, served(t).Build())
	told := 0
	a.OnChange(func() { told++ })
	for i, step := range []struct{ promised, want int }{{0, 0}, {2, 0}, {1, 0}, {0, 1}, {0, 1}} {
		a.Promise("somebody", make([]adviser.Promise, step.promised))
		if told != step.want {
			t.Errorf("step %d: told %d times, want %d", i, told, step.want)
		}
	}
}

func TestPromisesAreRecognised(t *testing.T) {
	web := workload.ID{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, NamespacedName: types.NamespacedName{Namespace: "shop", Name: "web"}}
	known, other := web, web
	known.UID, other.UID = "1", "2"
	elsewhere := web
	elsewhere.Name = "back"
	for _, tc := range []struct {
		promised, asked workload.ID
		want            bool
	}{{web, web, true}, {web, known, true}, {known, web, true}, {known, known, true}, {known, other, false}, {web, elsewhere, false}} {
		if got := (&adviser.Promise{Owner: tc.promised}).IsTo(tc.asked); got != tc.want {
			t.Errorf("a promise to %v is one to %v: %t, want %t", tc.promised, tc.asked, got, tc.want)
		}
	}
	labelled := func(labels map[string]string) *corev1.Pod {
		pod := plugintest.MakePod("sample").Obj()
		pod.Labels = labels
		return pod
	}
	promised := &adviser.Promise{Pod: labelled(map[string]string{"app": "web"})}
	stranger := labelled(map[string]string{"app": "web"})
	stranger.Namespace = "elsewhere"
	for _, tc := range []struct {
		pod  *corev1.Pod
		want bool
	}{
		{labelled(map[string]string{"app": "web", "pod-template-hash": "1"}), true},
		{labelled(map[string]string{"app": "back"}), false}, {labelled(nil), false}, {stranger, false},
	} {
		if got := promised.Fits(tc.pod); got != tc.want {
			t.Errorf("the room fits a pod of %s with %v: %t, want %t", tc.pod.Namespace, tc.pod.Labels, got, tc.want)
		}
	}
	if (&adviser.Promise{Pod: labelled(nil)}).Fits(labelled(nil)) {
		t.Error("the room for a pod without labels fits any pod")
	}
}

// TestPromisesOutliveTheReturnOfNodes asks for the room that is left beside a promise to pods whose
// node is away, and then is back before anybody has promised anew.
func TestPromisesOutliveTheReturnOfNodes(t *testing.T) {
	pod := plugintest.MakePod("sample").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj()
	for name, test := range map[string]struct {
		lost                    bool
		wantRoom, wantElsewhere int
	}{
		"away":       {true, 0, 4},
		"back again": {false, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			four := map[corev1.ResourceName]string{corev1.ResourceCPU: "4", corev1.ResourcePods: "9"}
			node := plugintest.MakeNode("beijing", 0).Capacity(four).Obj()
			if test.lost {
				node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
			}
			a := advisertest.New(t, served(t).WithObjects(
				plugintest.Site("beijing"), plugintest.Site("hangzhou"), node, plugintest.MakeNode("hangzhou", 0).Capacity(four).Obj(),
			).Build())
			a.Promise("somebody", []adviser.Promise{{Cluster: "beijing", Pod: pod, Copies: 3, Away: true}})
			if err := a.Ask(t.Context(), nil, func(s *simulator.Snapshot) error {
				for site, want := range map[string]int{"beijing": test.wantRoom, "hangzhou": test.wantElsewhere} {
					room, err := s.Room(t.Context(), site, pod, 9)
					if err != nil {
						return err
					}
					if room.Copies != want {
						t.Errorf("%s takes %d copies beside what was promised, want %d", site, room.Copies, want)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
