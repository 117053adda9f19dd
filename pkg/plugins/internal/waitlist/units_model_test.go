// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// scheduler is a scheduler with its queue, as far as units of two pools go.
type scheduler struct {
	*rapid.T
	*units

	count    int
	free     [2]int64
	pods     map[types.UID]*job
	active   []*job
	cycle    *attempt
	released int
}

// job is a pod with what it asks for.
type job struct {
	pod   *corev1.Pod
	units int64
	pools []int
	// stuck is set while something else is in the way on every node, unseen if the plugin does not
	// even get to see the pod, gated if it does not enter the queue.
	stuck, unseen, gated bool
	asleep               bool
	// returned is set once it gave back what it got, so that it may pause.
	returned bool
	// from is the pool of which the pod holds units, -1 if it holds none.
	from int
	// vain counts its attempts that failed.
	vain int
}

// attempt is a scheduling cycle with what was free when it began.
type attempt struct {
	*job
	free  [2]int64
	cycle *waitlist.Cycle
	held  map[types.UID]bool
	// again is set if it was woken meanwhile.
	again bool
}

func newScheduler(t *testing.T, drawn *rapid.T) *scheduler {
	t.Helper()
	m := &scheduler{T: drawn, pods: map[types.UID]*job{}, units: newUnits(t, berthv1alpha1.AnyOf)}
	m.free = [2]int64{rapid.Int64Range(0, 3).Draw(drawn, "a"), rapid.Int64Range(0, 3).Draw(drawn, "b")}
	return m
}

var poolNames = []string{"a", "b"}

func (m *scheduler) arrive() {
	m.count++
	name := fmt.Sprint("pod-", m.count)
	j := &job{
		pod: withPriority(newPod(name, m.count), rapid.Int32Range(0, 2).Draw(m.T, "priority")), from: -1,
		units: rapid.Int64Range(1, 2).Draw(m.T, "units"),
		pools: rapid.SampledFrom([][]int{{0}, {1}, {0, 1}}).Draw(m.T, "pools"),
		stuck: rapid.IntRange(0, 2).Draw(m.T, "stuck") == 0,
	}
	m.pods[j.pod.UID] = j
	m.active = append(m.active, j)
}

// some returns one of the pods for which a condition holds, nil if there is none.
func (m *scheduler) some(condition func(*job) bool) *job {
	var found []*job
	for _, j := range m.pods {
		if condition(j) {
			found = append(found, j)
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, func(a, b *job) int { return waitlist.Compare(a.pod, b.pod) })
	return found[rapid.IntRange(0, len(found)-1).Draw(m.T, "who")]
}

// release deletes a holder.
func (m *scheduler) release() {
	j := m.some(func(j *job) bool { return j.from >= 0 })
	if j == nil {
		return
	}
	delete(m.pods, j.pod.UID)
	m.Drop(j.pod.UID)
	m.free[j.from] += j.units
	m.released++
	gone := j.pod.DeepCopy()
	if rapid.Bool().Draw(m.T, "the queue asks") {
		if asked := m.some(func(j *job) bool { return j.asleep && !j.gated }); asked != nil {
			m.WokenBy(asked.pod, gone, of(poolNames[j.from], strconv.FormatInt(j.units, 10)))
		}
	}
	m.Gone(gone, of(poolNames[j.from], strconv.FormatInt(j.units, 10)))
}

// wake is what the background does with pods that are chosen.
func (m *scheduler) wake() {
	for chosen := m.Chosen(); len(chosen) > 0; chosen = m.Chosen() {
		for _, pod := range chosen {
			j := m.pods[pod.UID]
			switch {
			case j == nil:
				m.Fatalf("pod %s is woken, and gone", pod.Name)
			case j.gated:
				m.Held(pod.UID)
			case m.cycle != nil && m.cycle.job == j:
				m.cycle.again = true
			case j.asleep:
				j.asleep = false
				m.active = append(m.active, j)
			}
		}
	}
}

func (m *scheduler) begin() {
	if m.cycle != nil || len(m.active) == 0 {
		return
	}
	j := m.active[0]
	m.active = m.active[1:]
	m.cycle = &attempt{job: j, free: m.free, held: map[types.UID]bool{}}
	for uid, other := range m.pods {
		m.cycle.held[uid] = other.from >= 0
	}
	m.cycle.cycle = &waitlist.Cycle{Began: m.Now(), Holds: func(pod types.UID) bool { return m.cycle.held[pod] }}
}

// finish ends the cycle: what is free was found when it began.
func (m *scheduler) finish() {
	c := m.cycle
	if c == nil {
		return
	}
	if !c.unseen {
		if m.decide(c) {
			m.cycle = nil
			return
		}
	}
	m.cycle = nil
	if m.pods[c.pod.UID] == nil {
		return // it went in its cycle
	}
	c.vain++
	c.asleep = !c.again
	if c.again {
		m.active = append(m.active, c.job)
	}
	m.Ended(c.pod.UID)
}

// decide reports whether the pod of an attempt gets what it asks for.
func (m *scheduler) decide(c *attempt) bool {
	seen := m.Observe(c.cycle, nil, slices.Values([]waitlist.Found{{Resource: m.disk, Own: c.free[:], All: c.free[:]}}))
	wants := waitlist.Need{Resource: "disk", Units: c.units, Sites: [][]string{nil}}
	from := -1
	for _, p := range c.pools {
		if c.free[p] >= c.units {
			from = p
		} else {
			wants.Sites[0] = append(wants.Sites[0], poolNames[p])
		}
	}
	if from < 0 {
		m.Rejected(c.pod, []waitlist.Need{wants}, true, seen)
		return false
	}
	m.Served(c.pod.UID, seen)
	if m.pods[c.pod.UID] == nil {
		m.Rejected(c.pod, []waitlist.Need{wants}, false, seen) // the scheduler may know too late
		return false
	}
	if c.stuck {
		if len(wants.Sites[0]) > 0 || rapid.Bool().Draw(m.T, "says so") {
			m.Rejected(c.pod, []waitlist.Need{wants}, false, seen)
		}
		return false
	}
	m.Reserved(c.pod.UID, of(poolNames[from], strconv.FormatInt(c.units, 10)))
	m.free[from] -= c.units
	c.from = from
	return true
}

// unbind takes back what a pod got.
func (m *scheduler) unbind() {
	j := m.some(func(j *job) bool { return j.from >= 0 })
	if j == nil {
		return
	}
	m.free[j.from] += j.units
	m.released++
	m.Returned(j.pod, of(poolNames[j.from], strconv.FormatInt(j.units, 10)))
	j.from, j.returned = -1, true
	m.active = append(m.active, j)
	m.Ended(j.pod.UID)
}

// vanish deletes a pod that holds nothing, also in its cycle.
func (m *scheduler) vanish() {
	j := m.some(func(j *job) bool { return j.from < 0 })
	if j == nil {
		return
	}
	delete(m.pods, j.pod.UID)
	m.gone[j.pod.UID] = true
	m.active = slices.DeleteFunc(m.active, func(other *job) bool { return other == j })
	m.Drop(j.pod.UID)
}

// change puts something else in the way of a pod, or takes it away, which wakes the pod.
func (m *scheduler) change() {
	j := m.some(func(j *job) bool { return j.from < 0 })
	if j == nil {
		return
	}
	switch rapid.IntRange(0, 2).Draw(m.T, "what") {
	case 0:
		j.stuck = !j.stuck
	case 1:
		j.unseen = !j.unseen
	default:
		j.gated = !j.gated
	}
	if j.gated {
		return // those in the queue are not asked again
	}
	switch {
	case m.cycle != nil && m.cycle.job == j:
		m.cycle.again = true
	case j.asleep:
		j.asleep = false
		m.active = append(m.active, j)
	}
}

// rest lets everything come to rest, and checks that nobody sleeps who could be served: before any
// time passes, but for those that pause, and after it.
func (m *scheduler) rest() {
	for range 1000 {
		m.wake()
		if m.cycle == nil && len(m.active) == 0 {
			m.check(func(j *job) bool { return !j.returned })
			m.clock.Step(time.Minute)
			m.Lapse()
			m.wake()
		}
		if m.cycle == nil && len(m.active) == 0 {
			m.check(func(*job) bool { return true })
			return
		}
		m.finish()
		m.begin()
	}
	m.Fatal("pods are tried again and again")
}

func (m *scheduler) check(of func(*job) bool) {
	for _, j := range m.pods {
		if !of(j) || !j.asleep || j.stuck || j.unseen || j.gated {
			continue
		}
		for _, p := range j.pools {
			if m.free[p] >= j.units {
				m.Fatalf("pod %s sleeps although %d units of pool %s are free", j.pod.Name, m.free[p], poolNames[p])
			}
		}
	}
}

func TestWhoFitsIsReachedWhateverHappens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newScheduler(t, rt)
		steps := []func(){
			m.arrive, m.arrive, m.release, m.release, m.wake, m.begin, m.begin, m.finish, m.finish, m.unbind, m.vanish, m.change, m.rest,
			func() { m.clock.Step(time.Second); m.Lapse() },
		}
		for range rapid.IntRange(1, 120).Draw(rt, "steps") {
			steps[rapid.IntRange(0, len(steps)-1).Draw(rt, "step")]()
		}
		m.rest()
		for uid := range m.pods {
			m.Drop(uid)
		}
		if kept := m.Kept(); kept > 0 {
			rt.Fatalf("something is kept of %d pods that are gone", kept)
		}
	})
}

// TestEachChangeCostsAPodOneAttempt lets pods wait that cannot be served whatever becomes free.
func TestEachChangeCostsAPodOneAttempt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newScheduler(t, rt)
		for range 30 {
			m.arrive()
		}
		m.rest()
		for _, j := range m.pods {
			j.vain = 0
			j.stuck = j.stuck || j.from < 0
		}
		m.released = 0
		for range 10 {
			m.release()
			if rapid.Bool().Draw(rt, "rest") {
				m.rest()
			}
		}
		m.rest()
		for _, j := range m.pods {
			if j.vain > m.released {
				rt.Fatalf("pod %s was tried %d times in vain after %d releases", j.pod.Name, j.vain, m.released)
			}
		}
	})
}
