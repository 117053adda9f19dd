// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/model/demand"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/dispatch"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/simulator"
)

// listPools reads the pools of ClusterResources that can be used, by the name of the
// ClusterResource.
func (r *Reconciler) listPools(ctx context.Context) (map[string]*pool.Resource, error) {
	var list berthv1alpha1.ClusterResourceList
	err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy)
	if apimeta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing cluster resources: %w", err)
	}
	pools := make(map[string]*pool.Resource, len(list.Items))
	for usable := range pool.Usable(list.Items) {
		pools[usable.Name()] = usable
	}
	return pools, nil
}

// draws returns a function that reports whether a node is in a pool of everything that the pod asks
// for; nil if the pod asks for nothing.
func (p *pass) draws(pod *corev1.Pod) func(*corev1.Node) bool {
	if !demand.Asks(pod) {
		return nil
	}
	requests, err := demand.Of(pod)
	if err != nil {
		return nil // its home tells the pod
	}
	return func(node *corev1.Node) bool {
		for _, request := range requests {
			if known := p.pools[request.Resource]; known != nil && len(known.Select(node.Labels)) == 0 {
				return false
			}
		}
		return true
	}
}

// takers returns the nodes that take a pod at this moment, as the plugins of the scheduler say:
// those that were promised to it, too. The policy of the pod is left out: its constraints are known
// otherwise.
func (r *Reconciler) takers(ctx context.Context) func(*corev1.Pod) ([]string, error) {
	return func(pod *corev1.Pod) (found []string, err error) {
		meant := func(promised *adviser.Promise) bool { return promised.Fits(pod) }
		err = r.Adviser.Ask(ctx, meant, func(snapshot *simulator.Snapshot) error {
			found, err = snapshot.Takers(ctx, modelpolicy.Replacement(pod))
			return err
		})
		return found, err
	}
}

// like are pods that find the same nodes: those of a revision whose pods have no numbers.
type like struct {
	owner           types.UID
	hash, component string
}

func likeOf(pod *corev1.Pod) like {
	revision, owned := workload.RevisionOf(pod)
	if _, numbered := workload.Ordinal(pod, 0); !owned || numbered {
		return like{owner: pod.UID}
	}
	return like{revision.Owner, revision.Hash, revision.Component}
}

// mayAsk reports whether the pass can find out who has room for a pod whose home fails: a bounded
// number of questions keeps passes short, and the others are asked in the next ones.
func (p *pass) mayAsk(pod *corev1.Pod) bool {
	if p.asksFor(likeOf(pod)) {
		return true
	}
	p.postponed = append(p.postponed, pod.UID)
	return false
}

// asksFor reports whether a question is within the bound of a pass, or has its answer already.
func (p *pass) asksFor(key like) bool {
	_, known := p.rooms[key]
	return known || p.turns.Has(key) || len(p.rooms)+p.turns.Len() < mostQuestions
}

// takeTurns keeps questions for the pods that the last pass has put off asking for, the longest
// unanswered first: those that come before them in the order of a pass may fail for ever.
func (p *pass) takeTurns(postponed []types.UID, waits map[types.UID]dispatch.Wait) {
	slices.SortStableFunc(postponed, func(a, b types.UID) int { return waits[a].Unanswered().Compare(waits[b].Unanswered()) })
	for _, uid := range postponed {
		if pod := p.pods[uid]; pod != nil && p.turns.Len() < mostQuestions {
			p.turns.Insert(likeOf(pod))
		}
	}
}

// roomOf returns the nodes that take the pod at this moment and lie in clusters that its
// constraints admit.
func (p *pass) roomOf(pod *corev1.Pod) []string {
	key := likeOf(pod)
	if known, found := p.rooms[key]; found {
		return known
	}
	p.turns.Delete(key)
	nodes, err := p.takers(pod)
	if err != nil && p.err == nil {
		p.err = err // another home may do as well
	}
	reach := p.reachOf(pod)
	nodes = slices.DeleteFunc(nodes, func(node string) bool {
		_, cluster := p.topology.Place(node)
		return !reach.admits(cluster)
	})
	p.rooms[key] = nodes
	return nodes
}

// roomy returns the homes that have a node which takes the pod at this moment. It is nil for pods
// of which that is not asked: they ask for nothing that is scarce, and no home has tried them in
// vain.
func (p *pass) roomy(pod *corev1.Pod) sets.Set[string] {
	if !demand.Asks(pod) && !workload.Unschedulable(pod) {
		return nil
	}
	homes := sets.Set[string]{}
	for _, node := range p.roomOf(pod) {
		homes.Insert(p.homeOfNode(node))
	}
	return homes.Delete("")
}

// roomAt reports which clusters of a policy have a node that takes the pods of a revision. It is
// nil unless that matters to one of them.
func (p *pass) roomAt(order *apportion.Order, waiting []*dispatch.Pod) []bool {
	i := slices.IndexFunc(waiting, func(w *dispatch.Pod) bool { return w.Seat < 0 && p.round.Fails(w) && p.mayAsk(p.pods[w.UID]) })
	if i < 0 {
		return nil
	}
	room := make([]bool, order.Len())
	for _, node := range p.roomOf(p.pods[waiting[i].UID]) {
		_, cluster := p.topology.Place(node)
		if at, named := order.Index(cluster); named {
			room[at] = true
		}
	}
	return room
}
