// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package binding binds Clusters to Schedulers. What is recorded in the status of a Cluster is the
// truth; it changes in two phases, as pkg/placement/binding decides: the old scheduler is asked to
// drain, acknowledges that nothing of its own is under way any more, and then the Cluster moves.
// The controller owns the condition Bound of Clusters that exist, and the finalizers that keep
// Clusters and Schedulers until they are drained.
//
// One pass is over everything, and goes through these steps:
//
//	gather    all Schedulers and Clusters, from the cache             (controller.go)
//	decide    the Scheduler that each Cluster should have             (package binding of placement)
//	fence     take the Leases of dead Schedulers that lose something  (fence.go)
//	step      one step of each binding                                (package binding of placement)
//	write     finalizers, bindings and conditions                     (write.go)
//	commons   one step for what belongs to no Cluster                 (commons.go)
//	finalize  let Schedulers go that have given everything up         (finalize.go)
package binding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/placement/binding"
	"berth.dev/berth/pkg/placement/rendezvous"
)

// controllerName is the name of the controller in logs and metrics.
const controllerName = "binding"

const (
	// pause is how long a change waits for others.
	pause = 100 * time.Millisecond
	// again is the pause before the next pass while something is under way.
	again = 500 * time.Millisecond
	// writers is how many Clusters are written at a time.
	writers = 16
	// leastDrains and drainShare bound the clusters that drain at a time: a tenth of all, and at
	// least so many.
	leastDrains, drainShare = 10, 10
)

// Reconciler keeps the bindings.
type Reconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads Schedulers from the API server, for what must not be decided by an old state.
	Live client.Reader
	// Leases takes the Leases of schedulers that have died.
	Leases *state.Leases
	// Clock is the time that fences and drains go by.
	Clock clock.PassiveClock
	// By keeps clusters of one place with one scheduler, as far as the balance allows.
	By rendezvous.GroupBy

	drains drains
	sizes  sizes
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := builder.TypedControllerManagedBy[singleton.Key](mgr).
		Named(controllerName).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &berthv1alpha1.Cluster{},
			singleton.After[*berthv1alpha1.Cluster](pause), singleton.Changes(clusterChanged))).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &berthv1alpha1.Scheduler{},
			singleton.After[*berthv1alpha1.Scheduler](pause), singleton.Changes(schedulerChanged))).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the binding controller: %w", err)
	}
	return nil
}

func clusterChanged(before, after *berthv1alpha1.Cluster) bool {
	return before.Generation != after.Generation || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		before.Status.HomeRevision != after.Status.HomeRevision || sizeOf(before) != sizeOf(after) ||
		!slices.Equal(before.Finalizers, after.Finalizers) ||
		!apiequality.Semantic.DeepEqual(
			apimeta.FindStatusCondition(before.Status.Conditions, berthv1alpha1.ClusterBound),
			apimeta.FindStatusCondition(after.Status.Conditions, berthv1alpha1.ClusterBound))
}

func schedulerChanged(before, after *berthv1alpha1.Scheduler) bool {
	return before.Generation != after.Generation || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		!slices.Equal(before.Finalizers, after.Finalizers) ||
		!apiequality.Semantic.DeepEqual(before.Status.Drained, after.Status.Drained) || before.Status.Sharing != after.Status.Sharing ||
		!apiequality.Semantic.DeepEqual(before.Status.Commons, after.Status.Commons) || state.IsAlive(before) != state.IsAlive(after) ||
		closed(before) != closed(after)
}

func closed(s *berthv1alpha1.Scheduler) bool {
	return s.Status.Spending != nil && s.Status.Spending.Closed
}

// pass is one pass over everything.
type pass struct {
	*Reconciler
	objects    map[string]*berthv1alpha1.Scheduler
	schedulers binding.Schedulers
	clusters   []*berthv1alpha1.Cluster
	inputs     []binding.BoundCluster
	// unmade are those that do not exist yet, and that nobody has.
	unmade []*berthv1alpha1.Cluster
	// fencedUntil is until when the schedulers that were fenced are for certain.
	fencedUntil time.Time
}

// Reconcile makes one step with each binding.
func (r *Reconciler) Reconcile(ctx context.Context, _ singleton.Key) (reconcile.Result, error) {
	p, err := r.gather(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	desired, err := binding.DesiredBy(r.By, p.inputs, p.schedulers)
	if err != nil {
		return reconcile.Result{}, err
	}
	errFence := p.fence(ctx, desired)
	records, steps := binding.Steps(p.inputs, desired, p.schedulers, max(leastDrains, len(p.clusters)/drainShare))
	unfinished, err := p.writeClusters(ctx, desired, records, steps)
	behind, errUnmade := p.unmark(ctx)
	bound.set(p.sortedNames(), records)
	commons, errCommons := p.commons(ctx)
	leaving, errFinal := p.finalize(ctx, records)
	result := reconcile.Result{}
	if unfinished || behind || commons || leaving {
		result.RequeueAfter = again
	}
	return result, errors.Join(errFence, err, errUnmade, errCommons, errFinal)
}

func (r *Reconciler) gather(ctx context.Context) (*pass, error) {
	p := &pass{Reconciler: r, objects: map[string]*berthv1alpha1.Scheduler{}, schedulers: binding.Schedulers{}}
	var schedulers berthv1alpha1.SchedulerList
	if err := r.Client.List(ctx, &schedulers); err != nil {
		return nil, fmt.Errorf("listing schedulers: %w", err)
	}
	for i := range schedulers.Items {
		p.add(&schedulers.Items[i])
	}
	var clusters berthv1alpha1.ClusterList
	if err := r.Client.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing clusters: %w", err)
	}
	for i := range clusters.Items {
		c := &clusters.Items[i]
		if c.Spec.Provision != nil && c.Status.HomeScheduler == "" {
			p.unmade = append(p.unmade, c)
			continue
		}
		p.clusters = append(p.clusters, c)
		p.inputs = append(p.inputs, inputOf(c))
		if h := c.Status.HomeScheduler; h != "" && p.schedulers[h] == nil {
			p.schedulers[h] = &binding.Scheduler{Name: h}
		}
	}
	r.sizes.weigh(p.clusters, p.inputs, p.schedulers)
	return p, nil
}

// inputOf returns a cluster without its size.
func inputOf(c *berthv1alpha1.Cluster) binding.BoundCluster {
	input := binding.BoundCluster{
		Name: c.Name, Pin: c.Spec.HomeScheduler, Leaving: c.DeletionTimestamp != nil, Record: recordOf(c),
	}
	if g := c.Spec.GeoLocation; g != nil {
		// Provinces and cities of different countries may have one name.
		input.Province, input.City = join(g.Country, g.Province), join(g.Country, g.Province, g.City)
	}
	if c.Spec.Region != nil {
		input.Region = c.Spec.Region.Region
	}
	return input
}

// join returns the name of a place within larger ones, empty if it has none itself.
func join(names ...string) string {
	if names[len(names)-1] == "" {
		return ""
	}
	return strings.Join(names, "/")
}

func (p *pass) add(s *berthv1alpha1.Scheduler) {
	known := &binding.Scheduler{
		Name: s.Name, Weight: int(s.Spec.Weight), Registered: true, Leaving: s.DeletionTimestamp != nil, Alive: state.IsAlive(s),
		Alone: !s.Status.Sharing, Drained: map[string]int64{},
	}
	for _, d := range s.Status.Drained {
		known.Drained[d.Cluster] = d.Revision
	}
	p.objects[s.Name], p.schedulers[s.Name] = s, known
}

func recordOf(c *berthv1alpha1.Cluster) binding.Record {
	r := binding.Record{Home: c.Status.HomeScheduler, Revision: c.Status.HomeRevision}
	if t := c.Status.HomeTransfer; t != nil {
		r.Moving, r.To = true, t.To
	}
	return r
}

// condition is the condition Bound of a cluster.
func (p *pass) condition(c *berthv1alpha1.Cluster, desired string, record binding.Record) metav1.Condition {
	condition := metav1.Condition{
		Type: berthv1alpha1.ClusterBound, Status: metav1.ConditionTrue, ObservedGeneration: c.Generation,
		Reason: berthv1alpha1.ReasonBound, Message: "scheduler " + record.Home + " places pods on the cluster",
	}
	owner := p.schedulers[record.Home]
	switch {
	case len(p.objects) == 0:
		condition.Status, condition.Reason = metav1.ConditionFalse, berthv1alpha1.ReasonNoScheduler
		condition.Message = "no Scheduler is registered: a berth-scheduler without a name places pods on all clusters"
	case record.Home == "" && desired != "":
		condition.Status, condition.Reason = metav1.ConditionFalse, berthv1alpha1.ReasonSchedulerNotSharing
		condition.Message = fmt.Sprintf("scheduler %s has not confirmed yet that it leaves clusters alone which are bound to nobody",
			p.schedulers.Alone(desired))
	case record.Home == "" || owner == nil || !owner.Alive:
		condition.Status, condition.Reason = metav1.ConditionFalse, berthv1alpha1.ReasonNoReadyScheduler
		condition.Message = "no Scheduler is ready: a berth-scheduler without a name places pods on the cluster, if one runs"
	case record.Moving:
		condition.Reason = berthv1alpha1.ReasonMoving
		condition.Message = fmt.Sprintf("scheduler %s is asked to give the cluster up", record.Home)
		if record.To != "" {
			condition.Message += " to scheduler " + record.To
		}
	case c.Spec.HomeScheduler != "" && c.Spec.HomeScheduler != desired:
		condition.Reason = berthv1alpha1.ReasonPinnedElsewhere
		condition.Message = fmt.Sprintf("scheduler %s, which spec.homeScheduler names, is not ready: scheduler %s has the cluster",
			c.Spec.HomeScheduler, record.Home)
	}
	return condition
}

// sortedNames returns the names of the schedulers in order.
func (p *pass) sortedNames() []string {
	names := make([]string, 0, len(p.objects))
	for name := range p.objects {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}
