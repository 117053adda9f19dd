// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// Licence has 10.
func TestPodsAreHeldWhileAllThatIsFreeMayBeTaken(t *testing.T) {
	next := wants("next", "1")
	for name, tc := range map[string]struct {
		held    string
		listed  []*corev1.Pod
		settled []types.UID
		unknown bool
		pod     *corev1.Pod
		want    bool
	}{
		"nobody waited":                   {pod: next},
		"late bindings may take all":      {listed: []*corev1.Pod{wants("p", "10")}, pod: next, want: true},
		"late bindings may take more":     {listed: []*corev1.Pod{wants("p", "9"), wants("q", "2")}, pod: next, want: true},
		"something is left":               {listed: []*corev1.Pod{wants("p", "9500m")}, pod: next},
		"nothing was free":                {held: "10", listed: []*corev1.Pod{wants("p", "10")}, pod: next},
		"all of the little that was free": {held: "9", listed: []*corev1.Pod{wants("p", "1")}, pod: next, want: true},
		"only the pod itself may take it": {listed: []*corev1.Pod{wants("p", "10")}, pod: wants("p", "10")},
		"another one may take it, too":    {listed: []*corev1.Pod{wants("p", "10"), wants("q", "10")}, pod: wants("p", "10"), want: true},
		"one has been settled": {
			listed: []*corev1.Pod{wants("p", "5"), wants("q", "5")}, settled: []types.UID{"p"}, pod: next,
		},
		"nothing is asked for":      {listed: []*corev1.Pod{wants("p", "10")}, pod: waiting("plain")},
		"it cannot be read":         {listed: []*corev1.Pod{wants("p", "10")}, pod: wants("next", "much")},
		"the pools are not known":   {listed: []*corev1.Pod{wants("p", "10")}, unknown: true, pod: next},
		"who waited cannot be read": {listed: []*corev1.Pod{wants("p", "much")}, pod: next},
	} {
		t.Run(name, func(t *testing.T) {
			late := lateFrom(tc.held, tc.listed...)
			for _, uid := range tc.settled {
				late.Settled(uid)
			}
			r := resources(licence(0)).Get("licence").Pools
			if tc.unknown {
				r = nil
			}
			pools := func(string) *pool.Resource { return r }
			if got := late.Hold(tc.pod, pools); got != tc.want {
				t.Errorf("held: %t, want %t", got, tc.want)
			}
			if got := namesOf(late.LetGo()); (len(got) == 1) != tc.want {
				t.Errorf("%v are let go", got)
			}
			if late.Hold(tc.pod, pools) {
				t.Error("it is held after all have been let go")
			}
		})
	}
}

func TestWhoIsHeldIsFreedOnce(t *testing.T) {
	late := lateFrom("", wants("p", "5"), wants("q", "5"), wants("r", "1"))
	r := resources(licence(0)).Get("licence").Pools
	pools := func(string) *pool.Resource { return r }
	for _, pod := range []*corev1.Pod{wants("r", "1"), wants("next", "1"), wants("next", "1")} {
		if !late.Hold(pod, pools) {
			t.Errorf("pod %s is not held", pod.Name)
		}
	}
	late.Settled("q")
	late.Hold(wants("later", "1"), pools)
	if diff := cmp.Diff([]string{"next", "r"}, namesOf(late.Freed(pools))); diff != "" {
		t.Errorf("freed (-want +got):\n%s", diff)
	}
	if again := late.Freed(pools); len(again) > 0 {
		t.Errorf("%v are freed again", namesOf(again))
	}
	late = lateFrom("", wants("p", "10"))
	late.Hold(wants("next", "1"), pools)
	if freed := late.Freed(pools); len(freed) > 0 {
		t.Errorf("%v are freed while all may be taken", namesOf(freed))
	}
}

// Licence has 10, of which two late Bindings may take 2. Of twelve pods that ask for one each the
// first eight of the queue can be served, and the others would be tried in vain.
func TestThoseAreTriedForWhomThereIsEnough(t *testing.T) {
	late := NewLate()
	reader := &Reader{Pending: ledger.NewPending(), Late: late, Known: known, Bound: func() int { return 2 }, Ended: func() {}}
	reader.Begin()
	var pods []*corev1.Pod
	for i := range 12 {
		pods = append(pods, wants(fmt.Sprintf("p-%02d", i), "1", func(p *corev1.Pod) {
			p.CreationTimestamp = metav1.Unix(int64(i), 0)
			if i == 11 {
				p.Spec.Priority = ptr.To[int32](10)
			}
		}))
		reader.Read(pods[i], true)
	}
	reader.End()
	r := resources(licence(0)).Get("licence").Pools
	pools := func(string) *pool.Resource { return r }
	var held []string
	for _, pod := range append(pods, wants("new", "1")) {
		if late.Hold(pod, pools) {
			held = append(held, pod.Name)
		}
	}
	if diff := cmp.Diff([]string{"p-07", "p-08", "p-09", "p-10", "new"}, held); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
	for i := range 7 {
		late.Settled(pods[i].UID)
	}
	if diff := cmp.Diff([]string{"new", "p-07", "p-08", "p-09", "p-10"}, namesOf(late.Freed(pools))); diff != "" {
		t.Errorf("freed when the pods that are left ask for less than there was (-want +got):\n%s", diff)
	}
}

// lateFrom is what a list has shown: so much of licence was held, and pods that waited.
func lateFrom(held string, listed ...*corev1.Pod) *LateUnits {
	late := NewLate()
	reader := &Reader{Pending: ledger.NewPending(), Late: late, Known: known, Bound: unbounded, Ended: func() {}}
	reader.Begin()
	if held != "" {
		reader.Read(holder("held", charge("", held)), false)
	}
	for _, pod := range listed {
		reader.Read(pod, true)
	}
	reader.End()
	return late
}

func namesOf(pods []*corev1.Pod) []string {
	names := make([]string, len(pods))
	for i, pod := range pods {
		names[i] = pod.Name
	}
	slices.Sort(names)
	return names
}
