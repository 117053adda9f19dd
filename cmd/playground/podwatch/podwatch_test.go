// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podwatch_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"berth.dev/berth/cmd/playground/podwatch"
)

const namespace = "demo"

// pod returns a pod of which something changes with each version.
func pod(name string, version int, conditions ...corev1.PodCondition) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(name), ResourceVersion: strconv.Itoa(version),
		},
		Spec:   corev1.PodSpec{NodeName: "node-of-" + name},
		Status: corev1.PodStatus{Conditions: conditions},
	}
}

func condition(kind corev1.PodConditionType, reason string) corev1.PodCondition {
	return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason}
}

func terminating(p *corev1.Pod) *corev1.Pod {
	p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	return p
}

func on(node string, p *corev1.Pod) *corev1.Pod {
	p.Spec.NodeName = node
	return p
}

func event(kind watch.EventType, object runtime.Object) watch.Event {
	return watch.Event{Type: kind, Object: object}
}

func TestRecorder(t *testing.T) {
	ready := condition(corev1.PodReady, "")
	evicted := condition(corev1.DisruptionTarget, "EvictionByEvictionAPI")
	preempted := condition(corev1.DisruptionTarget, "PreemptionByScheduler")
	start := []*corev1.Pod{pod("a", 1, ready), pod("b", 2, ready)}
	tests := map[string]struct {
		events []watch.Event
		end    []*corev1.Pod
		want   podwatch.Seen
	}{
		"nothing happens": {end: start, want: podwatch.Seen{MinReady: 2}},
		"a pod is added and becomes ready": {
			events: []watch.Event{event(watch.Added, pod("c", 3)), event(watch.Modified, pod("c", 4, ready))},
			end:    append(start[:2:2], pod("c", 4, ready)),
			want:   podwatch.Seen{MinReady: 2},
		},
		"a pod is evicted and replaced": {
			events: []watch.Event{
				event(watch.Modified, pod("a", 3, ready, evicted)),
				event(watch.Modified, terminating(pod("a", 4, ready, evicted))),
				event(watch.Added, pod("c", 5)),
				event(watch.Deleted, terminating(pod("a", 6, ready, evicted))),
				event(watch.Modified, pod("c", 7, ready)),
			},
			end: []*corev1.Pod{start[1], pod("c", 7, ready)},
			want: podwatch.Seen{
				MinReady: 1, Evicted: 1, Gone: []podwatch.Gone{{Name: "a", Node: "node-of-a", Evicted: true}},
			},
		},
		"a pod changes its node": {
			events: []watch.Event{event(watch.Modified, on("other", pod("b", 3, ready)))},
			end:    []*corev1.Pod{start[0], pod("b", 3, ready)},
			want:   podwatch.Seen{MinReady: 2, Rebound: []string{"b"}},
		},
		"a pod is deleted": {
			events: []watch.Event{event(watch.Deleted, terminating(pod("b", 3, ready)))},
			end:    start[:1],
			want:   podwatch.Seen{MinReady: 1, Gone: []podwatch.Gone{{Name: "b", Node: "node-of-b"}}},
		},
		"a preempted pod is not an evicted one": {
			events: []watch.Event{event(watch.Deleted, terminating(pod("b", 3, ready, preempted)))},
			end:    start[:1],
			want:   podwatch.Seen{MinReady: 1, Gone: []podwatch.Gone{{Name: "b", Node: "node-of-b"}}},
		},
		"an eviction under way counts": {
			events: []watch.Event{event(watch.Modified, terminating(pod("a", 3, ready, evicted)))},
			end:    []*corev1.Pod{terminating(pod("a", 3, ready, evicted)), start[1]},
			want:   podwatch.Seen{MinReady: 1, Evicted: 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, watcher := fakePods(tc.end, start)
			recorder, err := podwatch.Start(t.Context(), client, namespace, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range tc.events {
				watcher.Action(e.Type, e.Object)
			}
			got, err := recorder.Stop(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("seen (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecorderGoesOnWhenTheWatchIsDropped(t *testing.T) {
	ready := condition(corev1.PodReady, "")
	start := []*corev1.Pod{pod("a", 2, ready)}
	client, first := fakePods(nil, start)
	second := watch.NewFake()
	client.PrependWatchReactor("pods", func(action clienttesting.Action) (bool, watch.Interface, error) {
		watchAction, ok := action.(clienttesting.WatchActionImpl)
		return ok && watchAction.ListOptions.ResourceVersion == "3", second, nil
	})
	recorder, err := podwatch.Start(t.Context(), client, namespace, "")
	if err != nil {
		t.Fatal(err)
	}
	first.Modify(pod("a", 3, ready))
	first.Stop()
	second.Delete(terminating(pod("a", 4, ready)))
	got, err := recorder.Stop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := podwatch.Seen{Gone: []podwatch.Gone{{Name: "a", Node: "node-of-a"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}

func TestRecorderFailsWhenItMayHaveMissedSomething(t *testing.T) {
	client, watcher := fakePods([]*corev1.Pod{pod("a", 2)}, []*corev1.Pod{pod("a", 1)})
	recorder, err := podwatch.Start(t.Context(), client, namespace, "")
	if err != nil {
		t.Fatal(err)
	}
	watcher.Error(&metav1.Status{Code: http.StatusGone, Message: "too old"})
	if _, err := recorder.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("Stop() error = %v, want one that tells of the watch", err)
	}
}

// fakePods returns a client whose first list is start and whose later lists are end, with the
// watcher that it hands out.
func fakePods(end, start []*corev1.Pod) (*fake.Clientset, *watch.FakeWatcher) {
	client, watcher := fake.NewClientset(), watch.NewFake()
	lists := 0
	client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		lists++
		pods := end
		if lists == 1 {
			pods = start
		}
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "2"}}
		for _, p := range pods {
			list.Items = append(list.Items, *p)
		}
		return true, list, nil
	})
	client.PrependWatchReactor("pods", clienttesting.DefaultWatchReactor(watcher, nil))
	return client, watcher
}
