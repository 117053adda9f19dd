// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
)

// scenariosVariable says how many random scenarios are played. The usual number takes seconds.
const scenariosVariable = "BERTH_SCENARIOS"

func scenarios() int {
	if n, err := strconv.Atoi(os.Getenv(scenariosVariable)); err == nil && n > 0 {
		return n
	}
	return 12
}

// TestAFreedUnitIsTakenInRandomScenarios lets pods of all kinds wait for the units of a resource,
// most of which cannot use what becomes free, and happen to them what may happen. One of them asks
// for one unit and nothing else: as long as it waits, all units are held again after each release.
func TestAFreedUnitIsTakenInRandomScenarios(t *testing.T) { //nolint:tparallel // its scenarios run side by side, and beside no other test
	seed, longest := uint64(time.Now().UnixNano()), &longest{}
	t.Cleanup(func() { t.Logf("the unit that took longest to be taken took %s", longest.took) })
	for n := range scenarios() {
		t.Run(fmt.Sprintf("seed=%d", seed+uint64(n)), func(t *testing.T) {
			t.Parallel()
			longest.note(newScenario(t, seed+uint64(n)).play())
		})
	}
}

// scenario is a scheduler with pods that wait for the resource matlab.
type scenario struct {
	*running
	*rand.Rand

	// units is how many there are of the pool of rack a, by which nobody is kept from using it.
	units   int
	front   []*corev1.Pod
	changed map[string]bool
}

func newScenario(t *testing.T, seed uint64) *scenario {
	t.Helper()
	s := &scenario{Rand: rand.New(rand.NewPCG(seed, seed)), changed: map[string]bool{}}
	s.units = 1 + s.IntN(3)
	cordoned := rackNode("c1", "c")
	cordoned.Spec.Unschedulable = true
	// With AllOf, what lies on rack b is charged to two pools, of which one lacks a unit for ever.
	mode, quantities := berthv1alpha1.AnyOf, []string{"all", strconv.Itoa(s.units)}
	if s.IntN(2) == 0 {
		mode, quantities = berthv1alpha1.AllOf, append(quantities, "b", "0")
	}
	s.running = run(t, cordoned, pools("matlab", mode, quantities...),
		pools("x", berthv1alpha1.AnyOf, "a", "9"), pools("y", berthv1alpha1.AnyOf, "b", "9"))
	return s
}

// longest is the longest of some times.
type longest struct {
	mu   sync.Mutex
	took time.Duration
}

func (l *longest) note(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = max(l.took, took)
}

// play lets all units be held, pods wait for them, things happen, and holders go one by one. It
// returns the longest time in which a unit was taken.
func (s *scenario) play() (longest time.Duration) {
	s.t.Helper()
	for i := range s.units {
		holder := onRack(asking(fmt.Sprint("holder-", i), "matlab", "1"), "a")
		s.Create(holder)
		s.ExpectBound(holder)
	}
	for i := range 3 + s.IntN(12) {
		s.front = append(s.front, s.waiting(i))
	}
	s.Create(s.front...)
	s.ExpectWaiting(s.front...)
	fits := onRack(asking("fits", "matlab", "1"), "a")
	s.Create(fits)
	s.ExpectWaiting(fits)
	for range 30 {
		if s.IntN(2) == 0 {
			s.happen()
		}
		if !s.release() {
			s.t.Fatal("the pod that fits has never been reached")
		}
		longest = max(longest, s.expectTaken(func() bool { return s.held() == s.units || s.placed(fits) }))
		if s.placed(fits) {
			return longest
		}
	}
	s.t.Fatal("others have taken every unit, more than there are of them")
	return 0
}

// waiting returns a pod of one of the kinds that wait before the one that fits.
func (s *scenario) waiting(i int) *corev1.Pod {
	amounts := [][]string{
		{"matlab", "1"}, {"matlab", "1"}, {"matlab", strconv.Itoa(1 + s.IntN(4))}, {"matlab", "1", "x", "1", "y", "1"},
		{"matlab", "1", "x", strconv.Itoa(8 + s.IntN(3))},
	}
	pod := withPriority(asking(fmt.Sprint("front-", i), amounts[s.IntN(len(amounts))]...), int32(s.IntN(3)*10))
	pod.Spec.PreemptionPolicy = ptr.To(corev1.PreemptNever)
	switch s.IntN(5) {
	case 0:
		onRack(pod, "c")
	case 1:
		onRack(pod, "b")
	case 2:
		withCPU(pod, "50")
	case 3:
		onRack(pod, "a")
	}
	return pod
}

// happen does something to the pods in front, or to one of them.
func (s *scenario) happen() {
	s.t.Helper()
	switch s.IntN(6) {
	case 0:
		s.Obstacle.Rejects.Store(!s.Obstacle.Rejects.Load())
	case 1:
		s.Obstacle.Gates.Store(!s.Obstacle.Gates.Load())
	case 2, 3:
		if waiting := s.waiters(); len(waiting) > 0 {
			s.Delete(waiting[s.IntN(len(waiting))])
		}
	case 4:
		amounts := [][]string{{"maple", "1"}, {"matlab", "500m"}, {"matlab", "9"}}
		s.change(amounts[s.IntN(len(amounts))])
	default:
		more := s.waiting(100 + len(s.front))
		s.front = append(s.front, more)
		s.Create(more)
	}
}

// change lets a pod in front ask for something that there is not. The fake API server carries out
// a Binding of a pod that has changed meanwhile, so only pods that cannot be placed are changed.
func (s *scenario) change(amounts []string) {
	s.t.Helper()
	for _, pod := range s.waiters() {
		if pod.Spec.NodeSelector["rack"] != "c" || s.changed[pod.Name] {
			continue
		}
		s.changed[pod.Name] = true
		pod.Annotations = asking("", amounts...).Annotations
		pod.ResourceVersion = "2"
		if _, err := s.Kube.CoreV1().Pods("default").Update(s.t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			s.t.Fatal(err)
		}
		return
	}
}

// pods returns those pods for which a condition holds.
func (s *scenario) pods(condition func(*corev1.Pod) bool) []*corev1.Pod {
	s.t.Helper()
	list, err := s.Kube.CoreV1().Pods("default").List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var found []*corev1.Pod
	for i := range list.Items {
		if condition(&list.Items[i]) {
			found = append(found, &list.Items[i])
		}
	}
	return found
}

// waiters returns the pods in front that have no node.
func (s *scenario) waiters() []*corev1.Pod {
	s.t.Helper()
	return s.pods(func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" && strings.HasPrefix(pod.Name, "front") })
}

// release deletes one of the holders.
func (s *scenario) release() bool {
	s.t.Helper()
	holders := s.pods(func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" })
	if len(holders) == 0 {
		return false
	}
	s.Delete(holders[s.IntN(len(holders))])
	return true
}

// held returns how many units are held.
func (s *scenario) held() (units int) {
	s.t.Helper()
	for _, pod := range s.pods(func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" }) {
		charges, _ := stamp.ChargesOf(pod)
		for _, c := range charges {
			if c.Resource == "matlab" && c.Pool == "all" {
				units += int(c.Quantity.Value())
			}
		}
	}
	return units
}
