// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/test/internal/oracle"
)

// surplus is what is known of a workload at a site: how many pods too many it has there, and how
// many may be evicted for that.
type surplus struct {
	pods, due int
	// last is until when it had one too many.
	last time.Time
}

// note takes down how many pods there are too many now. For each that was added one may be evicted,
// also if the surplus ends by itself meanwhile: whoever evicts may not have heard of that.
func (s *surplus) note(pods int, now time.Time) {
	if s.over(now) {
		s.due = 0
	}
	s.due += max(0, pods-s.pods)
	if s.pods > 0 || pods > 0 {
		s.last = now
	}
	s.pods = pods
}

// over reports whether the surplus has ended so long ago that everybody knows.
func (s *surplus) over(now time.Time) bool {
	return s.pods == 0 && now.Sub(s.last) > oracle.Settled
}

// take reports whether one more may be evicted, and counts it.
func (s *surplus) take(now time.Time) bool {
	if s == nil || s.due == 0 || s.over(now) {
		return false
	}
	s.due--
	return true
}

// noteSurplus notes where a workload has more pods than its share.
func (w *World) noteSurplus() {
	for _, l := range w.workloads {
		want := w.shares(l)
		if want == nil {
			continue
		}
		placed := w.placed(l)
		for n := range w.sites {
			site := siteName(n)
			key := l.name + "/" + site
			if w.surplus[key] == nil {
				w.surplus[key] = &surplus{}
			}
			w.surplus[key].note(max(0, placed[site]-want[site]), time.Now())
		}
	}
}

// judgeEviction checks that a pod that is being evicted is one too many where it is, or was when
// that was decided.
func (w *World) judgeEviction(pod *corev1.Pod) {
	w.Counts.Evictions++
	if w.applicationOf(pod) != nil {
		return // see judgeTaken
	}
	if !w.surplus[pod.Labels["app"]+"/"+w.siteOf(pod.Spec.NodeName)].take(time.Now()) {
		l := w.workloadOf(pod.Labels["app"])
		w.violatef("pod %s on %s was evicted although its site has no pod too many: %s has %v, its shares are %v",
			pod.Name, pod.Spec.NodeName, l.name, w.placed(l), w.shares(l))
	}
}
