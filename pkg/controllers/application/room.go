// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/placement/rank"
	"berth.dev/berth/pkg/simulator"
)

// Adviser answers what fits where, see adviser.Adviser.
type Adviser interface {
	// Reserve puts a question to a snapshot, and promises what is returned before anybody else asks.
	Reserve(
		ctx context.Context, by string, except func(*adviser.Promise) bool,
		question func(*simulator.Snapshot) ([]adviser.Promise, error),
	) error
	// Promise replaces what somebody has promised.
	Promise(by string, promises []adviser.Promise)
	// Admit returns what the API server would make of a pod.
	Admit(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
	// OnChange lets a function be called after each change that may make another answer right.
	OnChange(listener func())
}

// promiseLife is how long the pods of a choice have room that nobody else is given, if they do not
// get nodes before that.
const promiseLife = time.Minute

// promise is the room that a choice has taken in a cluster and that its pods may not fill yet. To
// lose it means that some pods may have to wait for the next review.
type promise struct {
	cluster string
	needs   []need
	until   time.Time
}

// promiser is who promises room to an Application.
func promiser(app types.NamespacedName) string { return controllerName + " " + app.String() }

// open returns the room that the pods of an Application do not fill yet.
func (made *promise) open(p *pass, seen *observed) (open []adviser.Promise) {
	if made == nil || made.cluster != p.app.Status.ScheduledTo || !p.now.Before(made.until) {
		return nil
	}
	for i := range made.needs {
		n := &made.needs[i]
		if left := n.pods - seen.pods[n.policy][made.cluster].Bound; n.refused == "" && left > 0 {
			open = append(open, adviser.Promise{
				Owner: n.owner, Cluster: made.cluster, Pod: n.sample, Copies: int(min(left, math.MaxInt32)),
			})
		}
	}
	return open
}

// keepPromise takes back of the room that was promised to an Application what its pods fill now,
// and all that is left when its time is over.
func (r *Reconciler) keepPromise(p *pass, seen *observed) {
	if p.memo.promised == nil {
		return
	}
	open := p.memo.promised.open(p, seen)
	r.Adviser.Promise(promiser(client.ObjectKeyFromObject(p.app)), open)
	if len(open) == 0 {
		p.memo.promised = nil
		return
	}
	p.again(p.memo.promised.until.Sub(p.now))
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
	own := func(promised *adviser.Promise) bool {
		return slices.ContainsFunc(needs, func(n need) bool { return promised.IsTo(n.owner) })
	}
	by := promiser(client.ObjectKeyFromObject(p.app))
	return r.Adviser.Reserve(ctx, by, own, func(snapshot *simulator.Snapshot) ([]adviser.Promise, error) {
		q := &question{ctx: ctx, snapshot: snapshot, needs: needs, seen: seen, request: request, listed: listed}
		q.all = len(results) <= rank.MaxShown && p.isNew()
		anyway := p.app.Spec.WhenUnsatisfiable == berthv1alpha1.ScheduleAnyway
		narrowed := request.Require(rank.Room{Anyway: anyway, Further: q.further, Lacks: q.lacks}, results)
		if q.err != nil {
			return nil, q.err
		}
		choose(narrowed)
		if chosen := p.app.Status.ScheduledTo; chosen != "" && chosen != request.Current {
			p.memo.promised = &promise{cluster: chosen, needs: needs, until: p.now.Add(promiseLife)}
		}
		return p.memo.promised.open(p, seen), nil
	})
}

// isNew reports whether what is decided about has not been decided about before.
func (p *pass) isNew() bool {
	return p.app.Status.ScheduledTo == "" || p.changed()
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
		lack, q.err = q.lacksFor(cluster)
	}
	return lack
}

// lacksFor says what a cluster cannot take of all needs together, beside the pods that run there;
// empty if it takes everything.
func (q *question) lacksFor(cluster string) (string, error) {
	q.snapshot.Fork()
	defer q.snapshot.Revert()
	for i := range q.needs {
		n := &q.needs[i]
		if n.refused != "" {
			return n.object + ": " + n.refused, nil
		}
		there := min(n.pods, q.seen.pods[n.policy][cluster].Bound)
		if lack, err := q.snapshot.Take(q.ctx, cluster, n.object, n.sample, there, n.pods); err != nil || lack != "" {
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
