// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// model is a scheduler with its queue, as far as one revision in clusters of places goes.
type model struct {
	*rapid.T
	list  *waitlist.List
	count int
	// room is how many places each cluster has free, holders who has the others, refuses what each
	// pod takes no place of.
	room    []int
	holders map[*corev1.Pod]int
	refuses map[types.UID][]int
	// gated are the pods that do not enter the queue, broken those whose attempts fail before
	// anybody sees what is free.
	gated, broken map[types.UID]bool

	active, sleeping []*corev1.Pod
	// cycle is that of the pod that is being scheduled, binding are those that have a place and are
	// not bound yet.
	cycle   *cycle
	binding []*corev1.Pod
	tried   int
	// elsewhere is how many pods somebody else has bound elsewhere.
	elsewhere int
}

type cycle struct {
	pod  *corev1.Pod
	room []int
	// missed are those who gave up their places since the cycle began, as the queue knows, unseen
	// those of whom it does not; again is set if the pod is to be tried once more, gone if it has
	// been deleted.
	missed []*corev1.Pod
	unseen []*corev1.Pod
	again  bool
	gone   bool
}

func newModel(t *rapid.T) *model {
	m := &model{T: t, holders: map[*corev1.Pod]int{}, refuses: map[types.UID][]int{},
		gated: map[types.UID]bool{}, broken: map[types.UID]bool{}}
	m.list = waitlist.New(newClock())
	m.room = rapid.SliceOfN(rapid.IntRange(0, 3), 1, 3).Draw(t, "room")
	return m
}

// wake is what the background does with pods that are chosen.
func (m *model) wake() {
	for chosen := m.list.Chosen(); len(chosen) > 0; chosen = m.list.Chosen() {
		m.wakeAll(chosen)
	}
}

func (m *model) wakeAll(pods []*corev1.Pod) {
	for _, pod := range pods {
		switch {
		case m.gated[pod.UID]:
			m.list.Held(pod.UID)
		case m.cycle != nil && m.cycle.pod == pod:
			m.cycle.again = true
		case slices.Contains(m.sleeping, pod):
			m.move(pod)
		}
	}
}

func (m *model) move(pod *corev1.Pod) {
	m.sleeping = slices.DeleteFunc(m.sleeping, func(p *corev1.Pod) bool { return p == pod })
	m.active = append(m.active, pod)
}

func (m *model) arrive() {
	m.count++
	pod := newPod(fmt.Sprint("pod-", m.count), m.count)
	if rapid.IntRange(0, 3).Draw(m.T, "picky") == 0 {
		m.refuses[pod.UID] = rapid.SliceOf(rapid.IntRange(0, len(m.room)-1)).Draw(m.T, "refuses")
	}
	m.active = append(m.active, pod)
}

// leave takes a holder away, and frees its place.
func (m *model) leave() {
	holders := make([]*corev1.Pod, 0, len(m.holders))
	for pod := range m.holders {
		holders = append(holders, pod)
	}
	if len(holders) == 0 {
		return
	}
	slices.SortFunc(holders, waitlist.Compare)
	m.free(holders[rapid.IntRange(0, len(holders)-1).Draw(m.T, "holder")])
}

// assumed returns a pod as an event has it, an object of its own.
func (m *model) assumed(holder *corev1.Pod, cluster int) *corev1.Pod {
	freed := holder.DeepCopy()
	freed.Spec.NodeName = strconv.Itoa(cluster)
	return freed
}

func (m *model) free(holder *corev1.Pod) {
	m.room[m.holders[holder]]++
	cluster := m.holders[holder]
	delete(m.holders, holder)
	m.announce(m.assumed(holder, cluster))
}

// announce lets the queue ask all pods that sleep about one that is gone.
func (m *model) announce(freed *corev1.Pod) {
	if m.cycle != nil {
		m.cycle.missed = append(m.cycle.missed, freed)
	}
	asked := slices.Clone(m.sleeping)
	if rapid.Bool().Draw(m.T, "the last are asked first") {
		slices.Reverse(asked)
	}
	for _, pod := range asked {
		if m.gated[pod.UID] {
			continue
		}
		if m.list.WokenBy(pod, freed, web) {
			m.move(pod)
		}
	}
}

// begin starts the cycle of the next pod; finish ends it.
func (m *model) begin() {
	if m.cycle != nil || len(m.active) == 0 {
		return
	}
	m.cycle = &cycle{pod: m.active[0], room: slices.Clone(m.room)}
	m.active = m.active[1:]
	m.tried++
}

// see judges the place of a pod that gave it up.
func (c *cycle) see(took int) waitlist.See {
	return func(freed *corev1.Pod) waitlist.Sight {
		if slices.Contains(c.missed, freed) || slices.Contains(c.unseen, freed) {
			return waitlist.Sight{}
		}
		cluster, err := strconv.Atoi(freed.Spec.NodeName)
		if err != nil {
			panic(err)
		}
		free := c.room[cluster]
		if took == cluster {
			free--
		}
		return waitlist.Sight{Seen: true, Cluster: int32(cluster), Free: free}
	}
}

func (m *model) finish() {
	c := m.cycle
	if c == nil {
		return
	}
	if cluster := m.choose(c); cluster >= 0 && !c.gone {
		m.list.Placed(c.pod.UID, c.see(cluster))
		m.cycle = nil
		m.room[cluster]--
		m.holders[c.pod] = cluster
		m.binding = append(m.binding, c.pod)
		return
	}
	if !m.broken[c.pod.UID] {
		m.list.Rejected(c.pod, web, c.see(-1))
	}
	m.cycle = nil
	if c.gone {
		m.list.Drop(c.pod.UID)
		return
	}
	again := c.again
	defer m.list.Ended(c.pod.UID)
	for _, freed := range c.missed {
		again = m.list.WokenBy(c.pod, freed, web) || again
	}
	if again {
		m.active = append(m.active, c.pod)
	} else {
		m.sleeping = append(m.sleeping, c.pod)
	}
}

// choose returns a cluster with a free place for the pod, -1 if there is none.
func (m *model) choose(c *cycle) int {
	var fit []int
	if m.broken[c.pod.UID] {
		return -1
	}
	for cluster, free := range c.room {
		if free > 0 && !slices.Contains(m.refuses[c.pod.UID], cluster) {
			fit = append(fit, cluster)
		}
	}
	if fit == nil {
		return -1
	}
	return rapid.SampledFrom(fit).Draw(m.T, "cluster")
}

// bind ends the binding of a pod, well or not. One that fails comes back into the queue.
func (m *model) bind() {
	if len(m.binding) == 0 {
		return
	}
	pod := m.binding[0]
	m.binding = m.binding[1:]
	if _, holds := m.holders[pod]; !holds {
		return // it was deleted meanwhile
	}
	if rapid.IntRange(0, 3).Draw(m.T, "fails") > 0 {
		m.list.Drop(pod.UID)
		return
	}
	freed := m.assumed(pod, m.holders[pod])
	m.room[m.holders[pod]]++
	delete(m.holders, pod)
	if rapid.Bool().Draw(m.T, "somebody else bound it elsewhere") {
		m.elsewhere++
		if m.cycle != nil {
			m.cycle.unseen = append(m.cycle.unseen, freed)
		}
		m.list.Drop(pod.UID)
		m.list.Unplaced(freed, web)
		return // the queue is told nothing
	}
	m.list.Unplaced(freed, web)
	m.announce(freed)
	m.active = append(m.active, pod)
}

// vanish deletes a pod that has no place.
func (m *model) vanish() {
	all := slices.Concat(m.sleeping, m.active)
	if m.cycle != nil && !m.cycle.gone && rapid.IntRange(0, 3).Draw(m.T, "in a cycle") == 0 {
		m.cycle.gone = true
		m.list.Drop(m.cycle.pod.UID)
		return
	}
	if len(all) == 0 {
		return
	}
	pod := all[rapid.IntRange(0, len(all)-1).Draw(m.T, "who")]
	gone := func(p *corev1.Pod) bool { return p == pod }
	m.sleeping, m.active = slices.DeleteFunc(m.sleeping, gone), slices.DeleteFunc(m.active, gone)
	m.list.Drop(pod.UID)
}

// change lets a pod that sleeps be kept out of the queue or fail before anybody sees what is free,
// or no longer, which wakes it.
func (m *model) change() {
	if len(m.sleeping) == 0 {
		return
	}
	pod := m.sleeping[rapid.IntRange(0, len(m.sleeping)-1).Draw(m.T, "who")]
	state := m.gated
	if rapid.Bool().Draw(m.T, "broken") {
		state = m.broken
	}
	if state[pod.UID] = !state[pod.UID]; !m.gated[pod.UID] {
		m.move(pod)
	}
}

// settle lets everything come to rest.
func (m *model) settle() {
	m.wake()
	defer m.wake()
	for m.cycle != nil || len(m.active) > 0 || len(m.binding) > 0 {
		m.finish()
		m.bind()
		m.begin()
		m.wake()
	}
}

// check checks that nobody sleeps who could take a free place.
func (m *model) check() {
	for cluster, free := range m.room {
		for _, pod := range m.sleeping {
			if m.gated[pod.UID] || m.broken[pod.UID] {
				continue
			}
			if free > 0 && !slices.Contains(m.refuses[pod.UID], cluster) {
				m.Fatalf("pod %s sleeps although cluster %d has free places: %v", pod.Name, cluster, m.room)
			}
		}
	}
}

// TestNoFreePlaceIsForgotten lets pods come, wait, hold places and go in any order.
func TestNoFreePlaceIsForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		rest := func() { m.settle(); m.check() }
		steps := []func(){m.arrive, m.arrive, m.leave, m.begin, m.begin, m.finish, m.finish, m.bind, m.vanish, m.change, m.wake, rest}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			steps[rapid.IntRange(0, len(steps)-1).Draw(t, "step")]()
		}
		rest()
		for _, pod := range m.sleeping {
			m.list.Drop(pod.UID)
		}
		if kept := m.list.Kept(); kept > 0 {
			t.Fatalf("something is kept of %d pods that are gone", kept)
		}
	})
}

// TestPodsAreTriedOnceForEachPlace frees one place after the other while many pods wait.
func TestPodsAreTriedOnceForEachPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		for range 40 {
			m.count++
			m.active = append(m.active, newPod(fmt.Sprint("pod-", m.count), m.count))
		}
		m.settle()
		waiting := len(m.sleeping)
		m.tried, m.elsewhere = 0, 0
		const places = 10
		freed := 0
		for range places {
			if len(m.holders) > 0 {
				freed++
			}
			m.leave()
			if rapid.Bool().Draw(t, "rest") {
				m.settle()
			}
		}
		m.settle()
		m.check()
		if placed := waiting - len(m.sleeping); placed != freed+m.elsewhere {
			t.Fatalf("%d pods got one of %d places", placed, freed+m.elsewhere)
		}
	})
}
