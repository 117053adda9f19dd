// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/grouping"
	"berth.dev/berth/pkg/placement/promise"
	"berth.dev/berth/pkg/placement/rebalance"
)

const (
	// forgetEvicted is when an evicted pod that is still there counts again: then the eviction came
	// to nothing.
	forgetEvicted = 2 * time.Minute

	// firstRefusal and longestRefusal bound the pause before a pod that was refused is tried again;
	// it doubles each time.
	firstRefusal   = 5 * time.Second
	longestRefusal = 5 * time.Minute
)

// record is what one process remembers of the evictions of one workload. Nothing in it allows an
// eviction that the state of the cluster does not; all of it only holds evictions back. A process
// that knows nothing yet waits a cool-down first.
type record struct {
	// policy is the UID and generation of the policy that the record speaks of.
	policy policyVersion
	// roundAt is when the last round of evictions was last seen under way, or when the process
	// began to look.
	roundAt time.Time
	// open is true until all replicas are bound again after a round.
	open bool
	// misplaced is how many pods were misplaced when the round began, fruitless how many rounds in
	// a row changed nothing.
	misplaced, fruitless int
	// evictedAt is when a pod was evicted last.
	evictedAt time.Time
	// gone are the pods that were evicted but are still in the cache, with the time of the
	// eviction.
	gone map[types.UID]time.Time
	// asked are the pods whose eviction had no clear answer and may yet be carried out, with the time
	// at which it was asked for last.
	asked map[types.UID]time.Time
	// refusals are the pods that the API server did not let go, most likely for a
	// PodDisruptionBudget.
	refusals map[types.UID]refusal
	// held is the reason last told by an event.
	held rebalance.Reason
	// promised is the room that was found for replacements of evicted pods, and making how long it is
	// kept for those of which nobody has made a pod.
	promised []adviser.Promise
	making   promise.State
	// told reports that others may know of room that was promised.
	told bool
	// limits are what is known of clusters that pods wait for in vain.
	limits limits
	// lacks are the units that pods could be moved with if they were granted elsewhere.
	lacks []adviser.Lack
	// noRoomUntil is until when it is known that no cluster has room.
	noRoomUntil time.Time
	// reordering is how far pods have got into an order that nobody has asked for.
	reordering rebalance.Reordering
}

type policyVersion struct {
	uid        types.UID
	generation int64
}

type refusal struct {
	until time.Time
	pause time.Duration
	// keep is Refused if it was for a PodDisruptionBudget, and Failing otherwise.
	keep rebalance.Keep
}

func (r *record) evicted(pod types.UID) bool {
	_, evicted := r.gone[pod]
	return evicted
}

// mayGo reports whether an eviction of a pod may be carried out that had no clear answer.
func (r *record) mayGo(pod types.UID) bool {
	_, asked := r.asked[pod]
	return asked
}

// noteAsked notes that nobody knows what became of an eviction.
func (r *record) noteAsked(pod types.UID, now time.Time) {
	if r.asked == nil {
		r.asked = map[types.UID]time.Time{}
	}
	r.asked[pod] = now
}

// refused returns why the API server did not let a pod go a short while ago, Movable if it did not
// refuse.
func (r *record) refused(pod types.UID, now time.Time) rebalance.Keep {
	if refusal := r.refusals[pod]; now.Before(refusal.until) {
		return refusal.keep
	}
	return rebalance.Movable
}

// noteEvicted notes that a pod was evicted in the round that is under way.
func (r *record) noteEvicted(pod types.UID, now time.Time) {
	r.open, r.roundAt, r.evictedAt = true, now, now
	if r.gone == nil {
		r.gone = map[types.UID]time.Time{}
	}
	r.gone[pod] = now
}

// mayReplace reports whether a pod was made after the latest eviction. The API server tells times
// to the second.
func (r *record) mayReplace(pod *corev1.Pod) bool {
	return !r.evictedAt.IsZero() && !pod.CreationTimestamp.Time.Before(r.evictedAt.Truncate(time.Second))
}

// noteRefused notes that a pod may not be evicted now, and why. It is left alone for at least as
// long as the API server asked for.
func (r *record) noteRefused(pod types.UID, now time.Time, atLeast time.Duration, keep rebalance.Keep) {
	pause := min(max(2*r.refusals[pod].pause, firstRefusal, atLeast), max(longestRefusal, atLeast))
	if r.refusals == nil {
		r.refusals = map[types.UID]refusal{}
	}
	r.refusals[pod] = refusal{until: now.Add(pause), pause: pause, keep: keep}
}

// update brings the record up to date with the pods in the cache. It forgets what is no longer
// needed.
func (r *record) update(version policyVersion, pods []*corev1.Pod, now time.Time) {
	if r.policy != version {
		if r.policy != (policyVersion{}) {
			r.reordering.Ask()
		}
		r.policy, r.fruitless, r.noRoomUntil = version, 0, time.Time{}
	}
	if len(r.gone) == 0 && len(r.refusals) == 0 && len(r.asked) == 0 {
		return
	}
	present := make(map[types.UID]bool, len(pods))
	for _, pod := range pods {
		present[pod.UID] = true
	}
	for _, evictions := range []map[types.UID]time.Time{r.gone, r.asked} {
		maps.DeleteFunc(evictions, func(uid types.UID, at time.Time) bool { return !present[uid] || now.Sub(at) > forgetEvicted })
	}
	for uid := range r.refusals {
		if !present[uid] {
			delete(r.refusals, uid)
		}
	}
}

// follow closes the round once all replicas are bound again, and notes whether it was of any use.
// Pods that were evicted are not among those bound, whatever the cache says, so a cache that lags
// behind keeps the round open.
func (r *record) follow(complete bool, misplaced int, now time.Time) {
	if !r.open {
		return
	}
	if !complete {
		r.roundAt = now
		return
	}
	r.open = false
	if misplaced > 0 && misplaced >= r.misplaced {
		r.fruitless++
	} else {
		r.fruitless = 0
	}
}

// nextRefusalEnds returns how long it takes until the first refused pod may be tried again, 0 if
// there is none.
func (r *record) nextRefusalEnds(now time.Time) time.Duration {
	var next time.Duration
	for _, refusal := range r.refusals {
		if wait := refusal.until.Sub(now); wait > 0 && (next == 0 || wait < next) {
			next = wait
		}
	}
	return next
}

// notes are what is remembered of a namespace from one pass to the next. They belong to the pass of
// the namespace.
type notes struct {
	// policies are the compiled policies, and reported is when the status of each was written last.
	policies modelpolicy.Set
	reported map[*modelpolicy.Policy]time.Time
	// records are those of the workloads.
	records map[workload.ID]*record
	// autoscalers are those of the namespace as they were at some time, nil until somebody asks.
	autoscalers   []autoscalingv2.HorizontalPodAutoscaler
	autoscalersAt time.Time
	// peace is what was at rest after the last pass, nil if that failed.
	peace *peace
}

// next returns the notes for the pass after this one: without records, and without what concerns
// policies that are gone or have changed.
func (n *notes) next(policies []*berthv1alpha1.PropagationPolicy, sites *grouping.Sites) *notes {
	after := &notes{
		policies: modelpolicy.NewSet(policies, sites, n.policies), reported: map[*modelpolicy.Policy]time.Time{},
		records: map[workload.ID]*record{}, autoscalers: n.autoscalers, autoscalersAt: n.autoscalersAt,
	}
	for _, policy := range after.policies {
		after.reported[policy] = n.reported[policy]
	}
	return after
}

// memory holds the notes of all namespaces. It is safe for concurrent use.
type memory struct {
	mu         sync.Mutex
	began      time.Time
	namespaces map[string]*notes
}

// of returns the notes of a namespace, empty ones if there are none.
func (m *memory) of(namespace string) *notes {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.namespaces[namespace]; known != nil {
		return known
	}
	return &notes{}
}

// keep replaces the notes of a namespace, nil for none.
func (m *memory) keep(namespace string, n *notes) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n == nil {
		delete(m.namespaces, namespace)
		return
	}
	m.namespaces[namespace] = n
}
