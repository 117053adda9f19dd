// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
	"berth.dev/berth/pkg/simulator"
)

// Adviser answers what fits where, see adviser.Adviser.
type Adviser interface {
	// Ask puts a question to a snapshot.
	Ask(ctx context.Context, question func(*simulator.Snapshot) error) error
	// Admit returns what the API server would make of a pod.
	Admit(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
	// OnChange lets a function be called after each change that may make another answer right.
	OnChange(listener func())
}

// promiseLife is how long the pods of a choice have room that nobody else is given, if they do not
// get nodes before that.
const promiseLife = time.Minute

// promise is the room that a choice has taken in a cluster and that its pods do not fill yet.
type promise struct {
	cluster string
	needs   []need
	until   time.Time
	// bound is how many pods of each need have got a node.
	bound []int64
}

// promises are those of all Applications. To lose them means that some pods may have to wait for
// the next review.
type promises struct {
	mu   sync.Mutex
	byID map[types.UID]promise
}

// put makes a promise to an Application in place of an earlier one.
func (p *promises) put(id types.UID, made promise) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID == nil {
		p.byID = map[types.UID]promise{}
	}
	p.byID[id] = made
}

// keep takes from the promise to an Application what its pods fill now.
func (p *promises) keep(id types.UID, seen *observed, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	made, found := p.byID[id]
	if !found {
		return
	}
	open := false
	made.bound = make([]int64, len(made.needs))
	for i := range made.needs {
		made.bound[i] = seen.pods[made.needs[i].policy][made.cluster].Bound
		open = open || made.bound[i] < made.needs[i].pods
	}
	if !open || !now.Before(made.until) {
		delete(p.byID, id)
		return
	}
	p.byID[id] = made
}

// others returns what has been promised to all but one Application, in some order that does not
// change.
func (p *promises) others(id types.UID, now time.Time) []promise {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []types.UID
	for other, made := range p.byID {
		if other != id && now.Before(made.until) {
			ids = append(ids, other)
		}
	}
	slices.Sort(ids)
	made := make([]promise, len(ids))
	for i := range ids {
		made[i] = p.byID[ids[i]]
	}
	return made
}

// chooseWithRoom makes room a condition of being eligible, chooses, and promises the room to the
// choice before anybody else asks.
func (r *Reconciler) chooseWithRoom(
	ctx context.Context, p *pass, request *rank.Query, results []rank.Ranked, objects []*object, seen *observed,
	choose func([]rank.Ranked),
) error {
	listed := listedWithoutRoom(p.app)
	if p.offline.waits {
		choose(results) // It stays where it is, whoever has room.
		return nil
	}
	if len(listed) == 0 && len(results) > 0 && seen.runsIn(request.Current) && results[0].Name == request.Current {
		choose(results) // It runs where it is best, so nobody needs to be asked.
		return nil
	}
	needs, err := r.needs(ctx, p, objects, seen)
	if err != nil {
		return err
	}
	if len(needs) == 0 {
		choose(results)
		return nil
	}
	return r.Adviser.Ask(ctx, func(snapshot *simulator.Snapshot) error {
		q := &question{ctx: ctx, snapshot: snapshot, needs: needs, seen: seen, request: request, listed: listed}
		q.all = len(results) <= rank.MaxShown && p.isNew()
		q.fill(r.promises.others(p.app.UID, p.now))
		anyway := p.app.Spec.WhenUnsatisfiable == berthv1alpha1.ScheduleAnyway
		narrowed := request.Require(rank.Room{Anyway: anyway, Further: q.further, Lacks: q.lacks}, results)
		if q.err != nil {
			return q.err
		}
		choose(narrowed)
		if chosen := p.app.Status.ScheduledTo; chosen != "" && chosen != request.Current {
			r.promises.put(p.app.UID, promise{cluster: chosen, needs: needs, until: p.now.Add(promiseLife)})
		}
		return nil
	})
}

// isNew reports whether what is decided about has not been decided about before.
func (p *pass) isNew() bool {
	return p.app.Status.ScheduledTo == "" || p.app.Generation != p.app.Status.ObservedGeneration
}

// question is what an Application asks the scheduler's plugins in one review.
type question struct {
	ctx      context.Context //nolint:containedctx // a question lives as long as one review
	snapshot *simulator.Snapshot
	needs    []need
	seen     *observed
	request  *rank.Query
	// listed are asked although a better cluster has room, and all says that so are all others.
	listed map[string]bool
	all    bool
	// err is the first failure: what is answered after that is void.
	err error
}

func (q *question) further(cluster string) bool { return q.all || q.listed[cluster] }

// lacks says what a cluster cannot take. The current one stays eligible while pods run there: for
// them it has room.
func (q *question) lacks(cluster string) (lack string) {
	if q.err == nil && (cluster != q.request.Current || !q.seen.runsIn(cluster)) {
		lack, q.err = lacks(q.ctx, q.snapshot, cluster, q.needs)
	}
	return lack
}

// fill places the pods of promises that have no node yet.
func (q *question) fill(promises []promise) {
	for _, made := range promises {
		for i := range made.needs {
			n := &made.needs[i]
			open := n.pods
			if made.bound != nil {
				open -= made.bound[i]
			}
			if n.refused == "" && open > 0 && q.err == nil {
				_, q.err = q.snapshot.Fill(q.ctx, made.cluster, n.sample, int(min(open, math.MaxInt32)))
			}
		}
	}
}

// lacks says what a cluster cannot take of all needs together; empty if it takes everything.
func lacks(ctx context.Context, snapshot *simulator.Snapshot, cluster string, needs []need) (string, error) {
	snapshot.Fork()
	defer snapshot.Revert()
	for i := range needs {
		n := &needs[i]
		if n.refused != "" {
			return n.object + ": " + n.refused, nil
		}
		if lack, err := snapshot.Take(ctx, cluster, n.object, n.sample, n.pods); err != nil || lack != "" {
			return lack, err
		}
	}
	return "", nil
}

// listedWithoutRoom returns the clusters that the last ranking shows without room. They are asked
// again at each review, so that what is shown stays true.
func listedWithoutRoom(app *berthv1alpha1.Application) map[string]bool {
	listed := map[string]bool{}
	for i := range app.Status.Ranking {
		if place := &app.Status.Ranking[i]; slices.Contains(place.Reasons, rank.WithoutRoom) {
			listed[place.Name] = true
		}
	}
	return listed
}

// runsIn reports whether pods of the Application run in a cluster.
func (s *observed) runsIn(cluster string) bool {
	for _, pods := range s.pods {
		if pods[cluster].Bound > 0 {
			return true
		}
	}
	return false
}
