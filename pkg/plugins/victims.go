// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"maps"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"

	"berth.dev/berth/pkg/history"
)

// victims are the pods that make way for others. Those of ClusterResource are told by it; those of
// other plugins are known by what these write into their status.
type victims struct {
	mu sync.Mutex
	// own are the victims of ClusterResource, until they are gone.
	own map[types.UID]bool
	// nominated is the pod that was last nominated to a node, by the name of the node, as long as it
	// waits.
	nominated map[string]*corev1.Pod
}

// removes notes that ClusterResource has a pod make way.
func (s *State) removes(victim *corev1.Pod) {
	if !s.History.On() {
		return
	}
	s.victims.mu.Lock()
	defer s.victims.mu.Unlock()
	if s.victims.own == nil {
		s.victims.own = map[types.UID]bool{}
	}
	s.victims.own[victim.UID] = true
}

// nominates notes that a pod was nominated to a node.
func (v *victims) nominates(pod *corev1.Pod, node string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.nominated == nil {
		v.nominated = map[string]*corev1.Pod{}
	}
	v.nominated[node] = pod
}

// waitsNoLonger forgets that a pod was nominated.
func (v *victims) waitsNoLonger(uid types.UID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.nominated, func(_ string, pod *corev1.Pod) bool { return pod.UID == uid })
}

// told reports whether ClusterResource tells of a victim.
func (v *victims) told(uid types.UID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.own[uid]
}

// serves reports whether the process places the pods of a schedulerName.
func (s *State) serves(schedulerName string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ours := s.profiles[schedulerName]
	return ours
}

// gone forgets a pod that is gone.
func (v *victims) gone(uid types.UID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.own, uid)
}

// noteVictim remembers that a plugin of Kubernetes had a pod make way, if that is what has changed.
func (s *State) noteVictim(before, after *corev1.Pod) {
	if !s.History.On() || preemptedBy(before) != "" {
		return
	}
	by := preemptedBy(after)
	if by == "" || !s.serves(by) || s.victims.told(after.UID) {
		return
	}
	s.History.Note(func() history.Entry {
		e := s.entry(after, history.Preempted)
		e.Message = "so that a pod of higher priority can run on node " + after.Spec.NodeName
		if asker := s.preemptorOf(after); asker != nil {
			asked := history.Pod(asker)
			e.For = &asked
		}
		return e
	})
}

// preemptedBy returns the schedulerName of the pod for which a pod makes way, empty if it does not.
func preemptedBy(pod *corev1.Pod) string {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler {
			by, _, _ := strings.Cut(c.Message, ":")
			return by
		}
	}
	return ""
}

// preemptorOf returns the pod for which another one makes way: the one that was last nominated to
// its node, or whose attempt goes on, which is nominated when that ends, and which may run there by
// now; or that says in its status that it is nominated; nil if there is none of higher priority.
func (s *State) preemptorOf(victim *corev1.Pod) *corev1.Pod {
	priority := schedulinghelpers.PodPriority(victim)
	s.victims.mu.Lock()
	last := s.victims.nominated[victim.Spec.NodeName]
	s.victims.mu.Unlock()
	for _, pod := range []*corev1.Pod{last, s.homes.failing()} {
		if pod != nil && schedulinghelpers.PodPriority(pod) > priority && s.base.mayRun(pod, victim.Spec.NodeName) {
			return pod
		}
	}
	pods, err := s.base.handle.SharedInformerFactory().Core().V1().Pods().Lister().List(labels.Everything())
	if err != nil {
		return nil // a cache does not fail
	}
	for _, pod := range pods {
		if pod.Status.NominatedNodeName == victim.Spec.NodeName && pod.Spec.NodeName == "" && schedulinghelpers.PodPriority(pod) > priority {
			return pod
		}
	}
	return nil
}
