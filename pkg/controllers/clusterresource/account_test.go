// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// balances returns what the status says of each pool, as "POOL held/holders free".
func balances(status *berthv1alpha1.ClusterResourceStatus) []string {
	lines := make([]string, len(status.Allocated))
	for i, p := range status.Allocated {
		lines[i] = fmt.Sprintf("%s %s/%d %s", p.Name, p.Quantity.String(), p.Holders, p.Free.String())
	}
	return lines
}

// namespaces returns "NAMESPACE held/holders".
func namespaces(status *berthv1alpha1.ClusterResourceStatus) []string {
	var lines []string
	for _, n := range status.TopNamespaces {
		lines = append(lines, fmt.Sprintf("%s %s/%d", n.Namespace, n.Quantity.String(), n.Holders))
	}
	return lines
}

// born returns the pod with an age in minutes.
func born(pod *corev1.Pod, minute int) *corev1.Pod {
	pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC))
	return pod
}

func inPhase(pod *corev1.Pod, phase corev1.PodPhase) *corev1.Pod {
	pod.Status.Phase = phase
	return pod
}

// leaving returns the pod while it is being deleted.
func leaving(pod *corev1.Pod) *corev1.Pod {
	pod.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	pod.Finalizers = []string{"example.com/slow"}
	return pod
}

func TestWhatPodsHold(t *testing.T) {
	rack := map[string]string{"rack": "a"}
	allOf := declared(of("rack-a", "3", "rack", "a"), of("all", "10"))
	allOf.Spec.Mode = berthv1alpha1.AllOf
	tests := map[string]struct {
		object         *berthv1alpha1.ClusterResource
		pods           []client.Object
		want           []string
		wantNamespaces []string
		wantWaiting    int32
	}{
		"nothing": {want: []string{"rack-a 0/0 3", "all 0/0 10"}},
		"what Berth charged counts, whatever the pools select": {
			pods: []client.Object{charged(pod("x", "p", "2"), "n2", "2", "rack-a")},
			want: []string{"rack-a 2/1 1", "all 0/0 10"}, wantNamespaces: []string{"x 2/1"},
		},
		"what others bound counts by its node": {
			pods: []client.Object{on(pod("x", "p", "2"), "n1")},
			want: []string{"rack-a 2/1 1", "all 0/0 10"}, wantNamespaces: []string{"x 2/1"},
		},
		"of those the oldest comes first": {
			pods: []client.Object{
				on(born(pod("x", "young", "3"), 2), "n1"), on(born(pod("y", "old", "2"), 1), "n1"),
			},
			want: []string{"rack-a 2/1 1", "all 3/1 7"}, wantNamespaces: []string{"x 3/1", "y 2/1"},
		},
		"after those that Berth charged": {
			pods: []client.Object{
				on(born(pod("x", "old", "2"), 1), "n1"), charged(born(pod("y", "young", "2"), 2), "n1", "2", "rack-a"),
			},
			want: []string{"rack-a 2/1 1", "all 2/1 8"}, wantNamespaces: []string{"x 2/1", "y 2/1"},
		},
		"on a node that is gone": {
			pods: []client.Object{charged(pod("x", "p", "1"), "gone", "1", "rack-a"), on(pod("x", "q", "1"), "gone")},
			want: []string{"rack-a 1/1 2", "all 1/1 9"}, wantNamespaces: []string{"x 2/2"},
		},
		"a pod that is being deleted holds until it is gone": {
			pods: []client.Object{leaving(charged(pod("x", "p", "1"), "n1", "1", "rack-a"))},
			want: []string{"rack-a 1/1 2", "all 0/0 10"}, wantNamespaces: []string{"x 1/1"},
		},
		"a pod that has ended holds nothing": {
			pods: []client.Object{
				inPhase(charged(pod("x", "p", "1"), "n1", "1", "rack-a"), corev1.PodSucceeded),
				inPhase(on(pod("x", "q", "1"), "n1"), corev1.PodFailed),
			},
			want: []string{"rack-a 0/0 3", "all 0/0 10"},
		},
		"a stamp of another pod counts for nothing": {
			pods: []client.Object{func() client.Object {
				copied := charged(pod("x", "p", "1"), "n2", "3", "rack-a")
				copied.UID = "another"
				return copied
			}()},
			want: []string{"rack-a 0/0 3", "all 1/1 9"}, wantNamespaces: []string{"x 1/1"},
		},
		"a pool that is declared no more": {
			pods: []client.Object{charged(pod("x", "p", "1"), "n1", "1", "gone"), charged(pod("x", "q", "1"), "n1", "1", "former")},
			want: []string{"rack-a 0/0 3", "all 0/0 10", "former 1/1 0", "gone 1/1 0"}, wantNamespaces: []string{"x 2/2"},
		},
		"with AllOf a namespace does not hold twice what it holds": {
			object: allOf,
			pods:   []client.Object{charged(pod("x", "p", "2"), "n1", "2", "rack-a", "all"), on(pod("x", "q", "1"), "n1")},
			want:   []string{"rack-a 3/2 0", "all 3/2 7"}, wantNamespaces: []string{"x 3/2"},
		},
		"pods without a node wait": {
			pods: []client.Object{
				pod("x", "p", "1"), pod("x", "cannot-be-read", "many"), leaving(pod("x", "q", "1")),
				inPhase(pod("x", "r", "1"), corev1.PodFailed),
			},
			want: []string{"rack-a 0/0 3", "all 0/0 10"}, wantWaiting: 1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.object == nil {
				tc.object = declared(of("rack-a", "3", "rack", "a"), of("all", "10"))
			}
			h := newHarness(t, append(tc.pods, tc.object.DeepCopy(), node("n1", rack), node("n2", nil))...)
			h.mustPass()
			status := &h.get("matlab").Status
			if diff := cmp.Diff(tc.want, balances(status)); diff != "" {
				t.Errorf("pools (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantNamespaces, namespaces(status)); diff != "" {
				t.Errorf("namespaces (-want +got):\n%s", diff)
			}
			if status.Waiting != tc.wantWaiting {
				t.Errorf("%d pods wait, want %d", status.Waiting, tc.wantWaiting)
			}
		})
	}
}

func TestTheTopNamespacesAreTen(t *testing.T) {
	objects := []client.Object{declared(of("all", "1000"))}
	for i := range 12 {
		namespace := fmt.Sprintf("team-%02d", i)
		objects = append(objects, charged(pod(namespace, "p", "1"), "n", strconv.Itoa(i+1), "all"))
	}
	h := newHarness(t, objects...)
	h.mustPass()
	got := namespaces(&h.get("matlab").Status)
	if len(got) != 10 || got[0] != "team-11 12/1" || got[9] != "team-02 3/1" {
		t.Errorf("namespaces: %v", got)
	}
}
