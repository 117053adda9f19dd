// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth.dev/berth/test/internal/oracle"
)

// Awaited returns how many pods Kubernetes has still to remove, because their node does not exist,
// and how many it has still to make. Nothing can be quiet before. Its controller waits for up to
// five minutes for a pod that it has made and not seen, such as one that was deleted just before
// its watch broke off.
func (j *Judge) Awaited() (removed, made int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, pod := range j.pods {
		if pod.Spec.NodeName != "" && !j.nodes[pod.Spec.NodeName] {
			removed++
		}
	}
	for _, w := range j.workloads {
		made += max(0, w.replicas-w.pods)
	}
	return removed, made
}

// Unsettled returns what must not be the case once nothing has happened for a while: pods that are
// missing, pods that wait although they would fit, shares that are not exact, and a status that is
// no recount.
func (j *Judge) Unsettled() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, name := range slices.Sorted(maps.Keys(j.workloads)) {
		j.checkWorkload(j.workloads[name], say)
	}
	for _, name := range slices.Sorted(maps.Keys(j.resources)) {
		j.checkResource(name, say)
	}
	return list
}

// History returns what happened to the pods of the workloads that wait or are where they should
// not be.
func (j *Judge) History() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	about := []string{"nodes"}
	about = slices.AppendSeq(about, maps.Keys(j.pools))
	for _, w := range j.workloads {
		unsettled := false
		j.checkWorkload(w, func(string, ...any) { unsettled = true })
		if !unsettled {
			continue
		}
		about = append(about, w.name)
		for _, pod := range j.pods {
			if pod.Labels[appLabel] == w.name && (pod.Spec.NodeName == "" || w.surplusAt(SiteOf(pod.Spec.NodeName))) {
				about = append(about, pod.Name)
			}
		}
	}
	return j.history(about)
}

func (w *workload) surplusAt(site string) bool {
	want := w.shares()
	return want != nil && w.placed[site] > want[site]
}

// checkWorkload compares where the pods of a workload are with where they should be.
func (j *Judge) checkWorkload(w *workload, say func(string, ...any)) {
	if w.pods != w.replicas {
		say("%s has %d pods and wants %d", w.name, w.pods, w.replicas)
	}
	want, got, waiting := w.shares(), map[string]int{}, w.pods
	for site, n := range w.placed {
		if waiting -= n; n > 0 {
			got[site] = n
		}
	}
	room := j.fits(w, want, got)
	if waiting > 0 && room {
		say("%d pods of %s wait although there is room: it has %v, its shares are %v, it asks for %d of %s, pools have left %v",
			waiting, w.name, got, want, w.asks, w.resource, j.left(w.resource))
	}
	if w.policy == nil {
		return
	}
	if waiting == 0 && w.asks == 0 && !maps.Equal(want, got) {
		say("%s has %v, its shares are %v", w.name, got, want)
	}
	checkShares(w, want, got, room, say)
	checkPolicy(w, want, got, say)
}

// checkShares compares where the pods of a workload are with its shares. A pod stays where it is
// one too many while no other site has room for it.
func checkShares(w *workload, want, got map[string]int, room bool, say func(string, ...any)) {
	for _, site := range slices.Sorted(maps.Keys(got)) {
		if got[site] > want[site] && room {
			say("%s has %d pods at %s, its share is %d", w.name, got[site], site, want[site])
		}
	}
}

// fits reports whether a pod of a workload could be bound: at a site where its share is not used up
// a pool has enough left. The nodes of each site have room for all.
func (j *Judge) fits(w *workload, want, got map[string]int) bool {
	if w.asks == 0 {
		return true
	}
	for key, pool := range j.pools {
		resource, name, _ := strings.Cut(key, "/")
		if resource != w.resource || pool.Capacity-j.used[key] < w.asks {
			continue
		}
		if w.policy == nil || got[name] < want[name] {
			return true
		}
		for site := range want {
			if name == Everywhere && got[site] < want[site] {
				return true
			}
		}
	}
	return false
}

// left returns what nobody holds of the pools of a ClusterResource.
func (j *Judge) left(resource string) map[string]int64 {
	left := map[string]int64{}
	for key, pool := range j.pools {
		if of, name, _ := strings.Cut(key, "/"); of == resource {
			left[name] = pool.Capacity - j.used[key]
		}
	}
	return left
}

// Everywhere is the name of the pools that all sites share. The others have the name of a site.
const Everywhere = "all"

// checkPolicy compares the status of a policy with a recount. It lists the clusters of the policy,
// and tells how many pods are beyond their shares or in other clusters.
func checkPolicy(w *workload, want, got map[string]int, say func(string, ...any)) {
	told, there, beyond, misplaced := map[string]int{}, map[string]int{}, 0, 0
	for _, placement := range w.policy.Status.Workloads {
		misplaced += int(placement.Misplaced)
		for _, entry := range placement.Clusters {
			if entry.Current > 0 {
				told[entry.Name] += int(entry.Current)
			}
		}
	}
	named := oracle.Weights(w.policy)
	for site, n := range got {
		beyond += max(0, n-want[site])
		if _, listed := named[site]; listed {
			there[site] = n
		}
	}
	if !maps.Equal(told, there) || misplaced != beyond {
		say("the status of policy %s lists %v, and %d misplaced, there are %v of %v", w.policy.Name, told, misplaced, got, want)
	}
}

// checkResource compares the status of a ClusterResource with a recount.
func (j *Judge) checkResource(name string, say func(string, ...any)) {
	listed := map[string]int64{}
	for _, entry := range j.resources[name].Status.Allocated {
		listed[entry.Name] = entry.Quantity.Value()
	}
	for _, entry := range j.resources[name].Spec.Capacity {
		if used := j.used[name+"/"+entry.Name]; listed[entry.Name] != used {
			say("the status of pool %s of %s lists %d in use, its pods hold %d", entry.Name, name, listed[entry.Name], used)
		}
	}
}
