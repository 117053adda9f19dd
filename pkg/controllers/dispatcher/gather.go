// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/pool"
)

// pass is one look at all pods that wait.
type pass struct {
	*Reconciler
	now time.Time
	// homes are the schedulers that can place pods, by name; order holds their names.
	homes map[string]*candidate
	order []string
	// commons is the scheduler that looks after what belongs to no cluster, empty for none.
	commons string
	// topology tells the nodes of clusters, and homeOf the scheduler of a cluster.
	topology *topology.Snapshot
	homeOf   map[string]string
	// waiting are the pods without a node, by namespace.
	waiting map[string][]*corev1.Pod
	groups  map[string]string
	// policies are those of the namespaces of the waiting pods.
	policies map[string]policy.Set
	known    map[types.UID]*wait
	next     map[types.UID]*wait
	changes  []change
	reaches  reaches
	// pools are those of ClusterResources, by the name of these, and left is what is left of each.
	pools map[string]*pool.Resource
	left  map[string][]int64
}

// candidate is a scheduler with what it has to do.
type candidate struct {
	object *berthv1alpha1.Scheduler
	nodes  int
	load   int
}

// gather reads what there is; nil if no pod waits or no scheduler could take one.
func (r *Reconciler) gather(ctx context.Context, schedulers []berthv1alpha1.Scheduler) (*pass, error) {
	p := &pass{
		Reconciler: r, now: r.Clock.Now(), homes: map[string]*candidate{}, homeOf: map[string]string{},
		waiting: map[string][]*corev1.Pod{}, groups: map[string]string{}, policies: map[string]policy.Set{}, next: map[types.UID]*wait{},
	}
	r.mu.Lock()
	p.known = r.waits
	r.mu.Unlock()
	for i := range schedulers {
		s := &schedulers[i]
		if !takes(s) {
			continue
		}
		p.homes[s.Name] = &candidate{object: s}
		if s.Status.Commons != nil {
			p.commons = s.Name
		}
	}
	p.order = slices.Sorted(maps.Keys(p.homes))
	if len(p.homes) == 0 {
		return nil, nil
	}
	if err := p.listPods(ctx); err != nil {
		return nil, err
	}
	if len(p.waiting) == 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		clear(r.waits)
		return nil, nil
	}
	r.Topology.Invalidate()
	snapshot, err := r.Topology.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	p.place(snapshot)
	if err := p.listPools(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *pass) listPods(ctx context.Context) error {
	var pods corev1.PodList
	if err := p.Client.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !workload.Pending(pod) || !slices.Contains(p.SchedulerNames, pod.Spec.SchedulerName) {
			continue
		}
		p.waiting[pod.Namespace] = append(p.waiting[pod.Namespace], pod)
		if h := p.homes[p.homeNow(pod)]; h != nil {
			h.load++
		}
	}
	for _, pods := range p.waiting {
		slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	}
	return nil
}

// place finds the home of each cluster. A cluster on its way counts for the scheduler that gets it: the old one places nothing
// there any more.
func (p *pass) place(snapshot *topology.Snapshot) {
	p.topology = snapshot
	for name, c := range snapshot.Clusters() {
		owner := c.Object.Status.HomeScheduler
		if t := c.Object.Status.HomeTransfer; t != nil {
			owner = t.To
		}
		if h := p.homes[owner]; h != nil {
			p.homeOf[name] = owner
			h.nodes += len(c.Nodes)
		}
	}
}

// homeOfNode returns the scheduler of a node, empty for none.
func (p *pass) homeOfNode(node string) string {
	_, cluster := p.topology.Place(node)
	if cluster == "" {
		return p.commons
	}
	return p.homeOf[cluster]
}
