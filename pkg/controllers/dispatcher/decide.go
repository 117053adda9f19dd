// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/placement/dispatch"
	"berth.dev/berth/pkg/placement/policymatch"
)

const (
	// patience is how long a pod stays with a home that has found no node for it; it doubles with each home tried in vain.
	patience = 10 * time.Second
	// longestPatience bounds that.
	longestPatience = 5 * time.Minute
	// settles is how long the cache may take to show what was written.
	settles = 2 * time.Second
)

// podGroupLabel names the gang of a pod. A gang has one home, because its members wait for each other there.
const podGroupLabel = "scheduling.x-k8s.io/pod-group"

// decide finds a home for each pod that waits.
func (p *pass) decide(ctx context.Context) error {
	for _, namespace := range slices.Sorted(maps.Keys(p.waiting)) {
		if err := p.decideNamespace(ctx, namespace); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) decideNamespace(ctx context.Context, namespace string) error {
	var list berthv1alpha1.PropagationPolicyList
	if err := p.Client.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing the policies of namespace %s: %w", namespace, err)
	}
	seated := map[types.UID]bool{}
	if len(list.Items) > 0 {
		objects, err := state.ListWorkloads(ctx, p.Client, namespace)
		if err != nil {
			return err
		}
		policies := make([]*berthv1alpha1.PropagationPolicy, len(list.Items))
		for i := range list.Items {
			policies[i] = &list.Items[i]
		}
		index := policymatch.NewIndex(policies)
		p.policies[namespace] = policy.NewSet(policies, p.compiled[namespace])
		for _, o := range workload.Observe(objects) {
			p.decideWorkload(index, p.policies[namespace], o, seated)
		}
	}
	for _, pod := range p.waiting[namespace] {
		if !seated[pod.UID] {
			p.decidePod(pod, nil)
		}
	}
	return nil
}

// decidePod chooses a home for a pod that no policy ties to seats. Only the given homes count, nil for all.
func (p *pass) decidePod(pod *corev1.Pod, only map[string]bool) {
	present := p.homeNow(pod)
	group := pod.Labels[podGroupLabel]
	if group != "" {
		group = pod.Namespace + "/" + group
		if h := p.groups[group]; h != "" {
			p.assign(pod, h)
			return
		}
	}
	allowed := p.allowed(pod, only)
	if allowed[present] && (len(allowed) == 1 || !p.inVain(pod)) {
		p.assign(pod, present)
	} else {
		if len(allowed) > 1 && p.inVain(pod) {
			delete(allowed, present)
		}
		p.assign(pod, p.choose(pod, p.withRoom(pod, allowed)))
	}
	if group != "" && p.next[pod.UID] != nil {
		p.groups[group] = p.next[pod.UID].home
	}
}

// allowed returns the homes that have a node which the selectors of the pod admit, and pools of what it asks for; all homes if there is none, because the pod is
// to be told so by somebody.
func (p *pass) allowed(pod *corev1.Pod, only map[string]bool) map[string]bool {
	allowed := map[string]bool{}
	if draws := p.draws(pod, false); draws != nil || p.selective(pod) {
		p.admitted(pod, draws, allowed)
	} else {
		for _, name := range p.order {
			allowed[name] = p.homes[name].nodes > 0 || name == p.commons
		}
	}
	maps.DeleteFunc(allowed, func(name string, admitted bool) bool { return !admitted || only != nil && !only[name] })
	if len(allowed) == 0 {
		for _, name := range p.order {
			allowed[name] = true
		}
	}
	return allowed
}

// admitted fills in the homes of the nodes that the selectors of the pod admit and, unless draws is nil, that draws does.
func (p *pass) admitted(pod *corev1.Pod, draws func(*corev1.Node) bool, allowed map[string]bool) {
	admits := p.admission(pod)
	for _, node := range p.topology.Nodes() {
		if h := p.homeOfNode(node.Name); h != "" && !allowed[h] && admits(node) && (draws == nil || draws(node)) {
			allowed[h] = true
		}
	}
}

func (p *pass) choose(pod *corev1.Pod, allowed map[string]bool) string {
	wish := wishOf(pod)
	candidates := make([]dispatch.Candidate, 0, len(allowed))
	for _, name := range p.order {
		if !allowed[name] {
			continue
		}
		h := p.homes[name]
		candidates = append(candidates, dispatch.Candidate{
			Name: name, Grants: wish.Grants(&h.object.Status.ClusterUnion), Load: h.load, Size: h.nodes,
		})
	}
	if best := dispatch.Choose(candidates); best >= 0 {
		return candidates[best].Name
	}
	return p.order[0]
}

// homeNow returns the home of a pod. What this controller wrote a moment ago counts, although the cache may not show it yet.
func (p *pass) homeNow(pod *corev1.Pod) string {
	if w := p.known[pod.UID]; w != nil && p.now.Sub(w.since) < settles {
		return w.home
	}
	return pod.Labels[berthv1alpha1.HomeSchedulerLabel]
}

// assign gives the pod a home.
func (p *pass) assign(pod *corev1.Pod, to string) {
	present := p.homeNow(pod)
	w := p.known[pod.UID]
	if w == nil || w.home != present {
		w = &wait{home: present, since: p.now}
	}
	if to != present {
		p.changes = append(p.changes, change{pod: pod, home: to})
		if h := p.homes[present]; h != nil {
			h.load--
		}
		p.homes[to].load++
		w = &wait{home: to, since: p.now, tries: w.tries + 1}
	}
	p.next[pod.UID] = w
}

// inVain says whether the home of a pod has found no node for it for too long.
func (p *pass) inVain(pod *corev1.Pod) bool {
	if !workload.Unschedulable(pod) {
		return false
	}
	w := p.known[pod.UID]
	if w == nil || w.home != p.homeNow(pod) {
		return false
	}
	return p.now.Sub(w.since) >= min(longestPatience, patience<<min(w.tries, 8))
}

// remember keeps what is known of pods that wait, and returns how many do.
func (p *pass) remember() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waits, p.compiled = p.next, p.policies
	return len(p.next)
}
