// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/test/internal/oracle"
)

// appLabel names the workload of a pod.
const appLabel = "app"

// evicted is the reason that the API server gives a pod before it evicts it.
const evicted = "EvictionByEvictionAPI"

// seat is one of a policy in a cluster, for the pods of one owner. Pods in other clusters may have
// the same number for a while after clusters have come or gone.
type seat struct {
	stamp.Stamp
	owner types.UID
}

// seatOf returns the seat that a pod has.
func seatOf(pod *corev1.Pod) (seat, bool) {
	given, placed := stamp.Of(pod)
	owner := metav1.GetControllerOf(pod)
	if !placed || given.Seat == stamp.NoSeat || owner == nil || !oracle.Live(pod) || pod.DeletionTimestamp != nil {
		return seat{}, false
	}
	return seat{given, owner.UID}, true
}

// seePod judges a change of a pod, which is nil if it is gone.
func (j *Judge) seePod(c Change, after *corev1.Pod) {
	before := j.pods[c.Name]
	if before != nil && after != nil && before.UID != after.UID {
		j.seePod(Change{Name: c.Name, Revision: c.Revision}, nil)
		before = nil
	}
	pod := after
	if pod == nil {
		pod = before
	}
	if pod == nil || pod.Labels[appLabel] == "" {
		return
	}
	j.counts.Revisions++
	j.notePod(c, before, after)
	w := j.workload(pod.Labels[appLabel])
	j.noteSurplus(w) // it may have been there for long
	if before != nil {
		j.count(w, before, -1)
		delete(j.pods, c.Name)
	}
	if after != nil {
		j.count(w, after, 1)
		j.pods[c.Name] = after
	}
	j.judge(w, before, after)
	j.noteSurplus(w)
}

// count adds a pod to the sums, or takes it out of them.
func (j *Judge) count(w *workload, pod *corev1.Pod, n int) {
	if charges, charged := stamp.ChargesOf(pod); charged && oracle.Live(pod) {
		for _, charge := range charges {
			j.used[charge.Resource+"/"+charge.Pool] += int64(n) * charge.Quantity.Value()
		}
	}
	if s, has := seatOf(pod); has {
		if j.seats[s] == nil {
			j.seats[s] = map[types.UID]string{}
		}
		if j.seats[s][pod.UID] = pod.Name; n < 0 {
			delete(j.seats[s], pod.UID)
		}
	}
	if pod.DeletionTimestamp != nil {
		return
	}
	w.pods += n
	if pod.Spec.NodeName != "" {
		w.placed[SiteOf(pod.Spec.NodeName)] += n
	}
}

// judge checks what must hold after a change of a pod.
func (j *Judge) judge(w *workload, before, after *corev1.Pod) {
	switch {
	case after == nil:
	case before != nil && before.Spec.NodeName != "" && before.Spec.NodeName != after.Spec.NodeName:
		j.breakf([]string{after.Name}, "pod %s was bound to %s and then to %q", after.Name, before.Spec.NodeName, after.Spec.NodeName)
	case after.Spec.NodeName != "" && (before == nil || before.Spec.NodeName == ""):
		j.counts.Bindings++
		j.lastMove = j.now()
		j.judgePools(w, after)
		j.judgeSeat(w, after)
	case isEvicted(after) && !isEvicted(before):
		j.counts.Evictions++
		j.lastMove = j.now()
		j.judgeEviction(w, after)
	}
}

// judgePools checks that a pod that was just bound is charged, and has left no pool over.
func (j *Judge) judgePools(w *workload, bound *corev1.Pod) {
	charges, _ := stamp.ChargesOf(bound)
	if w.asks > 0 && len(charges) == 0 {
		j.breakf([]string{bound.Name}, "pod %s asks for %d of %s and is bound without a charge", bound.Name, w.asks, w.resource)
	}
	for _, charge := range charges {
		key := charge.Resource + "/" + charge.Pool
		if has := j.pools[key].Most(j.now()); j.used[key] > has {
			j.breakf(append(j.holders(key), key, "nodes"), "pool %s is over: its pods hold %d of %d, the last was %s",
				key, j.used[key], has, bound.Name)
		}
	}
}

// holders returns the pods that hold something of a pool.
func (j *Judge) holders(key string) (names []string) {
	for _, pod := range j.pods {
		charges, _ := stamp.ChargesOf(pod)
		for _, charge := range charges {
			if charge.Resource+"/"+charge.Pool == key && oracle.Live(pod) {
				names = append(names, pod.Name)
			}
		}
	}
	return names
}

// judgeSeat checks that nobody else has the seat of a pod that was just bound.
func (j *Judge) judgeSeat(w *workload, bound *corev1.Pod) {
	s, has := seatOf(bound)
	if has && len(j.seats[s]) > 1 && j.now().Sub(w.edited) > oracle.Settled {
		names := slices.Sorted(maps.Values(j.seats[s]))
		j.breakf(append(slices.Clone(names), w.name, "nodes"), "pods %v all have seat %s of %s", names, s.SeatText(), s.Policy)
	}
}

// judgeEviction checks that a pod that is evicted is one too many where it is, or was when that was
// decided.
func (j *Judge) judgeEviction(w *workload, pod *corev1.Pod) {
	site := SiteOf(pod.Spec.NodeName)
	if last, ever := w.surplus[site]; !ever || j.now().Sub(last) > oracle.Settled {
		j.breakf([]string{pod.Name, w.name, "nodes"}, "pod %s on %s was evicted although its site has no pod too many: %v of %v",
			pod.Name, pod.Spec.NodeName, w.placed, w.shares())
	}
}

func isEvicted(pod *corev1.Pod) bool {
	return pod != nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == evicted
	})
}
