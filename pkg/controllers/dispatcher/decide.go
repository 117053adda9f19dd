// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/placement/dispatch"
)

// podGroupLabel names the gang of a pod. A gang has one home, because its members wait for each
// other there.
const podGroupLabel = "scheduling.x-k8s.io/pod-group"

// pass decides on all pods that wait. It reads nothing but its input.
type pass struct {
	*input
	round   *dispatch.Round
	pods    map[types.UID]*corev1.Pod
	reaches reaches
	// rooms are the nodes that have room for pods, and err the first failure to find out.
	rooms map[like][]string
	err   error
	// turns are those whose turn it is to be asked for, and postponed are the pods that the bound on
	// questions keeps from it.
	turns     sets.Set[like]
	postponed []types.UID
}

// newPass returns a pass that has decided nothing yet. What the pass before remembers of pods is in
// waits, and which it has put off asking for in postponed.
func newPass(in *input, waits map[types.UID]dispatch.Wait, postponed []types.UID) *pass {
	p := &pass{
		input: in, round: dispatch.NewRound(in.now, in.state, in.schedulers, waits), pods: map[types.UID]*corev1.Pod{},
		rooms: map[like][]string{}, turns: sets.Set[like]{},
	}
	for i := range in.namespaces {
		for _, pod := range in.namespaces[i].waiting {
			p.pods[pod.UID] = pod
			p.round.Count(podOf(pod))
		}
	}
	p.takeTurns(postponed, waits)
	return p
}

// decide finds a home for each pod that waits, and returns the homes that change.
func (p *pass) decide() []change {
	var changes []change
	for i := range p.namespaces {
		n := &p.namespaces[i]
		for _, rev := range p.revisions(n) {
			p.decideRevision(rev)
		}
		for _, pod := range n.waiting {
			waiting := podOf(pod)
			if !p.round.Decided(waiting) {
				p.decidePod(waiting, nil)
			}
			if to, moved := p.round.Moved(waiting); moved {
				changes = append(changes, change{pod: pod, home: to})
			}
		}
	}
	return changes
}

// decidePod finds a home for a pod without a seat. Only the given homes count, nil for all.
func (p *pass) decidePod(waiting *dispatch.Pod, only sets.Set[string]) {
	if p.round.Join(waiting) {
		return
	}
	pod := p.pods[waiting.UID]
	eligible := p.round.Eligible(p.reached(pod), only)
	var roomy sets.Set[string]
	if p.round.Fails(waiting) && p.mayAsk(pod) {
		roomy = p.roomy(pod)
	}
	if !p.round.Stay(waiting, eligible, roomy) {
		if roomy == nil && p.asksFor(likeOf(pod)) {
			roomy = p.roomy(pod)
		}
		p.round.Move(waiting, eligible, roomy, wishOf(pod))
	}
}

// podOf returns what the decisions depend on of a pod. Its seat is not known.
func podOf(pod *corev1.Pod) *dispatch.Pod {
	waiting := &dispatch.Pod{
		UID: pod.UID, Label: pod.Labels[berthv1alpha1.HomeSchedulerLabel], Unschedulable: workload.Unschedulable(pod), Seat: admit.NoSeat,
	}
	if group := pod.Labels[podGroupLabel]; group != "" {
		waiting.Gang = pod.Namespace + "/" + group
	}
	return waiting
}
