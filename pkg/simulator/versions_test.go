// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

// TestRoomAfterChangesIsThatOfANewSnapshot holds answers that were kept to those that are worked
// out anew, whatever has changed in between.
func TestRoomAfterChangesIsThatOfANewSnapshot(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fixed := append([]runtime.Object{plugintest.Site("beijing"), plugintest.Site("hangzhou")}, drawPools(rt, 0, "")...)
		samples := []*corev1.Pod{drawPod(rt, "first", "", 0), drawPod(rt, "second", "", 0)}
		s, there := snapshot(t, fixed...), map[string]runtime.Object{}
		for step := range rapid.IntRange(1, 8).Draw(rt, "steps") {
			site := drawChange(rt, step, s, there)
			all := slices.Clone(fixed)
			for _, name := range slices.Sorted(maps.Keys(there)) {
				all = append(all, there[name])
			}
			anew, sample := snapshot(t, all...), samples[step%2]
			limit := rapid.IntRange(1, 10).Draw(rt, fmt.Sprint(step, " limit"))
			for range 2 {
				got, err := s.Room(t.Context(), site, sample, limit)
				want, otherErr := anew.Room(t.Context(), site, sample, limit)
				if diff := cmp.Diff(want, got); err != nil || otherErr != nil || diff != "" {
					t.Fatalf("step %d, limit %d: %v, %v (-new +kept):\n%s", step, limit, err, otherErr, diff)
				}
				limit = rapid.IntRange(1, 10).Draw(rt, fmt.Sprint(step, " other limit"))
			}
		}
	})
}

// drawChange changes a node or a pod of a site, whose name it returns.
func drawChange(rt *rapid.T, step int, s *simulator.Snapshot, there map[string]runtime.Object) string {
	site := rapid.SampledFrom([]string{"beijing", "hangzhou"}).Draw(rt, fmt.Sprint(step, " site"))
	number := rapid.IntRange(0, 1).Draw(rt, fmt.Sprint(step, " number"))
	node, pod := fmt.Sprint("node ", site, number), "pod "+strconv.Itoa(number)
	kind := rapid.IntRange(0, 3).Draw(rt, fmt.Sprint(step, " kind"))
	if kind == 1 && there[node] != nil && there[pod] != nil {
		if err := s.Drop(there[pod]); err != nil {
			rt.Fatal(err)
		}
		delete(there, pod)
		return site
	}
	name, object := pod, runtime.Object(drawPod(rt, fmt.Sprint("other-", number), fmt.Sprint(site, "-", number), 0))
	if there[node] == nil || kind == 0 {
		name, object = node, drawNode(rt, site, number)
	}
	there[name] = object
	if err := s.Put(object); err != nil {
		rt.Fatal(err)
	}
	return site
}
