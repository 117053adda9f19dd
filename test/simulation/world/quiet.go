// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
)

// unsettled returns what must not be the case once nothing has happened for a while: pods that wait
// although they would fit, shares that are not exact, and a status that is no recount.
func (w *World) unsettled() []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	usage := w.usage()
	for _, l := range w.workloads {
		if l.fed != nil {
			w.checkFeed(l, usage, say)
			continue
		}
		w.checkWorkload(l, usage, say)
	}
	for _, a := range w.applications {
		w.checkApplication(a, say)
	}
	for _, name := range slices.Sorted(maps.Keys(w.pools)) {
		if listed := w.allocated(name); listed != usage[name] {
			say("the status of pool %s lists %d in use, its pods hold %d", name, listed, usage[name])
		}
	}
	return list
}

// checkWorkload compares where the pods of a workload are with where they should be.
func (w *World) checkWorkload(l *workload, usage map[string]int64, say func(string, ...any)) {
	want, got := w.shares(l), w.placed(l)
	waiting := w.waiting(l, got)
	fits := w.fits(l, usage, want, got)
	if waiting > 0 && fits {
		say("%d pods of %s wait although there is room: %s; it has %v, its shares are %v", waiting, l.name, w.reasons(l), got, want)
	}
	if !l.policy {
		return
	}
	for _, site := range slices.Sorted(maps.Keys(got)) {
		// A pod stays where it is one too many while no other site has room for it, or somebody else
		// would take what it gives back.
		if got[site] > want[site] && fits && !w.awaited(l, site, usage) {
			say("%s has %d pods at %s, its share is %d", l.name, got[site], site, want[site])
		}
	}
	if waiting == 0 && l.licences == 0 && !maps.Equal(want, got) {
		say("%s has %v, its shares are %v", l.name, got, want)
	}
	w.checkPolicy(l, got, say)
}

// waiting returns how many pods of a workload have no node, if so many have one at each site.
func (w *World) waiting(l *workload, got map[string]int) int {
	waiting := len(w.of(l))
	for _, n := range got {
		waiting -= n
	}
	return waiting
}

// reasons returns why the pods of a workload without a node wait, and in which Scheduler.
func (w *World) reasons(l *workload) string {
	var list []string
	for _, pod := range w.of(l) {
		if pod.Spec.NodeName != "" {
			continue
		}
		why := "untried"
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled {
				why = condition.Message
			}
		}
		list = append(list, fmt.Sprintf("%s in %q: %s", pod.Name, pod.Labels[berthv1alpha1.HomeSchedulerLabel], why))
	}
	return strings.Join(list, "; ")
}

// awaited reports whether a pod of another workload waits that could be bound if one of this
// workload at a site gave back what it holds.
func (w *World) awaited(l *workload, site string, usage map[string]int64) bool {
	without := maps.Clone(usage)
	for pool := range w.drawnOn(l, site) {
		without[pool] -= int64(l.licences)
	}
	for _, other := range w.workloads {
		if other == l || other.fed != nil || other.licences == 0 || l.licences == 0 {
			continue
		}
		got := w.placed(other)
		if w.waiting(other, got) > 0 && w.fits(other, without, w.shares(other), got) {
			return true
		}
	}
	return false
}

// drawnOn returns the pools of which pods of a workload at a site hold units.
func (w *World) drawnOn(l *workload, site string) map[string]bool {
	pools := map[string]bool{}
	for _, pod := range w.of(l) {
		charges, _ := stamp.ChargesOf(pod)
		for _, charge := range charges {
			if pod.Spec.NodeName != "" && w.siteOf(pod.Spec.NodeName) == site {
				pools[charge.Pool] = true
			}
		}
	}
	return pools
}

// fits reports whether a pod of a workload could be bound: at a site where its share is not used up
// a pool has enough left.
func (w *World) fits(l *workload, usage map[string]int64, want, got map[string]int) bool {
	for site := range w.sites {
		name := siteName(site)
		if l.policy && got[name] >= want[name] {
			continue
		}
		if l.licences == 0 {
			return true
		}
		for _, pool := range []string{"all", name} {
			if known := w.pools[pool]; known != nil && known.Capacity-usage[pool] >= int64(l.licences) {
				return true
			}
		}
	}
	return false
}

func (w *World) allocated(pool string) int64 {
	for _, entry := range w.status.Allocated {
		if entry.Name == pool {
			return entry.Quantity.Value()
		}
	}
	return 0
}

// checkPolicy compares the status of a policy with a recount.
func (w *World) checkPolicy(l *workload, got map[string]int, say func(string, ...any)) {
	policy := &berthv1alpha1.PropagationPolicy{}
	if !w.server.Read(policies, namespace, l.name, policy) {
		return
	}
	told := 0
	for _, placement := range policy.Status.Workloads {
		for _, entry := range placement.Clusters {
			told += int(entry.Current)
			if int(entry.Current) != got[entry.Name] {
				say("the status of policy %s lists %d pods at %s, there are %d", l.name, entry.Current, entry.Name, got[entry.Name])
			}
		}
	}
	there := 0
	for _, entry := range policy.Spec.Placement.StaticWeightList {
		for _, site := range entry.ClusterNames {
			there += got[site]
		}
	}
	if told != there {
		say("the status of policy %s lists %d pods in all, in its clusters there are %d", l.name, told, there)
	}
}

// noteStatuses notes what Berth says of policies and Applications, for who looks for the cause of
// what has not come right.
func (w *World) noteStatuses() {
	for _, name := range slices.Sorted(maps.Keys(w.policies)) {
		if text, err := json.Marshal(w.policies[name].Status); err == nil {
			w.notef("policy %s: %s", name, text)
		}
	}
	for _, a := range w.applications {
		found := &berthv1alpha1.Application{}
		w.server.Read(applications, namespace, a.name, found)
		if text, err := json.Marshal(found.Status); err == nil {
			w.notef("application %s: %s", a.name, text)
		}
	}
}
