// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/test/internal/oracle"
)

// violatef notes that a promise is broken. The first counts.
func (w *World) violatef(format string, args ...any) {
	if w.violation == nil {
		w.violation = fmt.Errorf(format, args...)
		w.notef("VIOLATION: %v", w.violation)
	}
}

// nodeOf returns where a pod runs, empty for nowhere.
func nodeOf(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return pod.Spec.NodeName
}

// stays reports whether a pod is there and is not being deleted.
func stays(pod *corev1.Pod) bool { return pod != nil && pod.DeletionTimestamp == nil }

// judge checks what must hold at every revision, after a pod was changed.
func (w *World) judge(before, after *corev1.Pod) {
	if w.fuzzed {
		return // users may have changed everything
	}
	was, is := nodeOf(before), nodeOf(after)
	if w.fleet != nil {
		w.fleet.judgePod(before, after)
		return
	}
	switch {
	case was != "" && is != "" && was != is && before.UID == after.UID:
		w.violatef("pod %s was bound to %s and then to %s", after.Name, was, is)
	case was == "" && is != "":
		w.notef("pod %s is bound to %s, seat %s, charged %s", after.Name, after.Spec.NodeName,
			after.Annotations[berthv1alpha1.SeatAnnotation], after.Annotations[berthv1alpha1.ChargedAnnotation])
		w.Counts.Bound++
		w.judgePools(after)
		w.judgeHome(after)
		w.judgeCharges(after)
		w.judgeSeat(after)
	case w.acting != nil && stays(before) && !stays(after):
		w.notef("pod %s on %s is evicted by %s", before.Name, was, w.acting.process.program.Name)
		w.judgeEviction(before)
	}
	w.noteMarks(before, after)
	w.judgeTaken(before, after)
	w.noteSurplus()
}

// noteMarks notes to which Scheduler a pod is given, and what stamp a bound one gets.
func (w *World) noteMarks(before, after *corev1.Pod) {
	if before == nil || after == nil || before.UID != after.UID {
		return
	}
	if home := after.Labels[berthv1alpha1.HomeSchedulerLabel]; home != before.Labels[berthv1alpha1.HomeSchedulerLabel] {
		w.notef("pod %s is given to %q", after.Name, home)
	}
	was, is := stampOf(before), stampOf(after)
	if was != is && nodeOf(before) != "" {
		w.notef("pod %s has %s now", after.Name, is)
	}
}

// schedulers is the resource of those who share the Clusters.
const schedulers = "schedulers"

// noteGrants notes what is said about grants of ClusterResources, when it changes.
func (w *World) noteGrants(subject string, said any) {
	if text, err := json.Marshal(said); err == nil && w.told[subject] != string(text) {
		w.told[subject] = string(text)
		w.notef("%s: %s", subject, text)
	}
}

// stampOf returns what a pod's stamp says of its place.
func stampOf(pod *corev1.Pod) string {
	given, placed := stamp.Of(pod)
	if !placed {
		return "no stamp"
	}
	return fmt.Sprintf("seat %d of %s in %s", given.Seat, given.Policy, given.Cluster)
}

// holdings returns what the pods hold of the pools, by the name of the pool and by the Scheduler
// out of whose grant.
func (w *World) holdings() map[string]map[string]int64 {
	pools := map[string]map[string]int64{}
	for _, pod := range w.pods {
		charges, charged := stamp.ChargesOf(pod)
		if !oracle.Live(pod) || !charged {
			continue
		}
		for _, charge := range charges {
			if pools[charge.Pool] == nil {
				pools[charge.Pool] = map[string]int64{}
			}
			pools[charge.Pool][charge.Grantee] += charge.Quantity.Value()
		}
	}
	return pools
}

// usage returns what the pods hold of the pools, by name.
func (w *World) usage() map[string]int64 {
	sums := map[string]int64{}
	for pool, held := range w.holdings() {
		for _, quantity := range held {
			sums[pool] += quantity
		}
	}
	return sums
}

// judgePools checks that a pod that was just bound has left no pool over.
func (w *World) judgePools(bound *corev1.Pod) {
	charges, _ := stamp.ChargesOf(bound)
	if asked := w.asks(bound); asked > 0 && len(charges) == 0 {
		w.violatef("pod %s asks for %d licences and is bound without a charge", bound.Name, asked)
	}
	sums := w.usage()
	for _, charge := range charges {
		if most := w.pools[charge.Pool].Most(time.Now()); sums[charge.Pool] > most {
			w.violatef("pool %s is over: its pods hold %d of %d, the last was %s", charge.Pool, sums[charge.Pool], most, bound.Name)
		}
	}
}

// asks returns how many licences a pod asks for.
func (w *World) asks(pod *corev1.Pod) int {
	if l := w.workloadOf(pod.Labels["app"]); l != nil {
		return l.licences
	}
	return 0
}

// judgeSeat checks that nobody else has the seat of a pod that was just bound.
func (w *World) judgeSeat(bound *corev1.Pod) {
	given, placed := stamp.Of(bound)
	if !placed || given.Seat == stamp.NoSeat {
		return
	}
	for _, other := range w.pods {
		held, has := stamp.Of(other)
		if has && other.UID != bound.UID && oracle.Live(other) && other.DeletionTimestamp == nil && held == given &&
			other.OwnerReferences[0].UID == bound.OwnerReferences[0].UID && time.Since(w.edited[given.Policy]) > oracle.Settled {
			w.violatef("pods %s and %s both have seat %d of %s", other.Name, bound.Name, given.Seat, given.Policy)
		}
	}
}

// shares returns how many replicas of a workload its policy wants at each site.
func (w *World) shares(l *workload) map[string]int {
	if l.fed != nil {
		return w.sharesOfFeed(l)
	}
	policy := w.policies[l.name]
	if policy == nil || !l.policy {
		return nil
	}
	return oracle.Shares(oracle.Weights(policy), int(l.replicas))
}

// placed returns how many pods of a workload are at each site.
func (w *World) placed(l *workload) map[string]int {
	counts := map[string]int{}
	for _, pod := range w.staying[l.uid.UID] {
		if pod.Spec.NodeName != "" {
			counts[w.siteOf(pod.Spec.NodeName)]++
		}
	}
	return counts
}

func (w *World) siteOf(node string) string {
	site, _, _ := strings.Cut(node, "-node-")
	return site
}

func (w *World) sawResource(r *berthv1alpha1.ClusterResource) {
	w.judgeGrants(w.status.Grants, r)
	w.status = r.Status
	w.noteGrants("grants of "+r.Name, r.Status.Grants)
	for _, entry := range r.Spec.Capacity {
		quantity := entry.Quantity.Value()
		if w.pools[entry.Name] == nil {
			w.pools[entry.Name] = oracle.NewPool(quantity)
		}
		w.pools[entry.Name].Resize(quantity, time.Now())
	}
}

// sawPolicy notes what a policy wants. Those of Applications and Subscriptions are edited by Berth
// itself.
func (w *World) sawPolicy(found *berthv1alpha1.PropagationPolicy) {
	before := w.policies[found.Name]
	if w.policies[found.Name] = found; (found.Labels[berthv1alpha1.ApplicationLabel] != "" || bySubscription(found)) &&
		(before == nil || before.Generation != found.Generation) {
		w.edited[found.Name] = time.Now()
	}
	w.noteSurplus()
}
