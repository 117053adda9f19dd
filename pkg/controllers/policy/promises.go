// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/controllers/adviser"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/promise"
)

// promiser is who promises room to a workload.
func promiser(id workload.ID) string { return fmt.Sprint(controllerName, " ", id) }

// withOneMore adds the room that the replacement of a pod will take in a Cluster.
func withOneMore(promises []adviser.Promise, to *placement, cluster string, pod *corev1.Pod) []adviser.Promise {
	i := slices.IndexFunc(promises, func(known adviser.Promise) bool { return known.Cluster == cluster })
	if i < 0 {
		return append(promises, adviser.Promise{Owner: to.ID(), Cluster: cluster, Pod: modelpolicy.Replacement(pod), Copies: 1})
	}
	promises[i].Copies++
	return promises
}

// keepPromises forgets what is not needed any more: the replacements have come, the workload wants
// fewer, or nobody has made any for so long.
func (p *placement) keepPromises(in *inForce, now time.Time, life time.Duration) {
	note := p.note
	if len(note.promised) == 0 {
		note.making = promise.State{} // How the last promise ended says nothing of the next one.
		return
	}
	made, unmade := p.Unmade(int64(p.Replicas))
	note.making = note.making.Next(now, life, made, unmade)
	if !note.open || note.making.Over(now) {
		note.promised = nil
		return
	}
	kept := make([]adviser.Promise, 0, len(note.promised))
	for i, cluster := range in.clusters {
		for _, known := range note.promised {
			if cluster == nil || known.Cluster != cluster.Object.Name {
				continue
			}
			if known.Copies = min(known.Copies, int(p.Desired[i]-p.Current[i])); known.Copies > 0 {
				kept = append(kept, known)
			}
		}
	}
	note.promised = kept
}

// promisedHere reports whether something was promised to the workload.
func (p *placement) promisedHere(known *adviser.Promise) bool { return known.IsTo(p.ID()) }

// lack notes that a Cluster has room for so many more replicas, but for what its Scheduler was
// granted. Samples of different Clusters may say so of the same replicas.
func (p *placement) lack(cluster *topology.Cluster, sample *corev1.Pod, copies int) {
	if copies <= 0 {
		return
	}
	nodes := make([]string, len(cluster.Nodes))
	for i, node := range cluster.Nodes {
		nodes[i] = node.Name
	}
	lack := adviser.Lack{Scheduler: cluster.Home(), Nodes: nodes, Pod: sample, Copies: copies}
	i := slices.IndexFunc(p.note.lacks, func(known adviser.Lack) bool { return slices.Equal(known.Nodes, nodes) })
	switch {
	case i < 0:
		p.note.lacks = append(p.note.lacks, lack)
	case p.note.lacks[i].Copies < copies:
		p.note.lacks[i] = lack
	}
}

// publishPromises lets others know what was promised to a workload, if that is not what they were
// told last: nothing.
func (p *pass) publishPromises(id workload.ID, note *record) {
	if len(note.promised) > 0 || note.told {
		p.Adviser.Promise(promiser(id), slices.Clone(note.promised))
	}
	note.told = len(note.promised) > 0
}

// publish lets others know what the policies of the namespace have promised, and what they lack.
func (p *pass) publish() {
	var lacks []adviser.Lack
	open := map[workload.ID]bool{}
	for _, in := range p.policies {
		for _, placed := range in.placements {
			if in.Err != nil {
				continue
			}
			id := placed.ID()
			open[id] = true
			p.publishPromises(id, placed.note)
			lacks = append(lacks, placed.note.lacks...)
		}
	}
	for id, note := range p.before {
		if !open[id] && note.told {
			p.Adviser.Promise(promiser(id), nil)
			note.told = false
		}
	}
	p.Adviser.Lack(controllerName+" "+p.namespace, lacks)
}

// confine lets others know where the pods of the namespace that wait for a node may get one.
func (p *pass) confine(ctx context.Context) {
	shortages := modelpolicy.Shortages{}
	for _, in := range p.policies {
		admits := func(cluster string, pod *corev1.Pod) bool {
			suits, err := p.suits(ctx, in, cluster, pod)
			return suits || err != nil // a unit too many is kept rather than one too few
		}
		for _, placed := range in.placements {
			shortages.Note(in.Policy, placed.Observed, &placed.Shares, admits)
		}
	}
	for _, o := range p.astray {
		shortages.Refuse(o)
	}
	p.Adviser.Confine(p.namespace, shortages)
}
