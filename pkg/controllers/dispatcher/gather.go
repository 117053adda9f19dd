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
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/dispatch"
	"berth.dev/berth/pkg/placement/grouping"
	"berth.dev/berth/pkg/placement/policymatch"
	"berth.dev/berth/pkg/placement/pool"
)

// input is what the decisions of a pass depend on.
type input struct {
	now time.Time
	// state tells whether something has changed by which a pod may find a node.
	state          uint64
	schedulerNames []string
	// schedulers can place pods; commons is the one that looks after nodes in no cluster, empty for
	// none.
	schedulers []dispatch.Home
	commons    string
	// topology knows the nodes of clusters, and homeOf the scheduler of a cluster.
	topology *topology.Snapshot
	homeOf   map[string]string
	// namespaces are those with pods that wait, by name.
	namespaces []namespace
	// pools are those of ClusterResources, by the name of these.
	pools map[string]*pool.Resource
	// takers returns the nodes that take a pod at this moment.
	takers func(*corev1.Pod) ([]string, error)
}

// namespace is what the homes of its pods depend on.
type namespace struct {
	name string
	// waiting are the pods without a node, by name.
	waiting []*corev1.Pod
	// policies, found by index, and workloads are empty if there is no policy.
	policies  policy.Set
	index     *policymatch.Index
	workloads []*workload.Observed
}

// gather reads what there is; nil if no pod waits or no scheduler could take one.
func (r *Reconciler) gather(ctx context.Context, schedulers []berthv1alpha1.Scheduler) (*input, error) {
	in := &input{
		now: r.Clock.Now(), state: r.Adviser.Version() + r.changes.Load(), schedulerNames: r.SchedulerNames, homeOf: map[string]string{},
	}
	in.addSchedulers(schedulers)
	if len(in.schedulers) == 0 {
		return nil, nil
	}
	waiting, err := r.listWaiting(ctx)
	if err != nil {
		return nil, err
	}
	if len(waiting) == 0 {
		r.waits = nil
		return nil, nil
	}
	r.Topology.Invalidate()
	if in.topology, err = r.Topology.Snapshot(ctx); err != nil {
		return nil, err
	}
	in.addClusters()
	for _, name := range slices.Sorted(maps.Keys(waiting)) {
		n, err := r.readNamespace(ctx, name, in.topology.Sites())
		if err != nil {
			return nil, err
		}
		n.waiting = waiting[name]
		in.namespaces = append(in.namespaces, n)
	}
	in.takers = r.takers(ctx)
	in.pools, err = r.listPools(ctx)
	return in, err
}

// addSchedulers adds the schedulers that can place pods.
func (in *input) addSchedulers(schedulers []berthv1alpha1.Scheduler) {
	for i := range schedulers {
		s := &schedulers[i]
		if !takes(s) {
			continue
		}
		commons := s.Status.Commons != nil
		in.schedulers = append(in.schedulers, dispatch.Home{Name: s.Name, Union: &s.Status.ClusterUnion, Commons: commons})
		if commons {
			in.commons = s.Name
		}
	}
}

// addClusters finds the scheduler of each cluster.
func (in *input) addClusters() {
	for name, c := range in.topology.Clusters() {
		owner := c.Home()
		i := slices.IndexFunc(in.schedulers, func(s dispatch.Home) bool { return s.Name == owner })
		if i >= 0 {
			in.homeOf[name] = owner
			if !c.Object.Spec.Unschedulable {
				in.schedulers[i].Nodes += len(c.Nodes)
			}
		}
	}
}

// listWaiting returns the pods that wait for one of Berth's schedulers, by namespace and then by
// name. Those with a scheduling gate do not wait yet: nobody tries them.
func (r *Reconciler) listWaiting(ctx context.Context) (map[string][]*corev1.Pod, error) {
	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	waiting := map[string][]*corev1.Pod{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if workload.Tried(pod) && slices.Contains(r.SchedulerNames, pod.Spec.SchedulerName) {
			waiting[pod.Namespace] = append(waiting[pod.Namespace], pod)
		}
	}
	for _, pods := range waiting {
		slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	}
	return waiting, nil
}

// readNamespace reads the policies of a namespace, and if there are any its workloads.
func (r *Reconciler) readNamespace(ctx context.Context, name string, sites *grouping.Sites) (namespace, error) {
	n := namespace{name: name}
	var list berthv1alpha1.PropagationPolicyList
	if err := r.Client.List(ctx, &list, client.InNamespace(name), client.UnsafeDisableDeepCopy); err != nil {
		return n, fmt.Errorf("listing the policies of namespace %s: %w", name, err)
	}
	if len(list.Items) == 0 {
		return n, nil
	}
	objects, err := state.ListWorkloads(ctx, r.Client, name)
	if err != nil {
		return n, err
	}
	if r.Owners != nil {
		objects.Further = r.Owners
	}
	policies := make([]*berthv1alpha1.PropagationPolicy, len(list.Items))
	for i := range list.Items {
		policies[i] = &list.Items[i]
	}
	n.policies, n.index = policy.NewSet(policies, sites, r.compiled[name]), policymatch.NewIndex(policies)
	n.workloads = workload.Observe(objects)
	return n, nil
}
