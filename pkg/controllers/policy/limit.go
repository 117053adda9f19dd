// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/caps"
	"berth.dev/berth/pkg/placement/grouping"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/rebalance"
)

const (
	// limitPause is the least time between two changes of the limits of a workload in the clusters of
	// one group.
	limitPause = time.Minute
	// maxLimited and maxLimitedClusters bound what one policy limits; the schema allows no more.
	maxLimited, maxLimitedClusters = 50, 200
	// maxLimitedBytes bounds them once more, as the names of workloads may be long. Beyond
	// maxReasonBytes it is no longer told why.
	maxLimitedBytes, maxReasonBytes = 30 << 10, 10 << 10
)

// limits are what is remembered of a workload in the clusters that are short of its replicas.
type limits struct {
	// clusters are the states by cluster.
	clusters map[string]caps.State
	// recalled reports that the status of the policy has been taken into account.
	recalled bool
	// changed is when those of the clusters of a group last changed, by group.
	changed map[int]time.Time
	// fullSince is since when misplaced pods have stayed because no cluster has room for them.
	fullSince time.Time
	expected  state.Expectation
	// limitedBy is what the scheduler said last.
	limitedBy string
}

// limiting is what decides on the limits of a workload.
type limiting struct {
	*pass
	in       *inForce
	placed   *placement
	memory   *limits
	patience []time.Duration
	before   *berthv1alpha1.LimitedWorkload
	waiting  []*corev1.Pod
	since    time.Time
}

// limit returns the workloads that get no more in some clusters than these run and have room for,
// and asks for another pass when that may change. Where it cannot be told how much room there is,
// the limits of the workload stay as they are, and the error says why.
func (p *pass) limit(ctx context.Context, in *inForce) ([]berthv1alpha1.LimitedWorkload, error) {
	if in.Err != nil {
		return nil, nil //nolint:nilerr // a policy that cannot be carried out limits nothing, and says so in its status
	}
	patience := grouping.Patience(in.policy.Spec.Placement.ClusterGroups)
	if !slices.ContainsFunc(patience, func(d time.Duration) bool { return d > 0 }) {
		return nil, nil
	}
	var list []berthv1alpha1.LimitedWorkload
	var errs []error
	for _, placed := range in.placements {
		if placed.Plan == nil {
			continue
		}
		l := &limiting{pass: p, in: in, placed: placed, memory: &placed.note.limits, patience: patience}
		l.before = modelpolicy.LimitedOf(in.policy, &placed.Workload)
		entry, err := l.decide(ctx)
		if err != nil {
			errs, entry = append(errs, err), ptr.Deref(l.before, berthv1alpha1.LimitedWorkload{})
		}
		if len(entry.Clusters) > 0 {
			list = append(list, entry)
		}
	}
	list = bounded(list)
	slices.SortFunc(list, func(a, b berthv1alpha1.LimitedWorkload) int {
		return cmp.Or(strings.Compare(a.Ref.Kind, b.Ref.Kind), strings.Compare(a.Ref.Name, b.Ref.Name), strings.Compare(a.Ref.Component, b.Ref.Component))
	})
	return list, errors.Join(errs...)
}

// bounded returns the first of the workloads, as far as the bounds allow.
func bounded(list []berthv1alpha1.LimitedWorkload) []berthv1alpha1.LimitedWorkload {
	var kept []berthv1alpha1.LimitedWorkload
	clusters, size := 0, 0
	for i := range list {
		entry := list[i]
		if clusters += len(entry.Clusters); clusters > maxLimitedClusters || len(kept) == maxLimited {
			break
		}
		if size > maxReasonBytes {
			entry.LimitedBy = ""
		}
		if size += bytesOf(&entry); size > maxLimitedBytes {
			break
		}
		kept = append(kept, entry)
	}
	return kept
}

// decide observes the clusters of a workload and returns its limits.
func (l *limiting) decide(ctx context.Context) (berthv1alpha1.LimitedWorkload, error) {
	l.recall()
	l.observe()
	wanted := map[int]int32{}
	for i := range l.placed.Desired {
		group := l.in.Order.GroupOf(i)
		state, known := l.memory.clusters[l.in.Order.Name(i)]
		if l.patience[group] == 0 || !known && l.placed.Desired[i] <= l.placed.Current[i] {
			delete(l.memory.clusters, l.in.Order.Name(i))
			continue
		}
		limit, limited, err := l.next(ctx, i, state)
		if err != nil {
			return berthv1alpha1.LimitedWorkload{}, err
		}
		if limited {
			wanted[i] = limit
		}
	}
	return l.entry(l.in.KeepLimits(l.atMostOften(wanted), l.before, l.placed.Replicas)), nil
}

// recall takes over what another process has decided. How long its pauses were is not told.
func (l *limiting) recall() {
	if l.memory.recalled {
		return
	}
	l.memory.recalled, l.memory.clusters, l.memory.changed = true, map[string]caps.State{}, map[int]time.Time{}
	if l.before == nil {
		return
	}
	l.memory.limitedBy = l.before.LimitedBy
	for _, c := range l.before.Clusters {
		i, named := l.in.Order.Index(c.Name)
		if !named {
			continue
		}
		pause := l.patience[l.in.Order.GroupOf(i)]
		l.memory.clusters[c.Name] = caps.State{
			Capped: true, Room: int64(c.Room), LimitedBy: l.before.LimitedBy, Retry: l.now.Add(pause), Pause: pause, Bound: int64(l.placed.Current[i]),
		}
	}
}

// observe finds out since when replicas have been short of a node: of a workload all of whose pods
// run, those are short that run elsewhere because there is no room where they belong.
func (l *limiting) observe() {
	var times []time.Time
	l.waiting, times = workload.WaitInVain(l.placed.Observed.Pods)
	missing, short := int64(0), 0
	for i := range l.placed.Desired {
		if lacking := l.placed.Desired[i] - l.placed.Current[i]; lacking > 0 {
			missing, short = missing+int64(lacking), short+1
		}
	}
	l.since = caps.Oldest(times, short, missing)
	if l.placed.decision.Held != rebalance.NoRoom || l.placed.pending > 0 {
		l.memory.fullSince = time.Time{}
		return
	}
	if l.memory.fullSince.IsZero() {
		l.memory.fullSince = l.now
	}
	l.since = l.memory.fullSince
}

// next moves the state of a cluster on, and returns its limit if it has one.
func (l *limiting) next(ctx context.Context, i int, before caps.State) (limit int32, limited bool, err error) {
	name := l.in.Order.Name(i)
	o := &caps.Observation{
		Now: l.now, Share: int64(l.placed.Desired[i]), Bound: int64(l.placed.Current[i]), Waiting: l.since,
		LimitedBy: names.Clip(workload.WhyPending(l.waiting)), GiveUpAfter: l.patience[l.in.Order.GroupOf(i)], Grows: true,
	}
	if err := l.look(ctx, i, before, o); err != nil {
		return 0, false, err
	}
	after := before.Next(o)
	wants := int64(l.in.Plan(l.placed.Replicas).Share(i))
	if after.Capped && after.Limit(o) >= wants || !after.Capped && o.Share <= o.Bound {
		delete(l.memory.clusters, name)
		return 0, false, nil
	}
	l.memory.clusters[name] = after
	if after.Capped && after.LimitedBy != "" {
		l.memory.limitedBy = after.LimitedBy
	}
	return int32(after.Limit(o)), after.Capped, nil
}

// look completes an observation where it decides on a limit, and asks for another pass when it
// will.
func (l *limiting) look(ctx context.Context, i int, before caps.State, o *caps.Observation) (err error) {
	due := before.Due(o)
	isDue := !due.IsZero() && !l.now.Before(due)
	if !before.Capped && !isDue {
		l.requeueAfter(max(0, due.Sub(l.now)))
		return nil
	}
	l.requeueAfter(roomAgain)
	o.Expected = isDue && l.memory.expected.Of(ctx, l.Live, l.waiting, l.now, &l.asked)
	o.Room, err = l.room(ctx, i, before)
	return err
}

// room returns how many more replicas a cluster takes. Where no pod of the workload waits or runs
// elsewhere nothing can be asked, and nothing has changed.
func (l *limiting) room(ctx context.Context, i int, before caps.State) (int64, error) {
	var sample *corev1.Pod
	if len(l.waiting) > 0 {
		sample = l.waiting[0]
	}
	for p, pod := range l.placed.bound {
		if sample == nil && l.placed.Shares.Pods[p].Cluster != i {
			sample = pod
		}
	}
	if sample == nil {
		return before.Room, nil
	}
	room, err := l.roomIn(ctx, l.in, l.placed, l.in.clusters[i], sample, int(l.placed.Replicas))
	return int64(room), err
}

// atMostOften returns the limits with those of the groups as they were that have changed a moment
// ago.
func (l *limiting) atMostOften(wanted map[int]int32) map[int]int32 {
	before := map[int]int32{}
	if l.before != nil {
		for _, c := range l.before.Clusters {
			if i, named := l.in.Order.Index(c.Name); named {
				before[i] = c.Replicas
			}
		}
	}
	allowed := map[int]int32{}
	for g := range l.patience {
		taken, other := l.ofGroup(wanted, g), l.ofGroup(before, g)
		if !maps.Equal(taken, other) {
			if wait := limitPause - l.now.Sub(l.memory.changed[g]); wait > 0 {
				l.requeueAfter(wait)
				taken = other
			} else {
				l.memory.changed[g] = l.now
			}
		}
		maps.Copy(allowed, taken)
	}
	return allowed
}

// ofGroup returns those of the limits that are of clusters of a group.
func (l *limiting) ofGroup(limits map[int]int32, group int) map[int]int32 {
	own := maps.Clone(limits)
	maps.DeleteFunc(own, func(i int, _ int32) bool { return l.in.Order.GroupOf(i) != group })
	return own
}

// entry returns what the status says of the limits.
func (l *limiting) entry(limits map[int]int32) berthv1alpha1.LimitedWorkload {
	entry := berthv1alpha1.LimitedWorkload{Ref: l.placed.Ref()}
	if len(limits) == 0 {
		return entry
	}
	entry.LimitedBy = l.memory.limitedBy
	for i, limit := range limits {
		name := l.in.Order.Name(i)
		entry.Clusters = append(entry.Clusters, berthv1alpha1.LimitedCluster{
			Name: name, Replicas: limit, Room: int32(l.memory.clusters[name].Room),
		})
	}
	slices.SortFunc(entry.Clusters, func(a, b berthv1alpha1.LimitedCluster) int { return strings.Compare(a.Name, b.Name) })
	return entry
}

// full tells the clusters that get no more.
func full(in *inForce) []string {
	told := make([]string, 0, len(in.policy.Status.Limited))
	for i := range in.policy.Status.Limited {
		limited := &in.policy.Status.Limited[i]
		clusters := make([]string, len(limited.Clusters))
		for j, c := range limited.Clusters {
			clusters[j] = fmt.Sprintf("%s (%d)", c.Name, c.Replicas)
		}
		told = append(told, fmt.Sprintf("these clusters are full for %s %s, so others have what is left: %s",
			limited.Ref.Kind, limited.Ref.Name, names.First(clusters, maxNames, ", ")))
	}
	return told
}
